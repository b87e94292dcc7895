//! Routes paths that belong to no resource: discovery, OpenAPI, health, version and metrics.

use http::StatusCode;
use serde_json::json;

use super::{
    aggregated,
    groups::Groups,
    health, metrics,
    not_found::{empty_not_found, no_page, unparsable_path},
    openapi, resources, version,
};
use crate::{
    authentication,
    call::{Call, Representation, Verb},
    failure::Failure,
    response::ApiResponse,
    server::Server,
};

/// Responds to a request for a non-resource path. Paths are served as for GET; the successful response to another method becomes a 405
/// error if the path is read-only.
///
/// # Errors
/// If the path does not allow the method, or if its handler fails.
pub(crate) fn answer(server: &Server, call: &Call, path: &str) -> Result<ApiResponse, Failure> {
    let response = route(server, call, path)?;
    if call.verb == Verb::Get || response.code != StatusCode::OK || !is_read_only(path) {
        Ok(response)
    } else {
        Err(Failure::method_not_allowed())
    }
}

/// Returns whether the path accepts only GET; other paths respond to every method.
fn is_read_only(path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    matches!(segments[..], ["api", ..] | ["apis", _, _] | ["version"] | [".well-known", ..] | ["openid", ..])
}

/// Routes a path to its handler as for GET; a path that nothing serves gets a 404 page.
fn route(server: &Server, call: &Call, path: &str) -> Result<ApiResponse, Failure> {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let groups = || Groups::collect(server);
    let aggregated = call.accept.representation() == Representation::Discovery;
    Ok(match segments[..] {
        ["api"] if aggregated => aggregated::core_group(&groups()),
        ["apis"] if aggregated => aggregated::named_groups(&groups()),
        [""] => ApiResponse::object(&json!({"paths": list_paths(&groups())})),
        ["api"] => ApiResponse::object(&resources::core_versions()),
        ["apis"] => ApiResponse::object(&groups().list()),
        ["api", _, "proxy"] | ["apis", _, _, "proxy"] => unparsable_path(path),
        ["api", version] => return resources::list(&groups(), "", version),
        ["apis", group] => return resources::group(&groups(), group),
        ["apis", group, version] => return resources::list(&groups(), group, version),
        ["version"] => ApiResponse::object(&version::version()),
        ["readyz" | "livez" | "healthz", ..] => health::answer(call, &segments),
        ["openapi", "v2"] => return openapi::swagger::answer(&groups(), call),
        ["openapi", "v3"] => openapi::index(&groups()),
        ["openapi", "v3", ref rest @ ..] => openapi::document(&groups(), rest).unwrap_or_else(empty_not_found),
        [".well-known", "openid-configuration"] => authentication::configuration(server)?,
        ["openid", "v1", "jwks"] => authentication::keys(server)?,
        ["metrics"] => ApiResponse::text(metrics::metrics(server)),
        _ => no_page(),
    })
}

/// Responds to a path under a group and version that has no such kind. The response is a 404 page if the group is
/// unknown or custom.
///
/// # Errors
/// `NotFound` for built-in groups.
pub(crate) fn no_kind(server: &Server, group: &str, version: &str) -> Result<ApiResponse, Failure> {
    let groups = Groups::collect(server);
    let Some(served_group) = groups.find(group) else { return Ok(no_page()) };
    let custom = served_group.kinds(version).any(|kind| kind.custom().is_some()) || served_group.is_custom();
    if custom { Ok(no_page()) } else { Err(Failure::no_such_resource()) }
}

/// Returns the paths that `/` lists, sorted.
fn list_paths(groups: &Groups) -> Vec<String> {
    let mut paths: Vec<String> = ["/.well-known/openid-configuration", "/api", "/api/v1", "/apis", "/apis/"]
        .into_iter()
        .chain(["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/openid/v1/jwks"])
        .chain(["/readyz", "/version"])
        .map(str::to_owned)
        .collect();
    for group in groups.others() {
        paths.push(format!("/apis/{}", group.name));
        paths.extend(group.versions.iter().map(|version| format!("/apis/{}/{version}", group.name)));
    }
    paths.extend(health::paths());
    paths.sort();
    paths
}
