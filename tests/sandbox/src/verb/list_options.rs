//! Validates the options of list and watch requests.

use serde_json::json;

use crate::{
    call::{Options, Verb},
    failure::{Cause, Failure},
    request::ResourceRequest,
};

/// The field of the errors about `resourceVersionMatch`.
const MATCH: &str = "resourceVersionMatch";

/// Rejects list or watch options that contradict each other or are not supported, with a 422 error.
pub(super) fn check(options: &Options, verb: Verb) -> Result<(), Failure> {
    let causes = if verb == Verb::Watch { watch_causes(options) } else { list_causes(options) };
    if causes.is_empty() { Ok(()) } else { Err(Failure::invalid_list_options(&causes)) }
}

/// Returns the errors of list options, as `ValidateListOptions` of apimachinery.
fn list_causes(options: &Options) -> Vec<Cause> {
    let version_match = options.resource_version_match.as_str();
    let mut causes = Vec::new();
    if !version_match.is_empty() {
        if options.resource_version.is_empty() {
            causes
                .push(Cause::forbidden(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
        }
        if !options.continue_token.is_empty() {
            causes.push(Cause::forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if !matches!(version_match, "Exact" | "NotOlderThan") {
            causes.push(Cause::unsupported(MATCH, &version_match.into(), &["Exact", "NotOlderThan", ""]));
        }
        if version_match == "Exact" && options.resource_version == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(Cause::forbidden(MATCH, why));
        }
    }
    if options.send_initial_events.is_some() {
        causes.push(Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    causes
}

/// Returns the errors of watch options, as `ValidateListOptions` of apimachinery.
fn watch_causes(options: &Options) -> Vec<Cause> {
    let version_match = options.resource_version_match.as_str();
    let mut causes = Vec::new();
    if options.send_initial_events.is_some() && version_match != "NotOlderThan" {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        causes.push(Cause::forbidden(MATCH, why));
    }
    if !version_match.is_empty() {
        if options.send_initial_events.is_none() {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(Cause::forbidden(MATCH, why));
        }
        if version_match != "NotOlderThan" {
            causes.push(Cause::unsupported(MATCH, &version_match.into(), &["NotOlderThan"]));
        }
    }
    if !options.continue_token.is_empty() {
        causes.push(Cause::forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
    }
    causes
}

/// Returns the requested resourceVersion, where 0 stands for any version; `None` if the request has none. If it is not a number, returns a
/// 400 error for a list and a 500 error for any other verb, as in Kubernetes.
pub(super) fn version(options: &Options, verb: Verb) -> Result<Option<u64>, Failure> {
    let text = options.resource_version.as_str();
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        let message = format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {why}");
        match verb {
            Verb::List => Failure::bad_request(format!("invalid resource version: {message}")),
            _ => Failure::internal_without_reason(message),
        }
    })
}

/// Returns a 504 error, a timeout, if the store has not reached the version yet.
pub(super) fn check_reached(request: ResourceRequest<'_>, version: u64) -> Result<(), Failure> {
    let current = request.server.store.version();
    if version <= current {
        return Ok(());
    }
    let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
    let message = format!("Timeout: Too large resource version: {version}, current: {current}");
    Err(Failure::timeout(message).with_causes(vec![cause]).retry_after(1))
}
