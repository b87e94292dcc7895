//! Serves the health checks `/livez`, `/readyz` and `/healthz`.

use super::not_found::no_page;
use crate::{call::Call, response::ApiResponse};

/// The checks that the endpoints report. All of them pass whenever the server responds.
const CHECKS: [&str; 5] =
    ["ping", "log", "etcd", "poststarthook/bootstrap-controller", "poststarthook/rbac/bootstrap-roles"];

/// The checks that only readiness has.
const READINESS_CHECKS: [&str; 3] = ["etcd-readiness", "informer-sync", "shutdown"];

/// Returns the names of the checks of an endpoint: `livez`, `readyz` or `healthz`.
fn checks(endpoint: &str) -> impl Iterator<Item = &'static str> + use<> {
    let more: &[&str] = if endpoint == "readyz" { &READINESS_CHECKS } else { &[] };
    CHECKS.into_iter().chain(more.iter().copied())
}

/// Serves `/readyz`, `/readyz/CHECK` and `/readyz?verbose&exclude=CHECK`, also for `livez` and `healthz`. Each check passes; an unknown
/// check is a 404 error.
pub(super) fn answer(call: &Call, segments: &[&str]) -> ApiResponse {
    let [endpoint, ref check @ ..] = *segments else { return no_page() };
    let name = check.join("/");
    if !name.is_empty() {
        return if checks(endpoint).any(|known| known == name) { ApiResponse::text("ok") } else { no_page() };
    }
    if call.options.raw("verbose").is_none() {
        return ApiResponse::text("ok");
    }
    let excluded = |name: &str| call.options.all.iter().any(|(key, value)| key == "exclude" && value == name);
    let mut text: String = checks(endpoint)
        .map(|check| if excluded(check) { format!("[+]{check} excluded: ok\n") } else { format!("[+]{check} ok\n") })
        .collect();
    text.push_str(&format!("{endpoint} check passed\n"));
    ApiResponse::text(text)
}

/// Returns the paths of all single checks, such as `/livez/ping`, for the list of paths that the server returns for `/`.
pub(super) fn paths() -> impl Iterator<Item = String> {
    ["healthz", "livez", "readyz"]
        .into_iter()
        .flat_map(|endpoint| checks(endpoint).map(move |check| format!("/{endpoint}/{check}")))
}
