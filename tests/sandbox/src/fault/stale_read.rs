//! Answers reads from an older version of the store.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::{
    Sandbox, User,
    call::{ResourceTarget, Target},
    failure::Failure,
};

/// Returns the response to a read with the state at `version`; `None` if the request is not a read of objects, or if the store no longer
/// has this version. A read of one object becomes a list of this object, since only a list can name an exact version.
pub(super) async fn read(
    sandbox: &Sandbox,
    user: User,
    request: &Request<Bytes>,
    version: u64,
) -> Option<Response<Bytes>> {
    let Target::Resource(target) = Target::parse(request.uri().path()) else { return None };
    if request.method() != http::Method::GET || target.subresource.is_some() {
        return None;
    }
    // A `resourceVersion` of 0 would mean any version.
    let version = version.max(1);
    let mut query = format!("resourceVersion={version}&resourceVersionMatch=Exact");
    let mut path = request.uri().path().trim_end_matches('/').to_owned();
    if let Some(name) = &target.name {
        path.truncate(path.rfind('/')?);
        query.push_str(&format!("&fieldSelector=metadata.name%3D{}", utf8_percent_encode(name, NON_ALPHANUMERIC)));
    } else {
        // Other parameters than those of the version stay in the query.
        let is_kept =
            |pair: &&str| !["resourceVersion=", "resourceVersionMatch="].iter().any(|prefix| pair.starts_with(prefix));
        for pair in request.uri().query().unwrap_or_default().split('&').filter(is_kept).filter(|pair| !pair.is_empty())
        {
            query.push('&');
            query.push_str(pair);
        }
    }
    let mut list_request = Request::get(format!("{path}?{query}")).body(Bytes::new()).ok()?;
    list_request.headers_mut().clone_from(request.headers());
    let list_response = sandbox.call(user, list_request).await;
    let code = list_response.status();
    let Ok(body) = list_response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    if !code.is_success() {
        return None;
    }
    let (code, body) = if target.name.is_some() { single_object(sandbox, &target, &body)? } else { (code, body) };
    let mut response = Response::new(body);
    *response.status_mut() = code;
    Some(response)
}

/// Returns status code and body of the response to a get from the list of this object: the object, or a 404 `Status` if the list is empty.
/// Returns `None` if the list is invalid or its kind is not served.
fn single_object(sandbox: &Sandbox, target: &ResourceTarget, list: &[u8]) -> Option<(StatusCode, Bytes)> {
    let mut list: Value = serde_json::from_slice(list).ok()?;
    let kind = sandbox.server.kinds.find(&target.group, &target.version, &target.plural)?;
    match list["items"].get_mut(0).map(Value::take) {
        Some(mut object) => {
            if object["kind"].is_null() {
                object["apiVersion"] = json!(kind.api_version());
                object["kind"] = json!(kind.kind);
            }
            Some((StatusCode::OK, object.to_string().into()))
        }
        None => {
            let name = target.name.as_deref().unwrap_or_default();
            Some((StatusCode::NOT_FOUND, Failure::not_found(&kind, name).status().to_string().into()))
        }
    }
}
