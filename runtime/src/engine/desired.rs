//! Completes an object from a build function with owner, label, annotations and a digest of its content, ready for server-side apply.

use crate::{
    cache::{ObjectKey, Uid},
    client::{Target, strip_nulls},
    engine::{
        applied_mark::{APPLIED_ANNOTATION, AppliedMark, applied_mark},
        identity::{Identity, OwnerNaming},
        owner_mark::OWNER_ANNOTATION,
        plain::{is_plain, paths_hash},
    },
    error::{Error, Result},
    kind::Kind,
};
use k8s_openapi::ByteString;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The label of all children of an operator, by which its watches select them; the value is the operator's name.
///
/// Source: the recommended labels of Kubernetes.
pub(crate) const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";
/// The annotation with the path of the tree node that applied a child.
pub(crate) const NODE_ANNOTATION: &str = "opgen.dev/node";

/// The complete desired state of one child, as it is applied.
#[derive(Clone, Debug)]
pub(crate) struct Desired {
    /// The kind in the version of the node's type. The cache of the kind may have another version.
    pub(crate) kind: Kind,
    /// The path of the node that built it.
    pub(crate) node: Arc<str>,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) object: Value,
    /// The applied mark: it has the digest of the object without this annotation and without its `apiVersion`.
    pub(crate) digest: String,
}

/// Metadata that the API server sets; it is no part of a desired state.
const SERVER_SET_METADATA: [&str; 6] =
    ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"];

impl Desired {
    /// Completes an object that a node has built: removes nulls, the status and the metadata that the API server sets, and adds
    /// type, name and namespace (by default the owner's), the owner, the operator's label and annotations, and the digest.
    ///
    /// The digest leaves out the version of the kind: the same content in another version is the same desired state. It has the
    /// version of the owner, whose references must name a version that the API server still serves: the garbage collector can't
    /// look up an owner in another one.
    ///
    /// # Errors
    /// A terminal error if the value is no object, or if it needs a namespace and neither it nor the owner has one.
    pub(crate) fn new(object: Value, kind: &Kind, node: &Arc<str>, owner: &Identity, operator: &str) -> Result<Self> {
        let Value::Object(mut object) = strip_nulls(object) else {
            return Err(Error::terminal("InvalidChild", format!("node {node} did not build an object")));
        };
        object.remove("status");
        object.insert("kind".into(), kind.kind.clone().into());
        if kind.kind == "Secret" && kind.group.is_empty() {
            move_string_data(&mut object);
        }
        let mut metadata = match object.remove("metadata") {
            Some(Value::Object(metadata)) => metadata,
            _ => Map::new(),
        };
        for field in SERVER_SET_METADATA {
            metadata.remove(field);
        }
        let name = non_empty_text(&metadata, "name").unwrap_or_else(|| owner.name().to_owned());
        let namespace = match (kind.namespaced, non_empty_text(&metadata, "namespace")) {
            (false, _) => None,
            (true, namespace) => {
                Some(namespace.or_else(|| owner.default_namespace().map(str::to_owned)).ok_or_else(|| {
                    let message = format!("{kind} {name} of node {node} needs a namespace, since its owner has none");
                    Error::terminal("InvalidChild", message)
                })?)
            }
        };
        metadata.insert("name".into(), name.clone().into());
        match &namespace {
            Some(namespace) => drop(metadata.insert("namespace".into(), namespace.clone().into())),
            None => drop(metadata.remove("namespace")),
        }
        insert_entry(&mut metadata, "labels", MANAGED_BY_LABEL, operator.into());
        insert_entry(&mut metadata, "annotations", NODE_ANNOTATION, (**node).into());
        add_owner(&mut metadata, owner, namespace.as_deref());
        object.insert("metadata".into(), Value::Object(metadata));

        let key = ObjectKey::new(namespace.as_deref(), &name);
        // While the digest is computed, `apiVersion` is only the group, so that the digest does not depend on the version.
        object.insert("apiVersion".into(), kind.group.clone().into());
        let content = Value::Object(object.clone());
        let paths_hash = is_plain(kind, &content).then(|| paths_hash(&content));
        let digest = applied_mark(&digest(&content), &owner.uid, &key, paths_hash.as_deref());
        object.insert("apiVersion".into(), kind.api_version().into());
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            insert_entry(metadata, "annotations", APPLIED_ANNOTATION, digest.clone().into());
        }
        Ok(Self { kind: kind.clone(), node: node.clone(), namespace, name, object: Value::Object(object), digest })
    }
}

impl Desired {
    /// Returns whether the object is plain: written without apply, as far as possible.
    pub(crate) fn is_plain(&self) -> bool {
        AppliedMark::paths_hash(&self.digest).is_some()
    }

    /// Returns the object as the target of a request, in the version of its content.
    pub(crate) fn target(&self) -> Target<'_> {
        Target { kind: &self.kind, namespace: self.namespace.as_deref(), name: &self.name }
    }

    pub(crate) fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace.as_deref(), &self.name)
    }

    /// Returns the object reduced to the marks of the operator: label, annotations and the reference to `owner`. It is applied to an
    /// object whose content the operator must not change.
    pub(crate) fn marks(&self, owner: &Uid) -> Value {
        let (object, metadata) = (&self.object, &self.object["metadata"]);
        let only = |map: &str, names: &[&str]| -> Map<String, Value> {
            let entries = metadata[map].as_object().into_iter().flatten();
            entries.filter(|(name, _)| names.contains(&name.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect()
        };
        let mut marks = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": {
                "name": self.name,
                "labels": only("labels", &[MANAGED_BY_LABEL]),
                "annotations": only("annotations", &[NODE_ANNOTATION, APPLIED_ANNOTATION, OWNER_ANNOTATION]),
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

/// Adds the owner to the metadata of a child in `namespace`: an owner reference, or the annotation with the owner mark if the owner is
/// named by a mark or the API allows no reference: from a child in another namespace than the owner, or from a cluster-scoped child to a
/// namespaced owner.
pub(crate) fn add_owner(metadata: &mut Map<String, Value>, owner: &Identity, namespace: Option<&str>) {
    if owner.naming != OwnerNaming::Reference || (owner.namespace().is_some() && owner.namespace() != namespace) {
        return insert_entry(metadata, "annotations", OWNER_ANNOTATION, owner.mark().into());
    }
    // Without `blockOwnerDeletion`: teardown has its own order, and the field requires a permission on finalizers.
    let reference = json!({
        "apiVersion": owner.kind.api_version(), "kind": owner.kind.kind, "name": owner.name(), "uid": owner.uid.to_string(),
        "controller": true,
    });
    match metadata.entry("ownerReferences").or_insert_with(|| json!([])) {
        Value::Array(references) => references.push(reference),
        other => *other = json!([reference]),
    }
}

/// Returns a text of the metadata; `None` if it is absent or empty.
fn non_empty_text(metadata: &Map<String, Value>, name: &str) -> Option<String> {
    metadata.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Inserts one entry into a map field of an object, and creates the map if it is missing.
fn insert_entry(object: &mut Map<String, Value>, map: &str, name: &str, value: Value) {
    let mut entries = match object.remove(map) {
        Some(Value::Object(entries)) => entries,
        _ => Map::new(),
    };
    entries.insert(name.to_owned(), value);
    object.insert(map.to_owned(), Value::Object(entries));
}

/// Moves `stringData` of a Secret to `data`, as the API server does on a write. Otherwise the operator would not own the fields of
/// `data`.
pub(crate) fn move_string_data(object: &mut Map<String, Value>) {
    let Some(Value::Object(strings)) = object.remove("stringData") else { return };
    for (name, value) in strings {
        if let Value::String(text) = value {
            insert_entry(object, "data", &name, json!(ByteString(text.into_bytes())));
        }
    }
}

/// Returns the SHA-256 of a JSON value, shortened to 12 bytes. It is independent of the order of keys, and stable across builds
/// and releases.
pub(crate) fn digest(value: &Value) -> String {
    let mut hasher = Sha256::new();
    update_hash(value, &mut hasher);
    hasher.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes a value with delimiters, and the fields of objects sorted by name.
fn update_hash(value: &Value, hasher: &mut Sha256) {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| name.as_str());
            hasher.update(b"{");
            for (name, value) in fields {
                update_hash_with_text(name, hasher);
                update_hash(value, hasher);
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| update_hash(item, hasher));
            hasher.update(b"]");
        }
        Value::String(text) => update_hash_with_text(text, hasher),
        scalar => hasher.update(scalar.to_string()),
    }
    hasher.update(b",");
}

/// Hashes a text with its length in front, so that adjacent texts can't run together.
fn update_hash_with_text(text: &str, hasher: &mut Sha256) {
    hasher.update(text.len().to_le_bytes());
    hasher.update(text);
}

#[cfg(test)]
mod tests;
