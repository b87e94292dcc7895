//! The four kinds of a patch.

use serde_json::{Map, Value};

use crate::{
    failure::Failure,
    fields::go,
    kind::Origin,
    verb::{Asked, read_json},
};

pub(crate) use apply::{apply, check_applied};
pub(crate) use options::check_manager;

mod apply;
mod json;
mod options;
mod strategic;

/// A patch, read.
#[derive(Debug)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(json::JsonPatch),
    /// RFC 7386.
    Merge(Value),
    /// As a merge patch, but lists are merged by key.
    Strategic(Map<String, Value>),
    /// Server-side apply.
    Apply(Value),
}

/// What a patch came as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Media {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Json, "application/json-patch+json"),
        (Self::Merge, "application/merge-patch+json"),
        (Self::Strategic, "application/strategic-merge-patch+json"),
        (Self::Apply, "application/apply-patch+yaml"),
    ];

    /// By the content type of the request, whose parameters are checked, too.
    pub(crate) fn of(asked: Asked<'_>) -> Result<Self, Failure> {
        let custom = matches!(asked.kind.origin, Origin::Custom(_));
        let written = asked.call.content_type.as_str();
        let found = Self::ALL.iter().find(|(media, name)| *name == written && !(custom && *media == Self::Strategic));
        let (media, _) = found.ok_or_else(|| unsupported(custom))?;
        options::check(asked.call, *media)?;
        Ok(*media)
    }
}

fn unsupported(custom: bool) -> Failure {
    if custom {
        let known = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
        let why = "the body of the request was in an unknown format - accepted media types include:";
        return Failure::unsupported_media(format!("{why} {known}"));
    }
    Failure::unsupported_media("415: Unsupported Media Type")
}

impl Patch {
    /// The patch of a request, and what the client should be warned of.
    pub(crate) fn read(asked: Asked<'_>, media: Media) -> Result<(Self, Vec<String>), Failure> {
        let body = &asked.call.body;
        match media {
            Media::Json => json::JsonPatch::of(body).map(|(patch, unknown)| (Self::Json(patch), unknown)),
            Media::Merge => {
                let (patch, doubled) = read_json(body).map_err(|why| unreadable(&why))?;
                match patch {
                    Value::Object(_) => Ok((Self::Merge(patch), told(&doubled))),
                    Value::Null => Err(Failure::bad_request("Invalid JSON Patch")),
                    other => Err(of_another_type(&other, "map[string]interface {}")),
                }
            }
            Media::Strategic => {
                let (patch, doubled) = read_json(body).map_err(Failure::bad_request)?;
                match patch {
                    Value::Object(patch) => Ok((Self::Strategic(patch), told(&doubled))),
                    Value::Null => Ok((Self::Strategic(Map::new()), Vec::new())),
                    other => {
                        let sort = go::sort(&other);
                        let into = "Go value of type map[string]interface {}";
                        Err(Failure::bad_request(format!("json: cannot unmarshal {sort} into {into}")))
                    }
                }
            }
            Media::Apply => apply::read(asked).map(|(applied, warnings)| (Self::Apply(applied), warnings)),
        }
    }

    /// The object after the patch.
    pub(crate) fn applied_to(&self, asked: Asked<'_>, old: &Value) -> Result<Value, Failure> {
        let mut new = old.clone();
        match self {
            Self::Json(patch) => patch.apply_to(&mut new)?,
            Self::Merge(patch) => json_patch::merge(&mut new, patch),
            Self::Strategic(patch) => {
                if let Value::Object(object) = &mut new {
                    strategic::merge(Some(asked.kind.schema()), object, patch.clone())?;
                }
            }
            Self::Apply(applied) => return apply(asked, Some(old), applied),
        }
        self.check_sorts(asked, &new, old)?;
        Ok(new)
    }

    /// The object that an apply makes.
    pub(crate) fn creates(&self, asked: Asked<'_>) -> Result<Value, Failure> {
        match self {
            Self::Apply(applied) => apply(asked, None, applied),
            Self::Json(_) | Self::Merge(_) | Self::Strategic(_) => Err(Failure::not_found(asked.kind, asked.name)),
        }
    }

    /// The object, as it was patched, must still be one of its kind.
    fn check_sorts(&self, asked: Asked<'_>, new: &Value, old: &Value) -> Result<(), Failure> {
        if !new.is_object() {
            return Err(unusable());
        }
        let Some(why) = asked.complaint(new) else { return Ok(()) };
        let why = if matches!(self, Self::Strategic(_)) { go::unconverted(&why) } else { why };
        Err(self.spoils(new, old, &why))
    }

    /// 422: the object after the patch is none that can be read.
    pub(crate) fn spoils(&self, new: &Value, old: &Value, why: &str) -> Failure {
        let shown = match self {
            Self::Strategic(patch) => go::shown(&Value::Object(patch.clone())),
            _ => go::patched(new, old),
        };
        let said = format!("Invalid value: {shown:?}: {why}");
        let mut failure = Failure::unprocessable(format!(" \"\" is invalid: patch: {said}"));
        let cause = serde_json::json!({"reason": "FieldValueInvalid", "message": said, "field": "patch"});
        failure.details.insert("causes".into(), Value::Array(vec![cause]));
        failure
    }
}

/// What the client is told of fields that are there twice.
fn told(doubled: &[String]) -> Vec<String> {
    doubled.iter().map(|field| format!("duplicate field {field:?}")).collect()
}

/// 400: what came is no JSON.
fn unreadable(why: &str) -> Failure {
    Failure::bad_request(format!("error decoding patch: {why}"))
}

/// 400: what came is JSON of another type.
fn of_another_type(value: &Value, wanted: &str) -> Failure {
    let sort = go::sort(value);
    Failure::bad_request(format!("error decoding patch: json: cannot unmarshal {sort} into Go value of type {wanted}"))
}

/// 422: the patch doesn't fit the object. Kubernetes doesn't say why.
fn unusable() -> Failure {
    Failure::unprocessable("the server rejected our request due to an error in our request")
}

/// 500 without a reason, as Kubernetes answers what it didn't expect.
pub(crate) fn untold(message: impl Into<String>) -> Failure {
    Failure { code: 500, reason: "", message: message.into(), details: Map::new() }
}
