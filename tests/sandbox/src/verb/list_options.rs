//! Validates the options of lists and watches.

use serde_json::json;

use crate::{
    call::{Options, Verb},
    failure::{Cause, Failure},
    request::ResourceRequest,
};

const MATCH: &str = "resourceVersionMatch";

/// Refuses options that contradict each other.
pub(super) fn check(options: &Options, verb: Verb) -> Result<(), Failure> {
    let causes = if verb == Verb::Watch { of_watch(options) } else { of_list(options) };
    if causes.is_empty() { Ok(()) } else { Err(Failure::invalid_list_options(&causes)) }
}

fn of_list(options: &Options) -> Vec<Cause> {
    let wanted = options.resource_version_match.as_str();
    let mut causes = Vec::new();
    if !wanted.is_empty() {
        if options.resource_version.is_empty() {
            causes
                .push(Cause::forbidden(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
        }
        if !options.continue_token.is_empty() {
            causes.push(Cause::forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if !matches!(wanted, "Exact" | "NotOlderThan") {
            causes.push(Cause::unsupported(MATCH, &wanted.into(), &["Exact", "NotOlderThan", ""]));
        }
        if wanted == "Exact" && options.resource_version == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(Cause::forbidden(MATCH, why));
        }
    }
    if options.send_initial_events.is_some() {
        causes.push(Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    causes
}

fn of_watch(options: &Options) -> Vec<Cause> {
    let wanted = options.resource_version_match.as_str();
    let mut causes = Vec::new();
    if options.send_initial_events.is_some() && wanted != "NotOlderThan" {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        causes.push(Cause::forbidden(MATCH, why));
    }
    if !wanted.is_empty() {
        if options.send_initial_events.is_none() {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(Cause::forbidden(MATCH, why));
        }
        if wanted != "NotOlderThan" {
            causes.push(Cause::unsupported(MATCH, &wanted.into(), &["NotOlderThan"]));
        }
    }
    if !options.continue_token.is_empty() {
        causes.push(Cause::forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
    }
    causes
}

/// Returns the requested version; `None` if the request has none, and 0 for any version.
pub(super) fn version(options: &Options, verb: Verb) -> Result<Option<u64>, Failure> {
    let written = options.resource_version.as_str();
    if written.is_empty() {
        return Ok(None);
    }
    written.parse().map(Some).map_err(|_| {
        let digits = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
        let why = if digits { "value out of range" } else { "invalid syntax" };
        let what =
            format!("resourceVersion: Invalid value: {written:?}: strconv.ParseUint: parsing {written:?}: {why}");
        match verb {
            Verb::List => Failure::bad_request(format!("invalid resource version: {what}")),
            _ => Failure::unexplained(what),
        }
    })
}

/// Refuses a version that the store has not reached yet.
pub(super) fn check_reached(request: ResourceRequest<'_>, version: u64) -> Result<(), Failure> {
    let current = request.server.store.version();
    if version <= current {
        return Ok(());
    }
    let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
    let message = format!("Timeout: Too large resource version: {version}, current: {current}");
    Err(Failure::timeout(message).with_causes(vec![cause]).retry_after(1))
}
