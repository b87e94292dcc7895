//! Parses and applies the four types of patches: JSON patch, merge patch, strategic merge patch and server-side apply.

use serde_json::{Map, Value};

use crate::{failure::Failure, fields::go, request::ResourceRequest, verb::read_json};

pub(crate) use apply::{apply, check_applied};
pub(crate) use error::error_without_reason;
pub(crate) use media_type::Media;
pub(crate) use options::check_manager;

use error::{invalid_json, unprocessable_patch, wrong_json_type};

mod apply;
mod error;
mod json;
mod media_type;
mod options;
mod strategic;

/// A parsed patch.
#[derive(Debug)]
pub(crate) enum Patch {
    /// A JSON patch (RFC 6902).
    Json(json::JsonPatch),
    /// A merge patch (RFC 7386).
    Merge(Value),
    /// A strategic merge patch: a merge patch that merges lists by key.
    Strategic(Map<String, Value>),
    /// The configuration of a server-side apply.
    Apply(Value),
}

impl Patch {
    /// Parses the body of a request as a patch of type `media`; also returns the warnings for the client.
    ///
    /// # Errors
    /// Fails if the body is not a patch of this type.
    pub(crate) fn read(request: ResourceRequest<'_>, media: Media) -> Result<(Self, Vec<String>), Failure> {
        let body = &request.call.body;
        match media {
            Media::Json => json::JsonPatch::of(body).map(|(patch, unknown)| (Self::Json(patch), unknown)),
            Media::Merge => {
                let (patch, duplicates) = read_json(body).map_err(|why| invalid_json(&why))?;
                match patch {
                    Value::Object(_) => Ok((Self::Merge(patch), duplicate_warnings(&duplicates))),
                    Value::Null => Err(Failure::bad_request("Invalid JSON Patch")),
                    other => Err(wrong_json_type(&other, "map[string]interface {}")),
                }
            }
            Media::Strategic => {
                let (patch, duplicates) = read_json(body).map_err(Failure::bad_request)?;
                match patch {
                    Value::Object(patch) => Ok((Self::Strategic(patch), duplicate_warnings(&duplicates))),
                    Value::Null => Ok((Self::Strategic(Map::new()), Vec::new())),
                    other => {
                        let json_type = go::json_type(&other);
                        let into = "Go value of type map[string]interface {}";
                        Err(Failure::bad_request(format!("json: cannot unmarshal {json_type} into {into}")))
                    }
                }
            }
            Media::Apply => apply::read(request).map(|(applied, warnings)| (Self::Apply(applied), warnings)),
        }
    }

    /// Returns the object after the patch.
    ///
    /// # Errors
    /// Fails if the patch doesn't fit the object, or an apply conflicts with other managers.
    pub(crate) fn apply_to(&self, request: ResourceRequest<'_>, old: &Value) -> Result<Value, Failure> {
        let mut new = old.clone();
        match self {
            Self::Json(patch) => patch.apply_to(&mut new)?,
            Self::Merge(patch) => json_patch::merge(&mut new, patch),
            Self::Strategic(patch) => {
                if let Value::Object(object) = &mut new {
                    strategic::merge(Some(request.kind.schema()), object, patch.clone())?;
                }
            }
            Self::Apply(applied) => return apply(request, Some(old), applied),
        }
        self.check_types(request, &new, old)?;
        Ok(new)
    }

    /// Returns the object that an apply creates.
    ///
    /// # Errors
    /// Fails with `NotFound` for other patches, which don't create objects.
    pub(crate) fn created_object(&self, request: ResourceRequest<'_>) -> Result<Value, Failure> {
        match self {
            Self::Apply(applied) => apply(request, None, applied),
            Self::Json(_) | Self::Merge(_) | Self::Strategic(_) => Err(Failure::not_found(request.kind, request.name)),
        }
    }

    /// Checks that the fields of the patched object have the types that the schema of the kind declares. `old` is the
    /// object before the patch, for the error message.
    fn check_types(&self, request: ResourceRequest<'_>, new: &Value, old: &Value) -> Result<(), Failure> {
        if !new.is_object() {
            return Err(unprocessable_patch());
        }
        let Some(why) = request.type_error(new) else { return Ok(()) };
        let why = if matches!(self, Self::Strategic(_)) { go::conversion_error(&why) } else { why };
        Err(self.decoding_error(new, old, &why))
    }

    /// Returns the 422 error for a patched object that can't be decoded. Its message quotes the patch if it is a strategic
    /// merge patch, else the patched object.
    pub(crate) fn decoding_error(&self, new: &Value, old: &Value, why: &str) -> Failure {
        let value = match self {
            Self::Strategic(patch) => go::format_value(&Value::Object(patch.clone())),
            _ => go::format_patched(new, old),
        };
        let message_text = format!("Invalid value: {value:?}: {why}");
        let mut failure = Failure::unprocessable(format!(" \"\" is invalid: patch: {message_text}"));
        let cause = serde_json::json!({"reason": "FieldValueInvalid", "message": message_text, "field": "patch"});
        failure.details.insert("causes".into(), Value::Array(vec![cause]));
        failure
    }
}

/// Returns the warnings about duplicate fields.
fn duplicate_warnings(duplicates: &[String]) -> Vec<String> {
    duplicates.iter().map(|field| format!("duplicate field {field:?}")).collect()
}
