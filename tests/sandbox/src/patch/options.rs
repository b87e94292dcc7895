//! Validates the query parameters of a patch.

use serde_json::{Map, Value, json};

use crate::{
    call::Call,
    failure::{Cause, Failure},
};

/// The maximum length of a manager's name, in bytes.
const MAX_MANAGER_LENGTH: usize = 128;

/// Checks the query parameters of a patch: only an apply may use `force`, an apply needs a field manager, and the name of
/// the manager must be valid (upstream: `ValidatePatchOptions`).
pub(super) fn check_options(call: &Call, is_apply: bool) -> Result<(), Failure> {
    let manager = call.options.field_manager.as_deref();
    let mut causes = Vec::new();
    if is_apply {
        if manager.is_none() {
            causes.push(Cause::required("fieldManager", "is required for apply patch"));
        }
    } else if call.options.force.is_some() {
        causes.push(Cause::forbidden("force", "may not be specified for non-apply patch"));
    }
    causes.extend(manager.and_then(manager_violation));
    if causes.is_empty() { Ok(()) } else { Err(invalid_options("PatchOptions", &causes)) }
}

/// Checks the field manager of a write other than a patch. `options_kind` is the kind that the error names, such as
/// `CreateOptions`.
pub(crate) fn check_manager(call: &Call, options_kind: &str) -> Result<(), Failure> {
    let cause = call.options.field_manager.as_deref().and_then(manager_violation);
    cause.map_or(Ok(()), |cause| Err(invalid_options(options_kind, &[cause])))
}

/// Returns the error about the name of a manager that is too long or has a control character; `None` if the name is valid
/// (upstream: `ValidateFieldManager`).
fn manager_violation(manager: &str) -> Option<Cause> {
    if manager.len() > MAX_MANAGER_LENGTH {
        let message = format!("Too long: may not be more than {MAX_MANAGER_LENGTH} bytes");
        return Some(Cause { reason: "FieldValueTooLong", message, field: "fieldManager".into() });
    }
    let (position, letter) = manager.char_indices().find(|(_, letter)| letter.is_control())?;
    let why = format!("invalid character U+{:04X} (at position {position})", letter as u32);
    let escaped: String = manager
        .chars()
        .map(|letter| match letter {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            letter if letter.is_ascii_control() => format!("\\x{:02x}", letter as u32),
            letter if letter.is_control() => format!("\\u{:04x}", letter as u32),
            letter => letter.to_string(),
        })
        .collect();
    let message = format!("Invalid value: \"{escaped}\": {why}");
    Some(Cause { reason: "FieldValueInvalid", message, field: "fieldManager".into() })
}

/// Returns the 422 error about invalid query parameters. `kind` is the kind of the options, such as `PatchOptions`.
fn invalid_options(kind: &str, causes: &[Cause]) -> Failure {
    let messages: Vec<_> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
    let messages = if messages.len() == 1 { messages.concat() } else { format!("[{}]", messages.join(", ")) };
    let mut details = Map::new();
    details.insert("group".into(), "meta.k8s.io".into());
    details.insert("kind".into(), kind.into());
    let cause = |cause: &Cause| json!({"reason": cause.reason, "message": cause.message, "field": cause.field});
    details.insert("causes".into(), causes.iter().map(cause).collect::<Value>());
    Failure {
        code: 422,
        reason: "Invalid",
        message: format!("{kind}.meta.k8s.io \"\" is invalid: {messages}"),
        details,
    }
}
