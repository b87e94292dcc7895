//! Validates the metadata of objects by the rules and the schema of Kubernetes.

use super::object::{at, finalizers, text};
use crate::dns_name::is_dns_subdomain;
use opgen_schema::{Cause, Schema, parse_schema};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The maximum length of the name in a label, an annotation or a finalizer, and of the value of a label.
const MAX_NAME: usize = 63;

/// The schema of an object that has the metadata of Kubernetes in the field `of`, since [`parse_schema`] adds `apiVersion`, `kind` and
/// `metadata` to the schema that it parses. The fields of the metadata that are not here are scalars.
static METADATA: LazyLock<Schema> = LazyLock::new(|| {
    let (text, map) =
        (json!({"type": "string"}), json!({"type": "object", "additionalProperties": {"type": "string"}}));
    let owner = json!({"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"uid": text}});
    let metadata = json!({"type": "object", "properties": {
        "name": text, "generateName": text, "namespace": text, "selfLink": text, "uid": text, "resourceVersion": text,
        "generation": {"type": "integer"}, "creationTimestamp": text, "deletionTimestamp": text,
        "deletionGracePeriodSeconds": {"type": "integer"}, "labels": map, "annotations": map,
        "finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
        "ownerReferences": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"], "items": owner,
        },
        "managedFields": {"type": "array", "items": {"type": "object"}},
    }});
    parse_schema(&json!({"type": "object", "properties": {"of": metadata}}), None)
});

/// Returns the schema of the metadata of objects.
pub(super) fn metadata_schema() -> &'static Schema {
    METADATA.field("of").unwrap_or(&METADATA)
}

/// Returns a message about the first field of the metadata of an object whose JSON type is wrong; `None` if all types are right.
pub(super) fn metadata_type_error(object: &Value) -> Option<String> {
    let metadata = at(object, &["metadata"])?;
    let Some(metadata) = metadata.as_object() else { return Some("metadata is no object".to_owned()) };
    let is_text_map = |value: &Value| {
        value.as_object().is_some_and(|map| map.values().all(|text| text.is_string() || text.is_null()))
    };
    let is_list =
        |value: &Value, is_item: fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(is_item));
    for (name, value) in metadata.iter().filter(|(_, value)| !value.is_null()) {
        let is_valid = match name.as_str() {
            "labels" | "annotations" => is_text_map(value),
            "finalizers" => is_list(value, Value::is_string),
            "ownerReferences" | "managedFields" => is_list(value, Value::is_object),
            "generation" | "deletionGracePeriodSeconds" => value.is_i64() || value.is_u64(),
            "name" | "generateName" | "namespace" | "uid" | "resourceVersion" | "creationTimestamp"
            | "deletionTimestamp" => value.is_string(),
            _ => true,
        };
        if !is_valid {
            return Some(format!("metadata.{name} has the wrong type: {value}"));
        }
    }
    None
}

/// Returns the errors of the metadata of an object: name, labels, annotations, finalizers and owner references.
pub(super) fn metadata_causes(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = text(object, &["metadata", "name"]);
    if name.is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
    } else if !is_dns_subdomain(name) {
        let why = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'";
        causes.push(Cause::invalid("metadata.name", &name.into(), why));
    }
    let entries = |field: &str| at(object, &["metadata", field]).and_then(Value::as_object).into_iter().flatten();
    for (field, is_label) in [("labels", true), ("annotations", false)] {
        let path = format!("metadata.{field}");
        for (key, value) in entries(field) {
            if !is_qualified_name(key) {
                causes.push(Cause::invalid(&path, &key.as_str().into(), NAME_FORM));
            }
            if is_label && value.as_str().is_some_and(|value| !value.is_empty() && !is_name(value)) {
                causes.push(Cause::invalid(&path, value, NAME_FORM));
            }
        }
    }
    for finalizer in finalizers(object).filter(|finalizer| !is_qualified_name(finalizer)) {
        causes.push(Cause::invalid("metadata.finalizers", &finalizer.into(), NAME_FORM));
    }
    let owners = at(object, &["metadata", "ownerReferences"]).and_then(Value::as_array);
    for owner in owners.into_iter().flatten() {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if text(owner, &[field]).is_empty() {
                let path = format!("metadata.ownerReferences.{field}");
                causes.push(Cause::invalid(path, &"".into(), "must not be empty"));
            }
        }
    }
    causes
}

/// The rule of qualified names and of the values of labels.
const NAME_FORM: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character; it has at most 63 characters";

/// Returns whether a text is a name with an optional DNS prefix: `example.com/name`.
fn is_qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_name(name),
        None => is_name(text),
    }
}

/// Returns whether a text is a name as [`NAME_FORM`] requires it.
fn is_name(text: &str) -> bool {
    let is_alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    text.len() <= MAX_NAME
        && is_alphanumeric(text.as_bytes().first())
        && is_alphanumeric(text.as_bytes().last())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
