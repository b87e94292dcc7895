//! Sends the API server's own requests to CustomResourceDefinitions and their objects.

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

/// Replaces a CRD; a conflict does no harm, because the newer state is reconciled, too.
pub(super) async fn write(server: &Server, crd: &Value, part: &str) -> Option<Value> {
    let path = format!("{COLLECTION}/{}{part}", object::name(crd));
    call(server, Method::PUT, &path, crd.to_string()).await
}

/// Sends a request as the API server's own user; `None` if it is refused.
pub(super) async fn call(server: &Server, method: Method, path: &str, body: String) -> Option<Value> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, "kube-apiserver/v1.36")
        .body(Bytes::from(body))
        .ok()?;
    let answer = server.answer(system(), request).await;
    match answer.content {
        Content::Whole(text) if answer.code.is_success() => serde_json::from_slice(&text).ok(),
        Content::Whole(text) => {
            tracing::debug!(path, answer = %String::from_utf8_lossy(&text), "refused");
            None
        }
        Content::Stream(_) => None,
    }
}

fn system() -> User {
    let groups = vec![MASTERS.to_owned(), "system:authenticated".to_owned()];
    User { name: "system:apiserver".to_owned(), uid: String::new(), groups, extra: Vec::new() }
}

/// Returns the path of a kind's collection, in one namespace or in the whole cluster.
pub(super) fn collection(crd: &Value, namespace: &str) -> String {
    let versions = at(crd, &["spec", "versions"]).and_then(Value::as_array);
    let served = versions.into_iter().flatten().find(|version| version["served"] == true);
    let version = served.map(|version| text(version, &["name"])).unwrap_or_default();
    let (group, plural) = (text(crd, &["spec", "group"]), text(crd, &["status", "acceptedNames", "plural"]));
    let within = if namespace.is_empty() { String::new() } else { format!("namespaces/{namespace}/") };
    format!("/apis/{group}/{version}/{within}{plural}")
}
