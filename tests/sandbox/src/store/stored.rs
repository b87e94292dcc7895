//! `Stored`: an object of the store as JSON text with frequently used metadata, and its serialization.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::text::Text;
use crate::{
    json,
    object::{self, Owner},
};

/// Label keys and values.
pub(crate) type Labels = Arc<[(Box<str>, Box<str>)]>;

/// An object: its JSON without `apiVersion` and `kind`, and frequently used metadata.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) uid: Arc<str>,
    /// Its `resourceVersion`.
    pub(crate) version: u64,
    pub(crate) labels: Labels,
    /// The uids of its owners.
    pub(crate) owners: Box<[Arc<str>]>,
    /// Whether it is being deleted.
    pub(crate) deleting: bool,
    /// Whether it was never updated since its creation; false for objects from a data file.
    pub(crate) fresh: bool,
    /// The API version of the JSON.
    pub(crate) api_version: Arc<str>,
    pub(crate) json: Text,
}

/// Frequently used metadata of an object whose JSON is not parsed.
#[derive(Debug)]
pub(crate) struct Heading {
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    pub(crate) labels: Labels,
    pub(crate) api_version: Arc<str>,
}

/// A serialized object without its resourceVersion, which the store assigns.
#[derive(Debug)]
pub(crate) struct Draft {
    stored: Stored,
    text: Vec<u8>,
    /// The position of the resourceVersion.
    version_position: usize,
}

impl Draft {
    /// Serializes an object without `apiVersion` and `kind`, and collects its frequently used metadata.
    pub(crate) fn new(mut object: Value, api_version: &str) -> Self {
        object::metadata_mut(&mut object).insert("resourceVersion".into(), Value::Null);
        let mut text = Vec::with_capacity(1024);
        let version_position = serialize(&mut object, &mut text);
        let labels = object::labels(&object).map(|(key, value)| (key.into(), value.into()));
        let owners = object::owner_uids(&object).map(Into::into);
        let stored = Stored {
            owners: owners.collect(),
            deleting: object::is_deleting(&object),
            fresh: false,
            namespace: object::namespace(&object).into(),
            name: object::name(&object).into(),
            uid: object::uid(&object).into(),
            version: 0,
            labels: labels.collect(),
            api_version: api_version.into(),
            json: Text::Written(Bytes::new()),
        };
        Self { stored, text, version_position }
    }

    /// Returns the object with a resourceVersion, which it inserts into the serialized JSON.
    pub(crate) fn with_version(self, version: u64) -> Stored {
        let (before, after) = self.text.split_at(self.version_position);
        let json = [before, version.to_string().as_bytes(), after].concat();
        Stored { version, json: Text::Written(Bytes::from(json)), ..self.stored }
    }
}

/// Serializes an object without `apiVersion` and `kind`, and with an empty resourceVersion. Returns the position in `text`
/// at which the resourceVersion can be inserted later; 0 if the value is no object.
fn serialize(object: &mut Value, text: &mut Vec<u8>) -> usize {
    let mut version_position = 0;
    let Value::Object(object) = object else { return version_position };
    object.remove("apiVersion");
    object.remove("kind");
    text.push(b'{');
    for (name, value) in object {
        append_field_name(name, text);
        match value {
            Value::Object(metadata) if name == "metadata" => {
                text.push(b'{');
                for (name, value) in metadata {
                    append_field_name(name, text);
                    if name == "resourceVersion" {
                        text.push(b'"');
                        version_position = text.len();
                        text.push(b'"');
                    } else {
                        json::append(text, value);
                    }
                }
                text.push(b'}');
            }
            value => json::append(text, value),
        }
    }
    text.push(b'}');
    version_position
}

/// Appends `"name":`, after a comma if it is not the first field.
fn append_field_name(name: &str, text: &mut Vec<u8>) {
    if text.last() != Some(&b'{') {
        text.push(b',');
    }
    json::append(text, name);
    text.push(b':');
}

impl Stored {
    /// Serializes an object with a resourceVersion.
    pub(crate) fn new(object: Value, version: u64, api_version: &str) -> Self {
        Draft::new(object, api_version).with_version(version)
    }

    /// Returns an object without owners, whose frequently used metadata is known without parsing its JSON.
    pub(crate) fn from_heading(heading: &Heading, version: u64, uid: Arc<str>, json: Text) -> Self {
        Self {
            namespace: heading.namespace.into(),
            name: heading.name.into(),
            uid,
            version,
            labels: heading.labels.clone(),
            owners: Box::default(),
            deleting: false,
            fresh: false,
            api_version: heading.api_version.clone(),
            json,
        }
    }

    /// Parses an object from its JSON; `None` if it is invalid or has no version.
    pub(super) fn from_json(json: &[u8], api_version: &str) -> Option<Self> {
        let object: Value = serde_json::from_slice(json).ok()?;
        let version = object::version(&object)?.parse().ok()?;
        Some(Self::new(object, version, api_version))
    }

    /// Returns the value of a label; `None` if the object does not have it.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| **label == *key).map(|(_, value)| &**value)
    }

    /// Returns the owner references. Parses only this part of the JSON, and nothing if the object has no owners.
    pub(crate) fn owners(&self) -> Vec<Owner> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Metadata {
            owner_references: Vec<Value>,
        }
        if self.owners.is_empty() {
            return Vec::new();
        }
        let object: Object = serde_json::from_slice(&self.json).unwrap_or_default();
        object.metadata.owner_references.iter().map(object::owner).collect()
    }

    /// Returns the key in list order, `namespace/name` as in etcd.
    pub(crate) fn key(&self) -> String {
        key(&self.namespace, &self.name)
    }
}

/// Returns `namespace/name`, or the name alone for a cluster-scoped object.
pub(crate) fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_version_of_a_draft_is_inserted_into_its_json() {
        let similar_text = json!({"resourceVersion": "\"", "metadata": {"resourceVersion": null}});
        let data = json!({"a": similar_text.to_string(), "z": "{"});
        for metadata in
            [json!({"name": "a", "uid": "u"}), json!({"name": "a", "uid": "u", "resourceVersion": "7"}), json!({})]
        {
            let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": metadata});
            let stored = Draft::new(object.clone(), "v1").with_version(12_345);
            object["metadata"]["resourceVersion"] = "12345".into();
            object.as_object_mut().unwrap().retain(|name, _| name != "apiVersion" && name != "kind");
            assert_eq!(stored.version, 12_345);
            assert_eq!(*stored.json, object.to_string());
        }
        assert_eq!(*Draft::new(Value::Null, "").with_version(3).json, r#"{"metadata":{"resourceVersion":"3"}}"#);
    }
}
