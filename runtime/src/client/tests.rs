//! Tests the condition text of a failed call.

use super::*;
use crate::kind::kind_of;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

#[test]
fn a_namespace_that_does_not_exist_is_named() {
    let status = json!({
        "status": "Failure",
        "message": "namespaces \"shop\" not found",
        "reason": "NotFound",
        "details": {"name": "shop", "kind": "namespaces"},
        "code": 404
    });
    let status: kube::core::Status = serde_json::from_value(status).unwrap();
    let kind = kind_of::<ConfigMap>();
    let target = Target { kind: &kind, namespace: Some("shop"), name: "web" };
    let call_error = target.call_error(Verb::Patch, "", kube::Error::Api(Box::new(status)));
    let expected =
        ("NamespaceNotFound", "failed to patch ConfigMap shop/web: namespace shop does not exist".to_owned());
    assert_eq!(condition_text(&call_error), expected);
}
