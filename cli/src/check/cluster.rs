//! Reads the installed CRDs and roles of an operator with kubectl, and finds stored objects that the CRDs of a new release would refuse.

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};

use super::release::{Located, Release};
use crate::{
    error::{Error, Result, ResultExt as _},
    generator::sandbox_check::{LabelledObject, check_objects},
    interrupt,
};

/// The word for `--against` that means the cluster of the kubeconfig.
pub(crate) const CLUSTER: &str = "cluster";

/// The kinds that a comparison reads, each with the resource name that kubectl gets.
const COMPARED: [(&str, &str); 3] = [
    ("CustomResourceDefinition", "customresourcedefinitions.apiextensions.k8s.io"),
    ("ClusterRole", "clusterroles.rbac.authorization.k8s.io"),
    ("Role", "roles.rbac.authorization.k8s.io"),
];

/// The cluster of the kubeconfig, read with kubectl.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kubectl {
    /// The timeout of each request to the API server, in seconds.
    pub(crate) request_timeout: u64,
}

impl Kubectl {
    /// Reads the CRDs and roles of `release` from the cluster, and returns the installed ones as a release. Fails if none is installed.
    pub(crate) fn installed(self, release: &Release) -> Result<Release> {
        let mut installed = Vec::new();
        for (kind, resource) in COMPARED {
            for located in release.of_kind(kind) {
                let metadata = &located.object["metadata"];
                let name = metadata["name"].as_str().unwrap_or_default();
                let mut arguments = vec!["get", resource, name, "--ignore-not-found"];
                if let Some(namespace) = metadata["namespace"].as_str() {
                    arguments.extend(["--namespace", namespace]);
                }
                if let Some(object) = self.run(&arguments)? {
                    installed.push(Located { file: PathBuf::from(CLUSTER), object });
                }
            }
        }
        if installed.is_empty() {
            return Err(Error::failed("nothing of this project is installed in the cluster of the kubeconfig")
                .hint("choose the cluster with `kubectl config use-context`, or name a release with `--against`"));
        }
        Ok(Release::from_objects(installed))
    }

    /// Returns one line for each field of a stored object that the CRDs of `release` would refuse. To find them, creates these CRDs and
    /// copies of the stored objects in a sandbox, an API server inside this process. Fails if the CRDs of `installed` and `release` with
    /// one name have no served version in common.
    pub(crate) fn invalid_objects(self, installed: &Release, release: &Release) -> Result<Vec<String>> {
        const KIND: &str = "CustomResourceDefinition";
        let (mut definitions, mut stored) = (Vec::new(), Vec::new());
        for before in installed.of_kind(KIND) {
            let Some(after) = release.of_kind(KIND).find(|after| after.full_name() == before.full_name()) else {
                continue;
            };
            let mut definition = after.object.clone();
            // No conversion webhook runs beside the sandbox.
            if let Some(spec) = definition["spec"].as_object_mut() {
                spec.insert("conversion".to_owned(), json!({"strategy": "None"}));
            }
            let Some(version) = common_version(&before.object, &after.object) else {
                let problem = format!("the objects of `{}` can't be checked", before.full_name());
                return Err(Error::failed(problem)
                    .because("no version of before is still served")
                    .hint("keep one version in the release, and remove it in the next one"));
            };
            definitions.push(LabelledObject { label: before.full_name(), object: definition });
            stored.extend(self.list_objects(&before.object, &version)?);
        }
        let report = check_objects(&definitions, &stored, "Ignore")?;
        Ok(report.refusals)
    }

    /// Lists all objects of the kind that the CRD `definition` defines, in one version. Of their metadata it returns only the name, the
    /// namespace, labels and annotations, so that a create request accepts them.
    fn list_objects(self, definition: &Value, version: &str) -> Result<Vec<LabelledObject>> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let spec = &definition["spec"];
        let (kind, resource) = (
            text(&spec["names"]["kind"]),
            format!("{}.{version}.{}", text(&spec["names"]["plural"]), text(&spec["group"])),
        );
        let list = self.run(&["get", &resource, "--all-namespaces"])?.unwrap_or_default();
        let labelled = |mut object: Value| {
            let (namespace, name) = (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
            let metadata: serde_json::Map<_, _> = ["name", "namespace", "labels", "annotations"]
                .into_iter()
                .filter_map(|field| Some((field.to_owned(), object["metadata"].get(field)?.clone())))
                .collect();
            object["metadata"] = Value::Object(metadata);
            let full_name = if namespace.is_empty() { name } else { format!("{namespace}/{name}") };
            LabelledObject { label: format!("{kind} {full_name}"), object }
        };
        Ok(list["items"].as_array().cloned().unwrap_or_default().into_iter().map(labelled).collect())
    }

    /// Runs kubectl, and returns the JSON that it prints; `None` if it prints nothing. A signal that ends this process ends kubectl, too.
    fn run(self, arguments: &[&str]) -> Result<Option<Value>> {
        let failed = || format!("failed to run `kubectl {}`", arguments.join(" "));
        let timeout = format!("{}s", self.request_timeout);
        let mut command = Command::new("kubectl");
        command.args(arguments).args(["--output", "json", "--request-timeout", &timeout]);
        let output = interrupt::output(&mut command).map_err(|error| {
            Error::failed(failed()).because(error).hint("install kubectl, or name a release with `--against`")
        })?;
        if !output.status.success() {
            let cause = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Error::failed(failed())
                .because(cause)
                .hint("check the context of the kubeconfig and your rights"));
        }
        if output.stdout.trim_ascii().is_empty() {
            return Ok(None);
        }
        serde_json::from_slice(&output.stdout).map(Some).or_failed(failed)
    }
}

/// Returns the version in which to read the stored objects: the storage version of the CRD `before` if both CRDs serve it, else the first
/// version that both serve; `None` if they have no served version in common.
fn common_version(before: &Value, after: &Value) -> Option<String> {
    // The names of the served versions, each with whether it is the storage version.
    let served = |definition: &Value| -> Vec<(String, bool)> {
        let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
        let served = versions.filter(|version| version["served"] == true);
        served.filter_map(|version| Some((version["name"].as_str()?.to_owned(), version["storage"] == true))).collect()
    };
    let (before, after) = (served(before), served(after));
    let is_served_after = |name: &str| after.iter().any(|(other, _)| other == name);
    let common = || before.iter().filter(|(name, _)| is_served_after(name));
    common().find(|(_, is_stored)| *is_stored).or_else(|| common().next()).map(|(name, _)| name.clone())
}
