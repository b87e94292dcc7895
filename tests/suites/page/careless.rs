//! A program that makes a Secret for a ConfigMap and forgets that it did, if it is stopped in between.

use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client, Resource as _, ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
    runtime::watcher,
};
use opgen::environment::Environment;
use opgen_testing::{Manifests, Program};
use serde_json::json;

/// What nobody may read on a page.
pub(crate) const CONTENT: &str = "correct horse battery staple";

const NAME: &str = "careless";
const NAMESPACE: &str = "careless";

pub(crate) struct Careless;

impl Program for Careless {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn namespace(&self) -> String {
        NAMESPACE.to_owned()
    }

    fn manifests(&self) -> Result<Manifests, String> {
        let rules = json!([{"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["*"]}]);
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME});
        let account = json!({"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE});
        let rbac = "rbac.authorization.k8s.io/v1";
        let install = [
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}),
            json!({"apiVersion": rbac, "kind": "ClusterRole", "metadata": {"name": NAME}, "rules": rules}),
            json!({"apiVersion": rbac, "kind": "ClusterRoleBinding", "metadata": {"name": NAME}, "roleRef": role,
                "subjects": [account]}),
        ];
        let sample = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "sample", "namespace": NAMESPACE, "labels": {"app": NAME}}});
        Ok(Manifests::new(install, [sample]))
    }

    fn longest_pause(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn run(&self, client: Client, _: Environment) -> BoxFuture<'static, Result<(), String>> {
        run(client).map(|result: kube::Result<()>| result.map_err(|error| error.to_string())).boxed()
    }
}

async fn run(client: Client) -> kube::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let secrets: Api<Secret> = Api::namespaced(client, NAMESPACE);
    let labelled = watcher::Config::default().labels(&format!("app={NAME}"));
    let mut events = watcher(maps.clone(), labelled).boxed();
    while let Some(event) = events.next().await {
        let Ok(watcher::Event::Apply(map) | watcher::Event::InitApply(map)) = event else { continue };
        if map.annotations().contains_key("made") || map.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let mut secret = Secret::default();
        secret.metadata.generate_name = Some("made-".to_owned());
        secret.metadata.owner_references = map.controller_owner_ref(&()).map(|owner| vec![owner]);
        secret.string_data = Some([("password".to_owned(), CONTENT.to_owned())].into());
        let made = secrets.create(&PostParams::default(), &secret).await?;
        let note = json!({"metadata": {"annotations": {"made": made.name_any()}}});
        maps.patch(&map.name_any(), &PatchParams::default(), &Patch::Merge(note)).await?;
    }
    Ok(())
}
