//! Sends requests for CustomResourceDefinitions and their objects that the API server makes itself, as an internal user.

use bytes::Bytes;
use http::{Method, Request, header};
use serde_json::Value;

use crate::{
    object::{self, at, text},
    response::Content,
    server::Server,
    user::{MASTERS, User},
};

const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Replaces a CRD, or its subresource such as `/status`, and returns the written CRD; `None` if the write is refused. A conflict needs no
/// retry, because the event of the other write reconciles the CRD again.
pub(super) async fn write(server: &Server, crd: &Value, subresource: &str) -> Option<Value> {
    let path = format!("{COLLECTION}/{}{subresource}", object::name(crd));
    call(server, Method::PUT, &path, crd.to_string()).await
}

/// Sends a request as the API server's own user, and returns the object in the response; `None` if the request is
/// refused.
pub(super) async fn call(server: &Server, method: Method, path: &str, body: String) -> Option<Value> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, "kube-apiserver/v1.36")
        .body(Bytes::from(body))
        .ok()?;
    let response = server.answer(system_user(), request).await;
    match response.content {
        Content::Whole(text) if response.code.is_success() => serde_json::from_slice(&text).ok(),
        Content::Whole(text) => {
            tracing::debug!(path, answer = %String::from_utf8_lossy(&text), "refused");
            None
        }
        Content::Stream(_) => None,
    }
}

/// Returns the user of the API server's own requests.
fn system_user() -> User {
    let groups = vec![MASTERS.to_owned(), "system:authenticated".to_owned()];
    User { name: "system:apiserver".to_owned(), uid: String::new(), groups, extra: Vec::new() }
}

/// Returns the path of the collection of custom resources that a CRD defines, in its first served version. An empty `namespace` stands for
/// the whole cluster.
pub(super) fn collection(crd: &Value, namespace: &str) -> String {
    let versions = at(crd, &["spec", "versions"]).and_then(Value::as_array);
    let served = versions.into_iter().flatten().find(|version| version["served"] == true);
    let version = served.map(|version| text(version, &["name"])).unwrap_or_default();
    let (group, plural) = (text(crd, &["spec", "group"]), text(crd, &["status", "acceptedNames", "plural"]));
    let namespace_segments = if namespace.is_empty() { String::new() } else { format!("namespaces/{namespace}/") };
    format!("/apis/{group}/{version}/{namespace_segments}{plural}")
}
