//! Who may do what, who did, and what admission makes of it.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Error, ResourceExt as _, api::ListParams};
use libtest_mimic::Trial;
use opgen_tests::{Plane, case_served, kubectl, wait};
use serde_json::json;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("role_based_access_is_enforced_and_audited", role_based_access_is_enforced_and_audited),
        case_served(
            "the_audit_log_tells_a_creating_apply_from_a_change",
            the_audit_log_tells_a_creating_apply_from_a_change,
        ),
        case_served(
            "an_admission_policy_adds_a_finalizer_at_creation",
            an_admission_policy_adds_a_finalizer_at_creation,
        ),
        case_served("kubectl_gets_on_with_the_server", kubectl_gets_on_with_the_server),
    ]
}

async fn role_based_access_is_enforced_and_audited(plane: Arc<Plane>) {
    let namespace = plane.namespace("rbac").await;
    let account = plane.service_account(&namespace, "default").await;
    let config_maps = Api::<ConfigMap>::namespaced(account.client(), &namespace);
    let before = plane.audit().await;

    let refusal = config_maps.list(&ListParams::default()).await.expect_err("nobody granted this");
    assert!(matches!(&refusal, Error::Api(status) if status.code == 403), "{refusal}");
    kubectl::succeed(&plane, &["create", "role", "reader", "-n", &namespace, "--verb=list", "--resource=configmaps"]);
    let subject = format!("--serviceaccount={namespace}:default");
    kubectl::succeed(&plane, &["create", "rolebinding", "reader", "-n", &namespace, "--role=reader", &subject]);
    wait::until("the role is in force", wait::PATIENCE, async || {
        config_maps.list(&ListParams::default()).await.map_err(|error| error.to_string())
    })
    .await;

    let mine = plane.audit().await.since(&before).by_account(&namespace, "default");
    assert!(!mine.denied().is_empty(), "{mine}");
    assert_eq!(mine.verb("list").resource("configmaps").namespace(&namespace).code(200).len(), 1, "{mine}");
    assert!(mine.writes().is_empty(), "{mine}");
    assert!(mine.iter().all(|entry| entry.user == account.user()), "{mine}");
}

async fn the_audit_log_tells_a_creating_apply_from_a_change(plane: Arc<Plane>) {
    let namespace = plane.namespace("audit").await;
    let before = plane.audit().await;
    for value in ["a", "b"] {
        let metadata = json!({"name": "audited", "namespace": namespace});
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": value}});
        kubectl::apply(&plane, &object.to_string());
    }
    let applied = plane.audit().await.since(&before).verb("patch").namespace(&namespace).name("audited");
    assert_eq!(applied.iter().map(|entry| entry.code).collect::<Vec<_>>(), [201, 200], "{applied}");
    assert!(applied.iter().all(|entry| entry.user_agent.starts_with("kubectl/")), "{applied:?}");
}

/// The policy of DESIGN §4.3 on a built-in kind, so it needs nothing but the server.
async fn an_admission_policy_adds_a_finalizer_at_creation(plane: Arc<Plane>) {
    let namespace = plane.namespace("policy").await;
    let version = "admissionregistration.k8s.io/v1";
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]});
    let expression = "Object{metadata: Object.metadata{finalizers: ['demo.example.com/held']}}";
    let policy = json!({"apiVersion": version, "kind": "MutatingAdmissionPolicy", "metadata": {"name": namespace}, "spec": {
        "failurePolicy": "Ignore", "reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": [rule]},
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]}});
    let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": namespace}});
    let binding = json!({"apiVersion": version, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": namespace},
        "spec": {"policyName": namespace, "matchResources": {"namespaceSelector": selector}}});
    kubectl::apply(&plane, &policy.to_string());
    kubectl::apply(&plane, &binding.to_string());

    let config_maps = Api::<ConfigMap>::namespaced(plane.client(), &namespace);
    let mut attempt = 0;
    let made = wait::until("the policy is in force", wait::PATIENCE, async || {
        attempt += 1;
        let metadata = json!({"name": format!("attempt-{attempt}"), "finalizers": ["demo.example.com/own"]});
        let object = serde_json::from_value(json!({"metadata": metadata})).expect("a ConfigMap");
        let made = config_maps.create(&Default::default(), &object).await.map_err(|error| error.to_string())?;
        if made.finalizers().len() > 1 { Ok(made) } else { Err(format!("{:?}", made.finalizers())) }
    })
    .await;
    assert_eq!(made.finalizers(), ["demo.example.com/own", "demo.example.com/held"]);
    let release = json!([{"op": "remove", "path": "/metadata/finalizers"}]).to_string();
    for attempt in 1..=attempt {
        let name = format!("attempt-{attempt}");
        kubectl::succeed(&plane, &["patch", "configmap", &name, "-n", &namespace, "--type=json", "-p", &release]);
    }
    kubectl::succeed(&plane, &["delete", "mutatingadmissionpolicy,mutatingadmissionpolicybinding", &namespace]);
}

async fn kubectl_gets_on_with_the_server(plane: Arc<Plane>) {
    let version = kubectl::succeed(&plane, &["version", "-o", "json"]);
    let version: serde_json::Value = serde_json::from_str(&version).expect("kubectl's JSON");
    assert_eq!(version["serverVersion"]["minor"], version["clientVersion"]["minor"], "{version}");
    let outsider = plane.service_account("default", "default").await;
    let refused = kubectl::run(&plane, &outsider, &["get", "secrets", "-A"]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("Forbidden"), "{refused:?}");
}
