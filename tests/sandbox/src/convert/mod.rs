//! The versions of a custom kind, and the two forms of events: objects are kept in one and served in each.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::Value;

use crate::{
    kind::{Custom, Kind},
    schema,
    store::Stored,
};

pub(crate) mod event;

impl Stored {
    /// The object in the version of a kind. What its schema has defaults for by now is filled in.
    pub(crate) fn object(&self, kind: &Kind) -> Value {
        let mut object: Value = serde_json::from_slice(&self.json).unwrap_or_default();
        if let Some(custom) = kind.custom()
            && !self.is_current(kind)
        {
            read(self, kind, custom, &mut object);
        } else if event::is_other_form(kind) {
            event::read(&mut object);
        }
        name(&mut object, kind);
        object
    }

    /// The JSON of the object in the version of a kind, without its type: as it is kept, if it is that.
    pub(crate) fn text(&self, kind: &Kind) -> Bytes {
        if self.is_current(kind) {
            return self.json.clone();
        }
        let mut object = self.object(kind);
        if let Value::Object(map) = &mut object {
            map.remove("apiVersion");
            map.remove("kind");
        }
        Bytes::from(object.to_string())
    }

    /// Whether the object is kept just as the kind shows it.
    pub(crate) fn is_current(&self, kind: &Kind) -> bool {
        let Some(custom) = kind.custom() else { return !event::is_other_form(kind) };
        let version = self.api_version.rsplit('/').next().unwrap_or_default();
        version == kind.version && self.version >= custom.since
    }
}

impl Kind {
    /// An object of this version as it is kept, and in which version.
    pub(crate) fn kept(&self, mut object: Value) -> (Value, Cow<'_, str>) {
        if event::is_other_form(self) {
            event::keep(&mut object);
            return (object, "v1".into());
        }
        let Some(custom) = self.custom().filter(|custom| custom.storage_version != self.version) else {
            return (object, self.api_version().into());
        };
        if let Some(schema) = custom.versions.get(&custom.storage_version) {
            schema::prune(schema, &mut object);
        }
        (object, format!("{}/{}", self.group, custom.storage_version).into())
    }
}

/// Completed by the version that it is kept in, cut to the version that is asked for.
fn read(stored: &Stored, kind: &Kind, custom: &Custom, object: &mut Value) {
    let version = stored.api_version.rsplit('/').next().unwrap_or_default();
    if let Some(schema) = custom.versions.get(version) {
        schema::prune(schema, object);
        schema::default(schema, object);
    }
    if version != kind.version {
        schema::prune(kind.schema(), object);
    }
}

fn name(object: &mut Value, kind: &Kind) {
    if let Value::Object(map) = object {
        map.insert("apiVersion".into(), kind.api_version().into());
        map.insert("kind".into(), kind.kind.clone().into());
    }
}
