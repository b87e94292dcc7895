//! Routes paths that belong to no resource: discovery, OpenAPI, health, version and metrics.

use http::StatusCode;
use serde_json::json;

use super::{
    aggregated,
    groups::Groups,
    health, metrics,
    not_found::{no_page, nothing, unusable},
    openapi, resources, version,
};
use crate::{
    authentication,
    call::{Call, Representation, Verb},
    failure::Failure,
    response::ApiResponse,
    server::Server,
};

/// Responds to a path that no kind serves.
pub(crate) fn answer(server: &Server, call: &Call, path: &str) -> Result<ApiResponse, Failure> {
    let known = find(server, call, path)?;
    if call.verb == Verb::Get || known.code != StatusCode::OK || !is_read_only(path) {
        Ok(known)
    } else {
        Err(Failure::method_not_allowed())
    }
}

/// Whether the path accepts only GET; other paths respond to every method.
fn is_read_only(path: &str) -> bool {
    let words: Vec<&str> = path.split('/').skip(1).collect();
    matches!(words[..], ["api", ..] | ["apis", _, _] | ["version"] | [".well-known", ..] | ["openid", ..])
}

fn find(server: &Server, call: &Call, path: &str) -> Result<ApiResponse, Failure> {
    let words: Vec<&str> = path.split('/').skip(1).collect();
    let groups = || Groups::of(server);
    let aggregated = call.accept.representation() == Representation::Discovery;
    Ok(match words[..] {
        ["api"] if aggregated => aggregated::core(&groups()),
        ["apis"] if aggregated => aggregated::others(&groups()),
        [""] => ApiResponse::object(&json!({"paths": paths(&groups())})),
        ["api"] => ApiResponse::object(&resources::core_versions()),
        ["apis"] => ApiResponse::object(&groups().list()),
        ["api", _, "proxy"] | ["apis", _, _, "proxy"] => unusable(path),
        ["api", version] => return resources::list(&groups(), "", version),
        ["apis", group] => return resources::group(&groups(), group),
        ["apis", group, version] => return resources::list(&groups(), group, version),
        ["version"] => ApiResponse::object(&version::version()),
        ["readyz" | "livez" | "healthz", ..] => health::answer(call, &words),
        ["openapi", "v2"] => return openapi::swagger::answer(&groups(), call),
        ["openapi", "v3"] => openapi::index(&groups()),
        ["openapi", "v3", ref rest @ ..] => openapi::document(&groups(), rest).unwrap_or_else(nothing),
        [".well-known", "openid-configuration"] => authentication::configuration(server)?,
        ["openid", "v1", "jwks"] => authentication::keys(server)?,
        ["metrics"] => ApiResponse::text(metrics::metrics(server)),
        _ => no_page(),
    })
}

/// Responds to a path under a group and version that has no such kind; the response of an unknown group is a 404 page.
pub(crate) fn no_kind(server: &Server, group: &str, version: &str) -> Result<ApiResponse, Failure> {
    let groups = Groups::of(server);
    let Some(found) = groups.find(group) else { return Ok(no_page()) };
    let custom = found.kinds(version).any(|kind| kind.custom().is_some()) || found.is_custom();
    if custom { Ok(no_page()) } else { Err(Failure::no_such_resource()) }
}

fn paths(groups: &Groups) -> Vec<String> {
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
