//! The four kinds of a patch.

use serde_json::Value;

use crate::{failure::Failure, verb::Asked};

/// A patch, read.
#[derive(Debug)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(json_patch::Patch),
    /// RFC 7386.
    Merge(Value),
    /// As a merge patch, but lists are merged by key.
    Strategic(Value),
    /// Server-side apply.
    Apply(Value),
}

impl Patch {
    /// The patch of a request, by its content type.
    pub(crate) fn of(asked: Asked<'_>) -> Result<Self, Failure> {
        let body = &asked.call.body;
        let unreadable = |error: serde_json::Error| Failure::bad_request(format!("error decoding patch: {error}"));
        match asked.call.content_type.as_str() {
            "application/json-patch+json" => serde_json::from_slice(body).map(Self::Json).map_err(unreadable),
            "application/merge-patch+json" => serde_json::from_slice(body).map(Self::Merge).map_err(unreadable),
            "application/strategic-merge-patch+json" => {
                serde_json::from_slice(body).map(Self::Strategic).map_err(unreadable)
            }
            "application/apply-patch+yaml" => serde_json::from_slice(body).map(Self::Apply).map_err(unreadable),
            other => {
                Err(Failure::unsupported_media(format!("the body of the request was in an unknown format: {other}")))
            }
        }
    }

    /// The object after the patch, which is no apply.
    pub(crate) fn applied_to(&self, asked: Asked<'_>, old: &Value) -> Result<Value, Failure> {
        let _ = asked;
        let mut new = old.clone();
        match self {
            Self::Json(patch) => {
                json_patch::patch(&mut new, patch).map_err(|error| Failure::unprocessable(error.to_string()))?
            }
            Self::Merge(patch) | Self::Strategic(patch) | Self::Apply(patch) => json_patch::merge(&mut new, patch),
        }
        Ok(new)
    }
}

/// The object after an apply of `applied` by the manager of the request, managedFields included.
pub(crate) fn apply(asked: Asked<'_>, old: Option<&Value>, applied: &Value) -> Result<Value, Failure> {
    let _ = asked;
    let mut new = old.cloned().unwrap_or_default();
    json_patch::merge(&mut new, applied);
    Ok(new)
}
