//! A cluster that lets nobody set an owner who may not delete the object.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen_tests::{Options, Plane, case_on};
use serde_json::json;
use webapp_api::WebApp;

use crate::{
    kinds::running::Running,
    operator::{example::WEBAPP, fleet::Fleet, owners::spec},
};

pub(crate) fn cases() -> Vec<Trial> {
    let flag = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement".to_owned();
    let options = Options { apiserver_flags: vec![flag], ..Options::default() };
    vec![case_on("node_enforced_permissions_on_owner_references_are_those_of_the_generated_role", options, converges)]
}

async fn converges(plane: Arc<Plane>) {
    let access = WEBAPP.install(&plane).await;
    let fleet = Fleet::new(&plane, 3).await;
    let running = Running::start(webapp_controller::operator(), &access, None);
    fleet.create(&fleet.names).await;
    fleet.available(fleet.names.len()).await;
    // The owners that a stranger takes away are set again.
    let disowned = json!({"metadata": {"ownerReferences": null}});
    fleet.patch::<ConfigMap>(&fleet.names, &disowned).await;
    // One is in every namespace, and nobody's.
    let is_owned =
        |config: &ConfigMap| config.metadata.owner_references.is_some() || config.name_any() == "kube-root-ca.crt";
    fleet.configs.until("have their owner", fleet.names.len() + 1, is_owned).await;
    fleet.patch::<WebApp>(&fleet.names, &spec(json!({"greeting": "good morning"}))).await;
    fleet.greets(fleet.names.len(), "good morning").await;
    fleet.delete::<WebApp>(&fleet.names).await;
    fleet.gone().await;
    running.stop().await;
    let asked = plane.audit().await.by_account("webapp-system", "webapp");
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    assert!(asked.verb("patch").resource("configmaps").len() > fleet.names.len());
}
