//! Health checks: `/livez`, `/readyz` and `/healthz`.

use super::not_found::no_page;
use crate::{call::Call, response::ApiResponse};

/// What is looked at. That this answers means that all is well.
const CHECKS: [&str; 5] =
    ["ping", "log", "etcd", "poststarthook/bootstrap-controller", "poststarthook/rbac/bootstrap-roles"];

/// What only readiness looks at.
const READY: [&str; 3] = ["etcd-readiness", "informer-sync", "shutdown"];

fn checks(of: &str) -> impl Iterator<Item = &'static str> + use<> {
    let more: &[&str] = if of == "readyz" { &READY } else { &[] };
    CHECKS.into_iter().chain(more.iter().copied())
}

/// `/readyz`, `/readyz/CHECK`, `/readyz?verbose&exclude=CHECK`
pub(super) fn answer(call: &Call, words: &[&str]) -> ApiResponse {
    let [of, ref check @ ..] = *words else { return no_page() };
    let one = check.join("/");
    if !one.is_empty() {
        return if checks(of).any(|known| known == one) { ApiResponse::text("ok") } else { no_page() };
    }
    if call.options.other("verbose").is_none() {
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
