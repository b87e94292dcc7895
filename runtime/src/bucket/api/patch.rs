//! `PatchDocument`: parses the body of a patch request, and applies the patch to an object.

use super::{
    failure::ApiFailure,
    fields::{AppliedFields, apply},
    metadata::metadata_type_error,
    object::at,
    object_request::ObjectRequest,
    secret::encode_string_data,
};
use opgen_schema::Cause;
use serde_json::{Map, Value};

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// The patches that are supported, as the message of an unsupported one lists them.
const SUPPORTED: [&str; 4] = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH];

/// A parsed patch.
#[derive(Debug)]
pub(super) enum PatchDocument {
    Json(json_patch::Patch),
    /// A merge patch. A strategic merge patch is merged in the same way: no kind in a bucket has strategies.
    Merge(Value),
    Apply(Value),
}

impl PatchDocument {
    /// Returns whether the request has the media type of a supported patch.
    pub(super) fn is_patch(request: ObjectRequest<'_>) -> bool {
        SUPPORTED.contains(&request.call.content_type.as_str())
    }

    /// Returns whether the request is an apply.
    pub(super) fn is_apply(request: ObjectRequest<'_>) -> bool {
        request.call.content_type == APPLY_PATCH
    }

    /// Checks the media type and the options of a patch.
    ///
    /// # Errors
    /// 415 for another media type. 422 for an apply without a field manager, and for another patch with `force`.
    pub(super) fn check_options(request: ObjectRequest<'_>) -> Result<(), ApiFailure> {
        if !Self::is_patch(request) {
            let why = "the body of the request was in an unknown format - accepted media types include:";
            return Err(ApiFailure::unsupported_media(format!("{why} {}", SUPPORTED.join(", "))));
        }
        let options = &request.call.options;
        let cause = match Self::is_apply(request) {
            true if options.field_manager.is_none() => Cause::required("fieldManager", "is required for apply patch"),
            false if options.force.is_some() => Cause::forbidden("force", "may not be specified for non-apply patch"),
            _ => return Ok(()),
        };
        Err(ApiFailure::invalid_options("PatchOptions", &cause))
    }

    /// Parses the body as a patch of the media type of the request.
    ///
    /// # Errors
    /// 400 if the body is no such patch.
    pub(super) fn parse(request: ObjectRequest<'_>) -> Result<Self, ApiFailure> {
        let body = &request.call.body;
        let invalid = |error: serde_json::Error| ApiFailure::bad_request(format!("error decoding patch: {error}"));
        match request.call.content_type.as_str() {
            JSON_PATCH => serde_json::from_slice(body).map(Self::Json).map_err(invalid),
            APPLY_PATCH => {
                let parse_yaml = |_| serde_saphyr::from_slice(body);
                let applied: Result<Value, _> = serde_json::from_slice(body).or_else(parse_yaml);
                let applied =
                    applied.map_err(|error| ApiFailure::bad_request(format!("error decoding YAML: {error}")))?;
                if !applied.is_object() {
                    return Err(ApiFailure::bad_request("error decoding YAML: the patch is no object"));
                }
                Ok(Self::Apply(applied))
            }
            _ => {
                let patch: Value = serde_json::from_slice(body).map_err(invalid)?;
                match patch.is_object() {
                    true => Ok(Self::Merge(patch)),
                    false => Err(ApiFailure::bad_request("error decoding patch: the patch is no object")),
                }
            }
        }
    }

    /// Returns whether [`apply_to`](Self::apply_to) also updates `managedFields`: it does so for an apply only. After any other patch, the
    /// caller has to update them.
    pub(super) fn has_ownership(&self) -> bool {
        matches!(self, Self::Apply(_))
    }

    /// Returns the object after the patch. `old` is `None` for an apply that creates an object. `now` is the time of an apply in
    /// `managedFields`.
    ///
    /// # Errors
    /// 422 if the patch does not apply to the object, 409 if an apply changes the fields of other managers, and 400 if an applied
    /// object has `managedFields`.
    pub(super) fn apply_to(
        &self,
        request: ObjectRequest<'_>,
        old: Option<&Value>,
        now: &str,
    ) -> Result<Value, ApiFailure> {
        let mut new = old.cloned().unwrap_or_default();
        match self {
            Self::Json(patch) => {
                json_patch::patch(&mut new, patch).map_err(|_| ApiFailure::unprocessable_patch())?;
            }
            Self::Merge(patch) => json_patch::merge(&mut new, patch),
            Self::Apply(applied) => return apply_object(request, applied, old, now),
        }
        let (kind, is_map) = (&request.kind().kind, new.is_object());
        let is_same_kind = new["kind"] == *kind.kind && new["apiVersion"] == kind.api_version().as_str();
        match metadata_type_error(&new) {
            None if is_map && is_same_kind => Ok(new),
            None => Err(ApiFailure::unprocessable_patch()),
            Some(why) => {
                let cause = Cause::invalid("patch", &Value::Object(Map::new()), &why);
                Err(ApiFailure::invalid(request.kind(), request.name, &[cause]))
            }
        }
    }
}

/// Returns the live object after a server-side apply of `applied`, or the new object if `live` is `None`.
///
/// # Errors
/// 400 if the applied object is invalid or has `managedFields`, and 409 if other managers own the changed fields and `force` is not set.
fn apply_object(
    request: ObjectRequest<'_>,
    applied: &Value,
    live: Option<&Value>,
    now: &str,
) -> Result<Value, ApiFailure> {
    request.check_type(applied)?;
    if at(applied, &["metadata", "managedFields"]).is_some() {
        return Err(ApiFailure::bad_request("metadata.managedFields must be nil"));
    }
    if let Some(why) = metadata_type_error(applied) {
        return Err(ApiFailure::bad_request(why));
    }
    let mut applied = applied.clone();
    encode_string_data(request.kind(), &mut applied)?;
    if let Some(schema) = &request.kind().schema {
        opgen_schema::prune(schema, &mut applied);
    }
    match apply(request.writer(now), live, &applied, request.call.options.force == Some(true)) {
        AppliedFields::Object(object) => Ok(object),
        AppliedFields::Conflicts(conflicts) => Err(ApiFailure::apply_conflict(&conflicts)),
    }
}
