//! Handles server-side apply requests (KEP-555): parses the applied object, applies it, and reports conflicts.

use serde_json::{Value, json};

use super::error::error_without_reason;
use crate::{
    call::Strictness,
    failure::Failure,
    fields::{
        apply::{self, Conflicts},
        check, go,
        managers::{Manager, ManagerOperation, VersionedSet},
        typed::Type,
    },
    object,
    request::ResourceRequest,
};

/// The annotation in which client-side apply stores the configuration that it applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The API version of a `Scale`.
const SCALE: &str = "autoscaling/v1";

/// The manager that takes over fields from client-side apply.
const KUBECTL: &str = "kubectl";

/// Parses the applied object, JSON or YAML, and returns warnings for the client.
///
/// # Errors
/// Fails with `BadRequest` if the body is invalid or no object.
pub(super) fn read(request: ResourceRequest<'_>) -> Result<(Value, Vec<String>), Failure> {
    let body = &request.call.body;
    let (object, warnings) = match serde_json::from_slice(body) {
        Ok(object) => (object, Vec::new()),
        Err(_) => parse_yaml(request, body)?,
    };
    match object {
        Value::Object(_) => Ok((object, warnings)),
        Value::Null => Ok((json!({}), warnings)),
        other => {
            let json_type = go::json_type(&other);
            let why = format!("json: cannot unmarshal {json_type} into Go value of type map[string]interface {{}}");
            let why = format!("error decoding YAML: error unmarshaling JSON: while decoding JSON: {why}");
            Err(Failure::bad_request(why))
        }
    }
}

/// Returns the object after an apply by the manager of the request, with updated `managedFields`. `live` is `None` if
/// the apply creates the object.
///
/// # Errors
/// Fails with `Conflict` if other managers own fields that the apply changes, with a 500 error if a value can't be
/// decoded, such as bytes that are not base64, and as [`check_applied`].
pub(crate) fn apply(request: ResourceRequest<'_>, live: Option<&Value>, applied: &Value) -> Result<Value, Failure> {
    check_applied(request, applied)?;
    let name = request.call.field_manager();
    let force = request.call.options.force.unwrap_or(false);
    let result = apply::apply(request, live, applied, name, force);
    let result = result.or_else(|conflicts| take_over_client_side_fields(request, live, applied, conflicts));
    let mut result = result.map_err(|conflicts| conflict_error(request, &conflicts))?;
    if let Some(why) = request.type_error(&result).filter(|_| request.kind.custom().is_none()) {
        return Err(decoding_error(applied, &why));
    }
    if name == KUBECTL && !last_applied(&result).is_empty() {
        update_last_applied(&mut result, applied);
    }
    Ok(result)
}

/// Checks that the applied object has the kind of the request, has no `managedFields`, and fits its schema.
pub(crate) fn check_applied(request: ResourceRequest<'_>, applied: &Value) -> Result<(), Failure> {
    let kind = request.kind;
    let (api_version, name) = (object::text(applied, &["apiVersion"]), object::text(applied, &["kind"]));
    if api_version != kind.api_version() || name != kind.kind {
        return Err(Failure::bad_request(format!("invalid object type: {}", format_kind(applied))));
    }
    if apply::has_managed_fields(applied) {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    let type_errors = check::type_errors(Type::Root(kind.schema()), applied);
    if type_errors.is_empty() {
        return Ok(());
    }
    let object = format_object(applied);
    let errors = check::message(&type_errors);
    Err(error_without_reason(format!("failed to create typed patch object ({object}): {errors}")))
}

/// Returns the 500 error for an apply whose result can't be decoded. `why` is the message of Go's JSON decoder.
fn decoding_error(applied: &Value, why: &str) -> Failure {
    let (object, kind, why) = (format_object(applied), format_kind(applied), go::conversion_error(why));
    let why = format!("unable to convert unstructured object to {kind}: {why}");
    error_without_reason(format!("failed to convert new object ({object}) to proper version: {why}"))
}

/// Formats the kind of an applied object as Go does: `/v1, Kind=Secret`.
fn format_kind(applied: &Value) -> String {
    let (api_version, kind) = (object::text(applied, &["apiVersion"]), object::text(applied, &["kind"]));
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

/// Formats the namespace, name and kind of an applied object for error messages: `NAMESPACE/NAME; /v1, Kind=Secret`.
fn format_object(applied: &Value) -> String {
    format!("{}/{}; {}", object::namespace(applied), object::name(applied), format_kind(applied))
}

/// Migrates an object from client-side to server-side apply: forces the apply of the manager `kubectl` if all conflicts
/// are about fields that still have the values of the last client-side apply, which an annotation contains.
///
/// # Errors
/// Returns the conflicts about other fields.
fn take_over_client_side_fields(
    request: ResourceRequest<'_>,
    live: Option<&Value>,
    applied: &Value,
    conflicts: Conflicts,
) -> Result<Value, Conflicts> {
    let name = request.call.field_manager();
    let Some(live) = live.filter(|_| name == KUBECTL) else { return Err(conflicts) };
    let Ok(last) = serde_json::from_str::<Value>(last_applied(live)) else { return Err(conflicts) };
    if object::text(&last, &["apiVersion"]) != request.kind.api_version() {
        return Err(conflicts);
    }
    // The fields of the last client-side apply that still have its values.
    let unchanged = apply::unchanged_fields(request, &last, live);
    let mut remaining = conflicts;
    for owned in remaining.values_mut() {
        owned.set = owned.set.difference(&unchanged);
    }
    remaining.retain(|_, owned| !owned.set.is_empty());
    if remaining.is_empty() { apply::apply(request, Some(live), applied, name, true) } else { Err(remaining) }
}

/// Sets the annotation of client-side apply to the JSON of the applied object (without this annotation itself), so that a
/// client can return to client-side apply.
fn update_last_applied(result: &mut Value, applied: &Value) {
    let mut applied = applied.clone();
    if let Some(annotations) = applied.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
        if annotations.is_empty() {
            object::metadata_mut(&mut applied).remove("annotations");
        }
    }
    object::map_at(result, &["metadata", "annotations"]).insert(LAST_APPLIED.into(), format!("{applied}\n").into());
}

/// Returns the annotation of client-side apply; empty if there is none.
fn last_applied(object: &Value) -> &str {
    object::text(object, &["metadata", "annotations", LAST_APPLIED])
}

/// Parses YAML, and returns warnings about duplicate keys, whose last value wins. Returns an error instead if the client
/// requests strict validation, and no warnings if it requests to ignore duplicates.
fn parse_yaml(request: ResourceRequest<'_>, body: &[u8]) -> Result<(Value, Vec<String>), Failure> {
    let parse_leniently =
        |error: &serde_saphyr::Error| match serde_saphyr::from_slice_with_options::<Value>(body, last_key_wins()) {
            Ok(object) => Ok((object, duplicate_key_warnings(error))),
            Err(error) => Err(yaml_error("decoding", &message_without_position(&error))),
        };
    let (object, warnings) = match serde_saphyr::from_slice::<Value>(body) {
        Ok(object) => (object, Vec::new()),
        Err(error) => parse_leniently(&error)?,
    };
    match request.call.options.field_validation.unwrap_or(Strictness::Warn) {
        Strictness::Strict if !warnings.is_empty() => {
            let yaml_message = format!("unmarshal errors:\n  {}", warnings.join("\n  "));
            Err(yaml_error("strict decoding", &yaml_message))
        }
        Strictness::Warn => Ok((object, warnings)),
        Strictness::Strict | Strictness::Ignore => Ok((object, Vec::new())),
    }
}

/// Returns the YAML options by which the last value of a duplicate key wins.
fn last_key_wins() -> serde_saphyr::Options {
    serde_saphyr::options! { duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins }
}

/// Returns the 400 error for a YAML body that can't be parsed.
fn yaml_error(how: &str, yaml_message: &str) -> Failure {
    Failure::bad_request(format!("error {how} YAML: error converting YAML to JSON: yaml: {yaml_message}"))
}

/// Returns the warning about a duplicate key, such as `line 5: key "a" already set in map`; nothing for another error.
fn duplicate_key_warnings(error: &serde_saphyr::Error) -> Vec<String> {
    let text = error.to_string();
    let line = text.split_once("line ").and_then(|(_, rest)| rest.split_once(' ')).map(|(line, _)| line);
    let key = text.split_once("duplicate mapping key: ").and_then(|(_, rest)| rest.split_once(','));
    match (line, key) {
        (Some(line), Some((key, _))) => vec![format!("line {line}: key {key:?} already set in map")],
        _ => Vec::new(),
    }
}

/// Returns the first line of a parse error's message, without the position in the text that precedes it.
fn message_without_position(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first
        .split_once("column ")
        .and_then(|(_, rest)| rest.split_once(": "))
        .map_or(first, |(_, yaml_message)| yaml_message)
        .to_owned()
}

/// Returns the 409 error that lists the conflicting fields and their managers.
fn conflict_error(request: ResourceRequest<'_>, conflicts: &Conflicts) -> Failure {
    // A client of the `scale` subresource sees a `Scale`, with its own API version and path of the replicas.
    let is_scale = request.subresource == Some("scale");
    let version = |owned: &VersionedSet| if is_scale { SCALE.to_owned() } else { owned.api_version.clone() };
    let paths_of = |owned: &VersionedSet| if is_scale { vec![".spec.replicas".to_owned()] } else { owned.set.paths() };
    let mut sorted: Vec<_> = conflicts.iter().map(|(manager, owned)| (manager.sort_key(), manager, owned)).collect();
    sorted.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    let paths_by_manager: Vec<_> =
        sorted.iter().map(|(_, manager, owned)| (format_manager(manager, &version(owned)), paths_of(owned))).collect();
    let count = paths_by_manager.iter().map(|(_, paths)| paths.len()).sum::<usize>();
    let cause = |who: &str, path: &String| json!({"reason": "FieldManagerConflict", "message": format!("conflict with {who}"), "field": path});
    let causes = paths_by_manager.iter().flat_map(|(who, paths)| paths.iter().map(move |path| cause(who, path)));
    let message = match &paths_by_manager[..] {
        [(who, paths)] if count == 1 => {
            format!("Apply failed with 1 conflict: conflict with {who}: {}", paths.concat())
        }
        several => {
            let lines = several.iter().map(|(who, paths)| {
                let paths = paths.iter().map(|path| format!("\n- {path}")).collect::<String>();
                format!("conflicts with {who}:{paths}")
            });
            format!("Apply failed with {count} conflicts: {}", lines.collect::<Vec<_>>().join("\n"))
        }
    };
    let failure = Failure { code: 409, reason: "Conflict", message, details: serde_json::Map::new() };
    failure.with_causes(causes.collect())
}

/// Formats a manager as in a conflict message: `"NAME" with subresource "status" using v1`. `version` is the API version.
fn format_manager(manager: &Manager, version: &str) -> String {
    let mut text = format!("{:?}", manager.name);
    if !manager.subresource.is_empty() {
        text.push_str(&format!(" with subresource {:?}", manager.subresource));
    }
    if manager.operation == ManagerOperation::Update {
        text.push_str(&format!(" using {version}"));
    }
    text
}
