//! A webhook of the gardener that allows all writes of gardens and ConfigMaps.

use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Value, json};

use super::NAME;

/// The URL of the Service of the webhook.
pub const URL: &str = "https://gardener.gardener-system.svc:443";

/// The configuration of the webhook.
pub fn configuration() -> Value {
    let rule = |group: &str, plural: &str| json!({"apiGroups": [group], "apiVersions": ["v1"], "operations": ["*"], "resources": [plural]});
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": NAME},
        "webhooks": [{
            "name": "gardener.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail", "timeoutSeconds": 5,
            "clientConfig": {"service": {"name": NAME, "namespace": "gardener-system", "path": "/allow"}},
            "rules": [rule("example.com", "gardens"), rule("", "configmaps")],
        }],
    })
}

/// Allows a write.
pub async fn allow(request: Request<Bytes>) -> Response<Bytes> {
    let review: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    let response = json!({"uid": review["request"]["uid"], "allowed": true});
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    Response::new(Bytes::from(review.to_string()))
}
