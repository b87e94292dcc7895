//! `StoredObject`: an object that is decoded from the value of a bucket entry. Also encodes objects as such values.
//!
//! Beside the object, a value that the API has written has the field `opgen`: a digest of the desired state, by which a later change of
//! another client is seen, and in a claim whether the object has lost its entry.

use super::{
    kind::BucketKind,
    object::{desired_state, map_mut, metadata_mut, text},
    object_key::KeyedName,
};
use crate::{bucket::entry::BucketEntry, json_order::sort_keys, kind::group_of, text_hash::text_hash};
use serde_json::{Map, Value, json};

/// The field of a value with the notes of the API, which is no part of the object.
const NOTES: &str = "opgen";
/// The number of bytes of a digest.
const DIGEST_SIZE: usize = 8;

/// An object as it is stored, without the generation and resourceVersion that follow from its entry.
#[derive(Clone, Debug)]
pub(super) struct StoredObject {
    pub(super) object: Value,
    pub(super) revision: u64,
    /// The digest of the desired state.
    pub(super) digest: String,
    /// Whether another client has changed the desired state since the API wrote it, or the API has never written it.
    pub(super) is_foreign: bool,
    /// In a claim: whether the object has lost its entry, and is in the claim.
    pub(super) is_detached: bool,
}

/// The form of a value of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    /// The value of its entry.
    Entry,
    /// The claim of an object that is in its entry.
    Claim,
    /// The claim of an object that has lost its entry.
    DetachedClaim,
}

/// The value of an entry that is no valid object.
#[derive(Clone, Debug)]
pub(super) struct InvalidValue {
    pub(super) revision: u64,
    /// The uid in its metadata; empty if there is none.
    pub(super) uid: String,
    pub(super) why: String,
}

impl InvalidValue {
    /// Returns the value of an entry that is invalid because of `why`. The uid is read from it if it is JSON.
    pub(super) fn new(entry: &BucketEntry, why: String) -> Self {
        let value: Value = serde_json::from_slice(&entry.value).unwrap_or_default();
        Self { revision: entry.revision, uid: text(&value, &["metadata", "uid"]).to_owned(), why }
    }
}

impl StoredObject {
    /// Decodes the value of an entry. The name and the namespace come from its key, and the field `opgen`, which the API adds to its
    /// values, tells whether another client has changed the desired state since.
    ///
    /// # Errors
    /// The reason, as text, if the value is no JSON object, is of another kind, or has a field of the metadata with a wrong type.
    pub(super) fn decode(kind: &BucketKind, name: &KeyedName, entry: &BucketEntry) -> Result<Self, String> {
        let mut object: Value =
            serde_json::from_slice(&entry.value).map_err(|error| format!("it is no JSON: {error}"))?;
        let Value::Object(fields) = &mut object else { return Err("it is no JSON object".to_owned()) };
        let notes = fields.remove(NOTES).unwrap_or_default();
        let is_other = |value: &Value, expected: &str| !value.is_null() && value != expected;
        let (name_of_kind, api_version) = (kind.kind.kind.as_ref(), kind.kind.api_version());
        let written_kind = fields.insert("kind".to_owned(), name_of_kind.into()).unwrap_or_default();
        let written_version = fields.insert("apiVersion".to_owned(), api_version.into()).unwrap_or_default();
        let written_group = group_of(written_version.as_str().unwrap_or_default());
        if is_other(&written_kind, name_of_kind) || !written_version.is_null() && written_group != kind.kind.group {
            return Err(format!(
                "it is a {written_kind} of {written_version}, and the bucket has objects of {name_of_kind}"
            ));
        }
        if let Some(why) = super::metadata::metadata_type_error(&object) {
            return Err(why);
        }
        let metadata = metadata_mut(&mut object);
        for (field, value) in [("name", &name.name), ("namespace", &name.namespace)] {
            super::object::set(metadata, field, Some(value.as_str().into()).filter(|_| !value.is_empty()));
        }
        ["resourceVersion", "selfLink"].iter().for_each(|field| drop(metadata.remove(*field)));
        let digest = digest(kind, &object);
        let is_foreign = text(&notes, &["digest"]) != digest;
        let is_detached = notes["detached"] == true;
        Ok(Self { object, revision: entry.revision, digest, is_foreign, is_detached })
    }
}

/// Encodes an object as the value of its entry or of its claim, which is the copy of an object with finalizers in a second entry. Adds the
/// field `opgen` with the digest of the desired state, and in a claim whether the object has lost its entry.
pub(super) fn encode(kind: &BucketKind, object: &Value, form: ValueForm) -> Vec<u8> {
    let mut stored = object.clone();
    let metadata = metadata_mut(&mut stored);
    metadata.remove("resourceVersion");
    if form == ValueForm::Claim {
        // `managedFields` are large, and a copy does not need them. A detached claim is not a copy: only the claim has the object.
        metadata.remove("managedFields");
    }
    let mut notes = Map::new();
    if kind.has_generation {
        notes.insert("digest".to_owned(), digest(kind, object).into());
    }
    if form == ValueForm::DetachedClaim {
        notes.insert("detached".to_owned(), json!(true));
    }
    if !notes.is_empty() {
        map_mut(&mut stored).insert(NOTES.to_owned(), Value::Object(notes));
    }
    stored.to_string().into_bytes()
}

/// Returns a digest of the desired state of an object, which does not depend on the order of fields. It is empty for a kind without a
/// generation: there, a change by another client has no effect on the metadata.
fn digest(kind: &BucketKind, object: &Value) -> String {
    if !kind.has_generation {
        return String::new();
    }
    let state = desired_state(object, kind.has_status);
    let state = state.into_iter().map(|(name, value)| format!("{name:?}:{}", sort_keys(value.clone())));
    text_hash(state.collect::<Vec<_>>().iter().map(String::as_str), DIGEST_SIZE)
}
