//! `HelmReleases`: simulates the command `helm`. It keeps the revisions of each release, but creates no objects.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use opgen::cd::helm::{HelmCall, HelmOutput, HelmProgram};
use serde_json::{Value, json};

/// The releases of all clusters, by kubeconfig, namespace and name. They outlive the processes of a program.
#[derive(Clone, Default)]
pub(super) struct HelmReleases(Arc<Mutex<BTreeMap<[String; 3], Vec<Value>>>>);

impl HelmReleases {
    /// Returns the simulated `helm` program for a process of an operator. All such programs share the releases.
    pub(super) fn program(&self) -> HelmProgram {
        let releases = self.clone();
        HelmProgram::simulated(move |call| releases.run(call))
    }

    /// Executes a command of Helm: `upgrade` adds a revision of the release, `uninstall` removes the release, and `history` and `status`
    /// return its last revision. Fails for any other command, and if there is no release to show.
    fn run(&self, call: &HelmCall<'_>) -> HelmOutput {
        let argument =
            |name: &str| call.arguments.iter().find_map(|argument| argument.strip_prefix(name)).unwrap_or_default();
        let [command, release, ..] = call.arguments else { return HelmOutput::failed("Error: no release\n") };
        let cluster = call.kubeconfig.unwrap_or_default().to_owned();
        let key = [cluster, argument("--namespace=").to_owned(), release.clone()];
        let mut releases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = releases.get(&key).and_then(|revisions| revisions.last()).cloned();
        match (command.as_str(), latest) {
            ("upgrade", _) => {
                let revisions = releases.entry(key).or_default();
                let number = revisions.len() + 1;
                revisions.push(json!({
                    "revision": number, "status": "deployed", "description": argument("--description="),
                }));
                HelmOutput::succeeded("")
            }
            ("uninstall", _) => {
                releases.remove(&key);
                HelmOutput::succeeded("")
            }
            (_, None) => HelmOutput::failed("Error: release: not found\n"),
            ("history", Some(latest)) => HelmOutput::succeeded(json!([latest]).to_string()),
            ("status", Some(latest)) => {
                let status = json!({"version": latest["revision"], "info": latest});
                HelmOutput::succeeded(status.to_string())
            }
            (other, Some(_)) => HelmOutput::failed(format!("Error: the simulation has no command {other}\n")),
        }
    }
}
