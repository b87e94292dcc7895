//! Serves the health checks `/livez`, `/readyz` and `/healthz`.

use super::not_found::no_page;
use crate::{call::Call, response::ApiResponse};

/// The checks that the endpoints report. All of them pass whenever the server responds.
const CHECKS: [&str; 5] =
    ["ping", "log", "etcd", "poststarthook/bootstrap-controller", "poststarthook/rbac/bootstrap-roles"];

/// The checks that only readiness has.
const READY: [&str; 3] = ["etcd-readiness", "informer-sync", "shutdown"];

fn checks(of: &str) -> impl Iterator<Item = &'static str> + use<> {
    let more: &[&str] = if of == "readyz" { &READY } else { &[] };
    CHECKS.into_iter().chain(more.iter().copied())
}

/// Serves `/readyz`, `/readyz/CHECK` and `/readyz?verbose&exclude=CHECK`, and the same under the other endpoints.
pub(super) fn answer(call: &Call, words: &[&str]) -> ApiResponse {
    let [of, ref check @ ..] = *words else { return no_page() };
    let one = check.join("/");
    if !one.is_empty() {
        return if checks(of).any(|known| known == one) { ApiResponse::text("ok") } else { no_page() };
    }
    if call.options.raw("verbose").is_none() {
        return ApiResponse::text("ok");
    }
    let excluded = |name: &str| call.options.all.iter().any(|(key, value)| key == "exclude" && value == name);
    let mut text: String = checks(of)
        .map(|check| if excluded(check) { format!("[+]{check} excluded: ok\n") } else { format!("[+]{check} ok\n") })
        .collect();
    text.push_str(&format!("{of} check passed\n"));
    ApiResponse::text(text)
}

pub(super) fn paths() -> impl Iterator<Item = String> {
    ["healthz", "livez", "readyz"].into_iter().flat_map(|of| checks(of).map(move |check| format!("/{of}/{check}")))
}
