//! Tests of the migration on a sandbox.

use super::*;
use kube::api::{Api, DynamicObject};
use kube::core::{ApiResource, GroupVersionKind};
use opgen_sandbox::Sandbox;

const GROUP: &str = "demo.example.com";

/// Applies an object of a kind that is not namespaced.
async fn apply(sandbox: &Sandbox, kind: &str, name: &str, spec: Value) {
    let (group, version) = match kind {
        "CustomResourceDefinition" => ("apiextensions.k8s.io", "v1"),
        _ => ("admissionregistration.k8s.io", "v1"),
    };
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    let object = json!({
        "apiVersion": format!("{group}/{version}"), "kind": kind, "metadata": {"name": name}, "spec": spec,
    });
    let api = Api::<DynamicObject>::all_with(sandbox.client(), &resource);
    let parameters = kube::api::PatchParams::apply("test").force();
    api.patch(name, &parameters, &kube::api::Patch::Apply(object)).await.unwrap();
}

/// Installs the definition of gadgets, which are stored in this version.
async fn define(sandbox: &Sandbox, stored: &str) {
    let version = |name: &str| {
        json!({
            "name": name, "served": true, "storage": name == stored,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        })
    };
    let spec = json!({
        "group": GROUP, "scope": "Namespaced", "versions": [version("v1"), version("v1beta1")],
        "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"},
    });
    apply(sandbox, "CustomResourceDefinition", "gadgets.demo.example.com", spec).await;
}

/// Refuses each update of a gadget of this name; none for an empty name.
async fn refuse(sandbox: &Sandbox, name: &str) {
    let rule = json!({
        "apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["gadgets"],
    });
    let spec = json!({
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": format!("object.metadata.name != '{name}'"), "message": "refused"}],
    });
    apply(sandbox, "ValidatingAdmissionPolicy", "refuse", spec).await;
    let binding = json!({"policyName": "refuse", "validationActions": ["Deny"]});
    apply(sandbox, "ValidatingAdmissionPolicyBinding", "refuse", binding).await;
}

/// Creates gadgets in the old version.
async fn create(sandbox: &Sandbox, names: &[&str]) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(GROUP, "v1beta1", "Gadget");
    let resource = ApiResource::from_gvk_with_plural(&kind, "gadgets");
    let api = Api::<DynamicObject>::namespaced_with(sandbox.client(), "default", &resource);
    for name in names {
        api.create(&Default::default(), &DynamicObject::new(name, &resource)).await.unwrap();
    }
    api
}

/// Returns the migration of gadgets to `v1`.
fn migration(sandbox: &Sandbox) -> StorageMigration {
    let kind = Kind {
        group: GROUP.into(),
        version: "v1".into(),
        kind: "Gadget".into(),
        plural: "gadgets".into(),
        namespaced: true,
    };
    StorageMigration { client: Client::new(sandbox.client()), operator: "test".to_owned(), kind, stored: "v1" }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_after_a_failure_writes_only_the_objects_that_failed() {
    let sandbox = Sandbox::builder().start();
    define(&sandbox, "v1beta1").await;
    let api = create(&sandbox, &["a", "b", "c"]).await;
    define(&sandbox, "v1").await;
    refuse(&sandbox, "b").await;
    let migration = migration(&sandbox);
    let Progress::Failed(failures) = migration.attempt(None).await.unwrap() else { panic!("b is refused") };
    assert_eq!(failures.objects, [(Some("default".to_owned()), "b".to_owned())]);
    let version = async |name: &str| api.get(name).await.unwrap().metadata.resource_version;
    let written = version("a").await;
    refuse(&sandbox, "").await;
    assert_eq!(migration.attempt(Some(failures)).await.unwrap(), Progress::Done);
    assert_eq!(version("a").await, written, "it is stored in the new version already");
    assert_eq!(migration.definition().await.unwrap().unwrap().listed, ["v1"]);

    // Another release was installed for a while.
    define(&sandbox, "v1beta1").await;
    assert_eq!(migration.attempt(None).await.unwrap(), Progress::OtherDefinition);
    define(&sandbox, "v1").await;
    assert_eq!(migration.attempt(None).await.unwrap(), Progress::Done);
    assert_eq!(migration.definition().await.unwrap().unwrap().listed, ["v1"]);
}

#[tokio::test(start_paused = true)]
async fn a_changed_definition_makes_the_next_attempt_write_all_objects_again() {
    let sandbox = Sandbox::builder().start();
    define(&sandbox, "v1beta1").await;
    let api = create(&sandbox, &["a"]).await;
    define(&sandbox, "v1").await;
    let version = async || api.get("a").await.unwrap().metadata.resource_version;
    let before = version().await;
    let stale = Failures { generation: json!(0), objects: Vec::new() };
    assert_eq!(migration(&sandbox).attempt(Some(stale)).await.unwrap(), Progress::Done);
    assert_ne!(version().await, before, "it is written again");
}
