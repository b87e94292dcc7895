//! From what a build function gave to what is applied.

use crate::{
    cache::{ObjectKey, Uid},
    client::strip_nulls,
    engine::{identity::Identity, owner_mark::OWNER},
    error::{Error, Result},
    kind::Kind,
};
use k8s_openapi::ByteString;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The label by which an operator finds what it made; its value is the operator's name.
///
/// Source: the recommended labels of Kubernetes.
pub(crate) const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The node of the tree that made an object.
pub(crate) const NODE: &str = "opgen.dev/node";
/// A digest of what was applied last.
pub(crate) const APPLIED: &str = "opgen.dev/applied";

/// One object as it is to be applied.
#[derive(Clone, Debug)]
pub(crate) struct Desired {
    /// The node that built it.
    pub(crate) node: Arc<str>,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) object: Value,
    /// Digest of the object; it is in its annotations, too.
    pub(crate) digest: String,
}

impl Desired {
    /// Fills in what every child has: name and namespace of its owner unless it has its own, the owner, label, marks.
    pub(crate) fn new(object: Value, kind: &Kind, node: &Arc<str>, owner: &Identity, operator: &str) -> Result<Self> {
        let Value::Object(mut object) = strip_nulls(object) else {
            return Err(Error::terminal("InvalidChild", format!("node {node} did not build an object")));
        };
        object.remove("status");
        object.insert("apiVersion".into(), kind.api_version().into());
        object.insert("kind".into(), kind.kind.clone().into());
        if kind.kind == "Secret" && kind.group.is_empty() {
            data_from_string_data(&mut object);
        }
        let mut metadata = match object.remove("metadata") {
            Some(Value::Object(metadata)) => metadata,
            _ => Map::new(),
        };
        for servers in ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"] {
            metadata.remove(servers);
        }
        let name = text(&metadata, "name").unwrap_or_else(|| owner.name().to_owned());
        let namespace = match (kind.namespaced, text(&metadata, "namespace")) {
            (false, _) => None,
            (true, own) => Some(own.or_else(|| owner.home().map(str::to_owned)).ok_or_else(|| {
                let message = format!("{kind} {name} of node {node} needs a namespace, since its owner has none");
                Error::terminal("InvalidChild", message)
            })?),
        };
        metadata.insert("name".into(), name.clone().into());
        match &namespace {
            Some(namespace) => drop(metadata.insert("namespace".into(), namespace.clone().into())),
            None => drop(metadata.remove("namespace")),
        }
        put(&mut metadata, "labels", MANAGED_BY, operator.into());
        put(&mut metadata, "annotations", NODE, (**node).into());
        own(&mut metadata, owner, namespace.as_deref());
        object.insert("metadata".into(), Value::Object(metadata));

        let digest = digest(&Value::Object(object.clone()));
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            put(metadata, "annotations", APPLIED, digest.clone().into());
        }
        Ok(Self { node: node.clone(), namespace, name, object: Value::Object(object), digest })
    }
}

impl Desired {
    pub(crate) fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace.as_deref(), &self.name)
    }

    /// The object with nothing but what finds it again: for one whose content is not to be touched.
    pub(crate) fn marks(&self, owner: &Uid) -> Value {
        let (object, metadata) = (&self.object, &self.object["metadata"]);
        let only = |map: &str, names: &[&str]| -> Map<String, Value> {
            let held = metadata[map].as_object().into_iter().flatten();
            held.filter(|(name, _)| names.contains(&name.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect()
        };
        let mut marks = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": {
                "name": self.name,
                "labels": only("labels", &[MANAGED_BY]), "annotations": only("annotations", &[NODE, APPLIED, OWNER]),
            },
        });
        if let Some(namespace) = &self.namespace {
            marks["metadata"]["namespace"] = namespace.clone().into();
        }
        let is_own = |reference: &&Value| reference["uid"].as_str() == Some(owner.to_string().as_str());
        if let Some(own) = metadata["ownerReferences"].as_array().into_iter().flatten().find(is_own) {
            marks["metadata"]["ownerReferences"] = json!([own]);
        }
        marks
    }
}

/// An owner reference where the API allows one, else a mark.
fn own(metadata: &mut Map<String, Value>, owner: &Identity, namespace: Option<&str>) {
    if owner.namespace().is_some() && owner.namespace() != namespace {
        return put(metadata, "annotations", OWNER, owner.mark().into());
    }
    // Without `blockOwnerDeletion`: teardown has its own order, and the field asks for a permission on finalizers.
    let reference = json!({
        "apiVersion": owner.kind.api_version(), "kind": owner.kind.kind, "name": owner.name(), "uid": owner.uid.to_string(),
        "controller": true,
    });
    match metadata.entry("ownerReferences").or_insert_with(|| json!([])) {
        Value::Array(references) => references.push(reference),
        other => *other = json!([reference]),
    }
}

fn text(metadata: &Map<String, Value>, name: &str) -> Option<String> {
    metadata.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Writes one entry of a map that may not be there yet.
fn put(object: &mut Map<String, Value>, map: &str, name: &str, value: Value) {
    let mut entries = match object.remove(map) {
        Some(Value::Object(entries)) => entries,
        _ => Map::new(),
    };
    entries.insert(name.to_owned(), value);
    object.insert(map.to_owned(), Value::Object(entries));
}

/// `stringData` is for writing only: the server moves it to `data`, where an apply has to speak of it from the start.
fn data_from_string_data(object: &mut Map<String, Value>) {
    let Some(Value::Object(strings)) = object.remove("stringData") else { return };
    for (name, value) in strings {
        if let Value::String(text) = value {
            put(object, "data", &name, json!(ByteString(text.into_bytes())));
        }
    }
}

/// Equal for equal JSON, whatever the order of its keys, in every build and release.
pub(crate) fn digest(value: &Value) -> String {
    let mut hasher = Sha256::new();
    feed(value, &mut hasher);
    hasher.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

fn feed(value: &Value, hasher: &mut Sha256) {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| name.as_str());
            hasher.update(b"{");
            for (name, value) in fields {
                feed_text(name, hasher);
                feed(value, hasher);
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| feed(item, hasher));
            hasher.update(b"]");
        }
        Value::String(text) => feed_text(text, hasher),
        scalar => hasher.update(scalar.to_string()),
    }
    hasher.update(b",");
}

fn feed_text(text: &str, hasher: &mut Sha256) {
    hasher.update(text.len().to_le_bytes());
    hasher.update(text);
}

#[cfg(test)]
mod tests;
