//! Defines a stored object and its serialization.

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
    gap: usize,
}

impl Draft {
    pub(crate) fn new(mut object: Value, api_version: &str) -> Self {
        object::metadata_mut(&mut object).insert("resourceVersion".into(), Value::Null);
        let mut text = Vec::with_capacity(1024);
        let gap = write(&mut object, &mut text);
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
        Self { stored, text, gap }
    }

    /// The object with a resourceVersion.
    pub(crate) fn at(self, version: u64) -> Stored {
        let (before, after) = self.text.split_at(self.gap);
        let json = [before, version.to_string().as_bytes(), after].concat();
        Stored { version, json: Text::Written(Bytes::from(json)), ..self.stored }
    }
}

/// Serializes an object without its type; returns the position of the resourceVersion.
fn write(object: &mut Value, text: &mut Vec<u8>) -> usize {
    let mut gap = 0;
    let Value::Object(object) = object else { return gap };
    object.remove("apiVersion");
    object.remove("kind");
    text.push(b'{');
    for (name, value) in object {
        begin(name, text);
        match value {
            Value::Object(metadata) if name == "metadata" => {
                text.push(b'{');
                for (name, value) in metadata {
                    begin(name, text);
                    if name == "resourceVersion" {
                        text.push(b'"');
                        gap = text.len();
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
    gap
}

/// Writes `"name":`, after a comma if it is not the first.
fn begin(name: &str, text: &mut Vec<u8>) {
    if text.last() != Some(&b'{') {
        text.push(b',');
    }
    json::append(text, name);
    text.push(b':');
}

impl Stored {
    pub(crate) fn new(object: Value, version: u64, api_version: &str) -> Self {
        Draft::new(object, api_version).at(version)
    }

    /// An object without owners from its heading.
    pub(crate) fn headed(heading: &Heading, version: u64, uid: Arc<str>, json: Text) -> Self {
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

    /// An object from its JSON; `None` if it has no version.
    pub(super) fn from_json(json: &[u8], api_version: &str) -> Option<Self> {
        let object: Value = serde_json::from_slice(json).ok()?;
        let version = object::version(&object)?.parse().ok()?;
        Some(Self::new(object, version, api_version))
    }

    /// The value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(own, _)| **own == *key).map(|(_, value)| &**value)
    }

    /// Its owners, parsed without the rest.
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

    /// The key in list order, `namespace/name` as in etcd.
    pub(crate) fn key(&self) -> String {
        key(&self.namespace, &self.name)
    }
}

/// `namespace/name`, or the name alone.
pub(crate) fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_draft_is_written_with_the_version_that_it_gets() {
        let resembling = json!({"resourceVersion": "\"", "metadata": {"resourceVersion": null}});
        let data = json!({"a": resembling.to_string(), "z": "{"});
        for metadata in
            [json!({"name": "a", "uid": "u"}), json!({"name": "a", "uid": "u", "resourceVersion": "7"}), json!({})]
        {
            let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": metadata});
            let stored = Draft::new(object.clone(), "v1").at(12_345);
            object["metadata"]["resourceVersion"] = "12345".into();
            object.as_object_mut().unwrap().retain(|name, _| name != "apiVersion" && name != "kind");
            assert_eq!(stored.version, 12_345);
            assert_eq!(*stored.json, object.to_string());
        }
        assert_eq!(*Draft::new(Value::Null, "").at(3).json, r#"{"metadata":{"resourceVersion":"3"}}"#);
    }
}
