//! Tests of warnings.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub, dead_code)]

use bytes::Bytes;
use http::Request;
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

use crate::admin_client::prepare;

async fn warnings(sandbox: &Sandbox, path: &str, object: &Value) -> Vec<String> {
    let request = Request::post(format!("{path}?dryRun=All")).header("content-type", "application/json");
    let answer = sandbox.call(User::admin("admin"), request.body(Bytes::from(object.to_string())).unwrap()).await;
    assert_eq!(answer.status().as_u16(), 201, "{path}");
    let warnings = answer.headers().get_all("warning").iter();
    // `299 - "text"`, with quotes escaped.
    let text =
        |value: &http::HeaderValue| value.to_str().unwrap()[7..].strip_suffix('"').unwrap().replace("\\\"", "\"");
    warnings.map(text).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_and_yet_unwise_is_warned_of() {
    let sandbox = Sandbox::builder().seed(1).start();
    prepare(&sandbox).await;
    let core = |plural: &str| format!("/api/v1/namespaces/d-try/{plural}");
    let container = json!({
        "name": "a", "image": "b", "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
        "ports": [{"containerPort": 80}, {"containerPort": 80}], "resources": {"limits": {"memory": "1m"}},
    });
    let pod =
        json!({"metadata": {"name": "a.b"}, "spec": {"containers": [container], "imagePullSecrets": [{"name": ""}]}});
    let expected = [
        "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
        "spec.imagePullSecrets[0].name: invalid empty name \"\"",
        "spec.containers[0].resources.limits[memory]: fractional byte value \"1m\" is invalid, must be an integer",
        "spec.containers[0].resources.requests[memory]: fractional byte value \"1m\" is invalid, must be an integer",
        "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply",
        "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
    ];
    assert_eq!(warnings(&sandbox, &core("pods"), &pod).await, expected);

    let headless = json!({"metadata": {"name": "a"}, "spec": {"clusterIP": "None", "sessionAffinity": "ClientIP"}});
    let expected = ["spec.SessionAffinity is ignored for headless services"];
    assert_eq!(warnings(&sandbox, &core("services"), &headless).await, expected);

    let annotations = json!({"kubernetes.io/ingress.class": "x"});
    let ingress =
        json!({"metadata": {"name": "a", "annotations": annotations}, "spec": {"rules": [{"host": "*.a.b"}]}});
    let expected =
        ["annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"];
    let path = "/apis/networking.k8s.io/v1/namespaces/d-try/ingresses";
    assert_eq!(warnings(&sandbox, path, &ingress).await, expected);
}
