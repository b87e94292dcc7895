//! What is served, and how it is shown: paths that belong to no kind.

use http::StatusCode;
use serde_json::json;

use crate::{
    answer::{Answer, Content},
    authentication,
    call::{Call, Form, Verb},
    failure::Failure,
    sandbox::Server,
};
use groups::Groups;

pub(crate) use selectable::{Selectable, selectable};

mod aggregated;
mod groups;
mod health;
mod openapi;
pub(crate) mod print;
mod resources;
mod selectable;

/// The release whose behaviour is served.
const RELEASE: &str = "v1.36.3";

/// Answers a path that no kind serves.
pub(crate) fn answer(server: &Server, call: &Call, path: &str) -> Result<Answer, Failure> {
    let known = find(server, call, path)?;
    if call.verb == Verb::Get || known.code != StatusCode::OK || !is_read_only(path) {
        Ok(known)
    } else {
        Err(Failure::method_not_allowed())
    }
}

/// Whether nothing but a GET is taken there; other paths answer whatever they are asked.
fn is_read_only(path: &str) -> bool {
    let words: Vec<&str> = path.split('/').skip(1).collect();
    matches!(words[..], ["api", ..] | ["apis", _, _] | ["version"] | [".well-known", ..] | ["openid", ..])
}

fn find(server: &Server, call: &Call, path: &str) -> Result<Answer, Failure> {
    let words: Vec<&str> = path.split('/').skip(1).collect();
    let groups = || Groups::of(server);
    let aggregated = call.accept.form() == Form::Discovery;
    Ok(match words[..] {
        ["api"] if aggregated => aggregated::core(&groups()),
        ["apis"] if aggregated => aggregated::others(&groups()),
        [""] => Answer::object(&json!({"paths": paths(&groups())})),
        ["api"] => Answer::object(&resources::core_versions()),
        ["apis"] => Answer::object(&groups().list()),
        ["api", _, "proxy"] | ["apis", _, _, "proxy"] => unusable(path),
        ["api", version] => return resources::list(&groups(), "", version),
        ["apis", group] => return resources::group(&groups(), group),
        ["apis", group, version] => return resources::list(&groups(), group, version),
        ["version"] => Answer::object(&version()),
        ["readyz" | "livez" | "healthz", ..] => health::answer(call, &words),
        ["openapi", "v2"] => return openapi::swagger::answer(&groups(), call),
        ["openapi", "v3"] => openapi::index(&groups()),
        ["openapi", "v3", ref rest @ ..] => openapi::document(&groups(), rest).unwrap_or_else(nothing),
        [".well-known", "openid-configuration"] => authentication::configuration(server)?,
        ["openid", "v1", "jwks"] => authentication::keys(server)?,
        ["metrics"] => Answer::text(metrics(server)),
        _ => no_page(),
    })
}

/// What stands under no path at all: the Go server's own page.
pub(crate) fn no_page() -> Answer {
    let mut answer = Answer::text("404 page not found\n");
    answer.code = StatusCode::NOT_FOUND;
    answer.headers.push(("x-content-type-options", "nosniff".to_owned()));
    answer
}

/// Not even a page.
fn nothing() -> Answer {
    let mut answer = Answer::text("");
    (answer.code, answer.content_type) = (StatusCode::NOT_FOUND, "");
    answer
}

/// What Go's server says of a path that it can't take apart.
fn unusable(path: &str) -> Answer {
    let why = "failed to create RequestInfo: unable to determine kind and namespace from url";
    let mut answer = Answer::text(format!("Internal Server Error: {path:?}: {why}, {path}\n"));
    answer.code = StatusCode::INTERNAL_SERVER_ERROR;
    answer
}

/// What a path below a group and version answers that has no kind: a group that is not there has no page.
pub(crate) fn no_kind(server: &Server, group: &str, version: &str) -> Result<Answer, Failure> {
    let groups = Groups::of(server);
    let Some(found) = groups.find(group) else { return Ok(no_page()) };
    let custom = found.kinds(version).any(|kind| kind.custom().is_some()) || found.is_custom();
    if custom { Ok(no_page()) } else { Err(Failure::no_such_resource()) }
}

fn version() -> serde_json::Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36", "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35", "gitVersion": RELEASE, "gitCommit": "", "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, architecture()),
    })
}

/// In Go's words.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
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

/// How many objects are kept, as kube-apiserver counts them.
fn metrics(server: &Server) -> String {
    let mut text = "# HELP apiserver_resource_objects [STABLE] Number of stored objects at the time of last check.\n\
                    # TYPE apiserver_resource_objects gauge\n"
        .to_owned();
    let mut shelves = server.store.shelves();
    shelves.sort();
    for shelf in shelves {
        let (resource, group) = shelf.split_once('.').unwrap_or((&shelf, ""));
        let (_, objects) = server.store.list(&shelf, None);
        let count = objects.len();
        text.push_str(&format!("apiserver_resource_objects{{group={group:?},resource={resource:?}}} {count}\n"));
    }
    text.push_str(
        "# HELP apiserver_request_total [STABLE] Counter of apiserver requests broken out for each verb and code.\n\
         # TYPE apiserver_request_total counter\n",
    );
    for ((verb, code), count) in server.audit.counts() {
        let verb = verb.to_ascii_uppercase();
        text.push_str(&format!("apiserver_request_total{{code=\"{code}\",verb={verb:?}}} {count}\n"));
    }
    text
}

/// An answer that carries the hash of its text, for clients that keep it.
fn tagged(mut answer: Answer) -> Answer {
    if let Content::Whole(text) = &answer.content {
        answer.headers.push(("etag", format!("\"{}\"", hash(text))));
    }
    answer.headers.push(("vary", "Accept".to_owned()));
    answer
}

/// SHA-512 in capital hexadecimal digits.
fn hash(text: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA512, text);
    digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect()
}
