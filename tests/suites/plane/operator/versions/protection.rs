//! The annotation of conversions, which a policy protects.

use opgen_tests::wait::{self, PATIENCE};
use serde_json::{Value, json};

use super::{NAMESPACE, Site, apply_quietly, send, url};

/// Shows that a user who may not update the status can write objects with the annotation of conversions, but can't change it.
pub(super) async fn the_annotation_is_protected(site: &Site) {
    let rule = |resources: &[&str]| json!({"apiGroups": ["berth.example.com"], "resources": resources, "verbs": ["get", "update"]});
    let grant = async |resources: &[&str]| {
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "user", "namespace": NAMESPACE}, "rules": [rule(resources)],
        });
        apply_quietly(&site.plane, &role.to_string()).await;
    };
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "user", "namespace": NAMESPACE},
    });
    apply_quietly(&site.plane, &account.to_string()).await;
    grant(&["berths"]).await;
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "user", "namespace": NAMESPACE},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "user"},
        "subjects": [{"kind": "ServiceAccount", "name": "user", "namespace": NAMESPACE}],
    });
    apply_quietly(&site.plane, &binding.to_string()).await;
    let client = site.plane.service_account(NAMESPACE, "user").await.client();
    let (path, mut changes) = (url("v1", "/berth-0002"), 0);
    let annotation = |object: &Value| object["metadata"]["annotations"]["conversion.opgen.dev/data"].clone();
    // Reads the object and writes it back with a change.
    let mut write = async |data: Option<&str>| {
        let (status, mut object) = send(&client, http::Request::get(&path).body(Vec::new()).unwrap()).await;
        if status != 200 {
            return (status, object);
        }
        changes += 1;
        object["spec"]["notes"]["user"] = changes.into();
        if let Some(data) = data {
            object["metadata"]["annotations"]["conversion.opgen.dev/data"] = data.into();
        }
        let request = http::Request::put(&path).header("content-type", "application/json");
        send(&client, request.body(object.to_string().into_bytes()).unwrap()).await
    };
    let stored = wait::until("the role is in force", PATIENCE, async || match write(None).await {
        (200, object) => Ok(object),
        (_, answer) => Err(answer.to_string()),
    })
    .await;
    let data = annotation(&stored);
    let data = data.as_str().expect("the removed field is in the annotation");
    assert!(data.contains("rope"), "{data}");
    let changed = data.replace("rope", "chain");
    wait::until("the policy is evaluated", PATIENCE, async || match write(Some(&changed)).await {
        (403, answer) if answer["message"].to_string().contains("may update the status") => Ok(()),
        (_, answer) => Err(answer.to_string()),
    })
    .await;
    grant(&["berths", "berths/status"]).await;
    wait::until("the role is in force", PATIENCE, async || match write(Some(&changed)).await {
        (200, object) if annotation(&object) == changed => Ok(()),
        (_, answer) => Err(answer.to_string()),
    })
    .await;
}
