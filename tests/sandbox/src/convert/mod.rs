//! Converts objects between the stored version and the served versions of their kind.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::{
    kind::{Custom, Kind},
    schema,
    store::Stored,
};

mod builtin;
mod converted;
mod webhook;

pub(crate) use converted::Converted;

impl Stored {
    /// Returns the object in the version of `kind`. A custom resource that was stored in another version, or before its CRD changed, gets
    /// the defaults of the current schema.
    pub(crate) fn object(&self, kind: &Kind) -> Value {
        let mut object: Value = serde_json::from_slice(&self.json).unwrap_or_default();
        match kind.custom() {
            _ if self.is_current(kind) => {}
            Some(custom) => match custom.converted.get(self) {
                Some(Ok(converted)) => object = converted,
                // The strategy is `None`, or the webhook has failed or was not called for this state of the object.
                _ => set_defaults_and_prune(self, kind, custom, &mut object),
            },
            None => builtin::convert(&mut object, kind),
        }
        set_type_meta(&mut object, kind);
        object
    }

    /// Returns the JSON of the object in the version of a kind, without its type; the stored text if no conversion is
    /// needed.
    pub(crate) fn text(&self, kind: &Kind) -> Bytes {
        if self.is_current(kind) {
            return Bytes::clone(&self.json);
        }
        let mut object = self.object(kind);
        if let Value::Object(map) = &mut object {
            map.remove("apiVersion");
            map.remove("kind");
        }
        Bytes::from(object.to_string())
    }

    /// Returns whether the stored JSON can be served for `kind` as it is: it has the version of `kind`, and was written under the
    /// current schema.
    pub(crate) fn is_current(&self, kind: &Kind) -> bool {
        kind.custom().is_none_or(|custom| self.version >= custom.since) && self.has_version_of(kind)
    }

    /// Returns whether the object is stored in the version of the kind.
    fn has_version_of(&self, kind: &Kind) -> bool {
        let (group, version) = self.api_version.split_once('/').unwrap_or(("", &self.api_version));
        version == kind.version && group == kind.group
    }

    /// Returns whether the object is stored in the version in which the kind is stored now.
    pub(crate) fn has_storage_version_of(&self, kind: &Kind) -> bool {
        kind.custom().is_none_or(|custom| self.api_version.rsplit('/').next() == Some(custom.storage_version.as_str()))
    }

    /// Returns the object in its stored version, with the defaults of its schema.
    fn in_stored_version(&self, kind: &Kind, custom: &Custom) -> Value {
        let mut object: Value = serde_json::from_slice(&self.json).unwrap_or_default();
        complete_as_stored(self, custom, &mut object);
        if let Value::Object(map) = &mut object {
            map.insert("apiVersion".into(), (*self.api_version).into());
            map.insert("kind".into(), kind.kind.clone().into());
        }
        object
    }

    /// Returns the metadata, which is the same in all versions.
    fn metadata(&self) -> Map<String, Value> {
        let mut object: Value = serde_json::from_slice(&self.json).unwrap_or_default();
        match object["metadata"].take() {
            Value::Object(metadata) => metadata,
            _ => Map::new(),
        }
    }

    /// Returns the object to store, and its API version, after a change of the metadata only. `next` is the changed object in the version
    /// of `kind`. A custom resource that is stored in another version keeps its stored version, since only its metadata is replaced.
    pub(crate) fn with_metadata_of<'a>(&'a self, kind: &'a Kind, mut next: Value) -> (Value, Cow<'a, str>) {
        if kind.custom().is_none() || self.has_version_of(kind) {
            return kind.for_storage(next);
        }
        let mut object: Value = serde_json::from_slice(&self.json).unwrap_or_default();
        object["metadata"] = next["metadata"].take();
        (object, Cow::Borrowed(&*self.api_version))
    }
}

impl Kind {
    /// Converts an object from the version of this kind to the storage version, by pruning; returns the object and its new API version.
    pub(crate) fn for_storage(&self, object: Value) -> (Value, Cow<'_, str>) {
        match self.custom().filter(|custom| custom.storage_version != self.version) {
            Some(custom) => self.prune_for_storage(custom, object),
            None => (object, self.api_version().into()),
        }
    }

    /// Removes the fields that the schema of the storage version lacks; returns the object and its new API version.
    fn prune_for_storage(&self, custom: &Custom, mut object: Value) -> (Value, Cow<'_, str>) {
        if let Some(schema) = custom.versions.get(&custom.storage_version) {
            schema::prune(schema, &mut object);
        }
        (object, format!("{}/{}", self.group, custom.storage_version).into())
    }
}

/// Converts a custom resource without a webhook: sets the defaults of the stored version, and prunes the object to the version of `kind`.
fn set_defaults_and_prune(stored: &Stored, kind: &Kind, custom: &Custom, object: &mut Value) {
    complete_as_stored(stored, custom, object);
    if !stored.has_version_of(kind) {
        schema::prune(kind.schema(), object);
    }
}

/// Prunes the object to the schema of its stored version, and sets the defaults of that schema.
fn complete_as_stored(stored: &Stored, custom: &Custom, object: &mut Value) {
    let version = stored.api_version.rsplit('/').next().unwrap_or_default();
    if let Some(schema) = custom.versions.get(version) {
        schema::prune(schema, object);
        schema::default(schema, object);
    }
}

/// Sets `apiVersion` and `kind`.
fn set_type_meta(object: &mut Value, kind: &Kind) {
    if let Value::Object(map) = object {
        map.insert("apiVersion".into(), kind.api_version().into());
        map.insert("kind".into(), kind.kind.clone().into());
    }
}
