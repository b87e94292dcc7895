//! Reads and writes the fields that all objects have.

use serde_json::{Map, Value};

/// An owner reference of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    /// Whether the owner is the controller of the object.
    pub(crate) controller: bool,
    /// Whether the owner's foreground deletion waits for the object (`blockOwnerDeletion`).
    pub(crate) blocks_deletion: bool,
}

/// Returns the text at a path; empty if there is none.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the integer at a path; `None` if there is none.
pub(crate) fn number(value: &Value, path: &[&str]) -> Option<i64> {
    at(value, path).and_then(Value::as_i64)
}

/// Returns the value at a path; `None` also for null.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key)).filter(|value| !value.is_null())
}

/// Returns the map at a path. Creates maps that are missing, and replaces values of other types.
pub(crate) fn map_at<'a>(value: &'a mut Value, path: &[&str]) -> &'a mut Map<String, Value> {
    let mut current = value;
    for key in path {
        current = make_map(current).entry(*key).or_insert_with(|| Value::Object(Map::new()));
    }
    make_map(current)
}

/// Returns the value as a map; replaces a value of another type by an empty map.
fn make_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("it was made a map"),
    }
}

/// Returns the name; empty if there is none.
pub(crate) fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

/// Returns the namespace; empty for cluster-scoped objects.
pub(crate) fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

/// Returns the uid; empty if there is none.
pub(crate) fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

/// Returns the `resourceVersion`; `None` if it is absent or empty.
pub(crate) fn version(object: &Value) -> Option<&str> {
    Some(text(object, &["metadata", "resourceVersion"])).filter(|version| !version.is_empty())
}

/// Returns the `metadata`, created if it is missing.
pub(crate) fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    map_at(object, &["metadata"])
}

/// Returns whether the object is being deleted.
pub(crate) fn is_deleting(object: &Value) -> bool {
    at(object, &["metadata", "deletionTimestamp"]).is_some()
}

/// Returns the finalizers.
pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    let listed = at(object, &["metadata", "finalizers"]).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Replaces the finalizers; removes the field if there are none.
pub(crate) fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    let metadata = metadata_mut(object);
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".into(), finalizers.into());
    }
}

/// Returns the keys and values of the labels.
pub(crate) fn labels(object: &Value) -> impl Iterator<Item = (&str, &str)> {
    let labels = at(object, &["metadata", "labels"]).and_then(Value::as_object);
    labels.into_iter().flatten().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

/// Returns the owner references.
pub(crate) fn owners(object: &Value) -> Vec<Owner> {
    let listed = at(object, &["metadata", "ownerReferences"]).and_then(Value::as_array);
    listed.into_iter().flatten().map(owner).collect()
}

/// Parses an owner reference.
pub(crate) fn owner(reference: &Value) -> Owner {
    let field_text = |field: &str| text(reference, &[field]).to_owned();
    Owner {
        api_version: field_text("apiVersion"),
        kind: field_text("kind"),
        name: field_text("name"),
        uid: field_text("uid"),
        controller: reference["controller"] == true,
        blocks_deletion: reference["blockOwnerDeletion"] == true,
    }
}

/// Returns the uids of the owners.
pub(crate) fn owner_uids(object: &Value) -> impl Iterator<Item = &str> {
    let listed = at(object, &["metadata", "ownerReferences"]).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(|owner| owner["uid"].as_str())
}

/// Returns whether two objects are equal, apart from the metadata fields in `ignored_metadata`.
pub(crate) fn same_but_for(a: &Value, b: &Value, ignored_metadata: &[&str]) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return a == b };
    fields_without(Some(a), &["metadata"]).eq(fields_without(Some(b), &["metadata"]))
        && fields_without(metadata(a), ignored_metadata).eq(fields_without(metadata(b), ignored_metadata))
}

/// Returns the metadata of an object; `None` if it has none.
fn metadata(object: &Map<String, Value>) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

/// Iterates over the fields of a map except for the excluded ones.
fn fields_without<'a>(
    map: Option<&'a Map<String, Value>>,
    excluded: &[&str],
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    map.into_iter().flatten().filter(move |(name, _)| !excluded.contains(&name.as_str()))
}

/// Returns the value at a path like `spec.replicas`; `None` also for null.
pub(crate) fn at_path<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let path: Vec<&str> = path.split('.').collect();
    at(object, &path)
}

/// Sets a field; removes it if the value is `None`.
pub(crate) fn set(map: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    match value {
        Some(value) => map.insert(key.to_owned(), value),
        None => map.remove(key),
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_compared_without_the_ignored_metadata() {
        let object = json!({"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"resourceVersion": "1"}});
        let is_same_after_change_of = |pointer: &str| {
            let mut other = object.clone();
            if let Some(field) = other.pointer_mut(pointer) {
                *field = "2".into();
            }
            same_but_for(&object, &other, &["resourceVersion"])
        };
        assert!(is_same_after_change_of("/metadata/resourceVersion"));
        assert!(!is_same_after_change_of("/metadata/name"));
        assert!(!is_same_after_change_of("/spec/resourceVersion"));
        assert!(!same_but_for(&object, &json!({"metadata": object["metadata"]}), &["resourceVersion"]));
        assert!(same_but_for(&json!(1), &json!(1), &[]) && !same_but_for(&json!(1), &object, &[]));
    }
}
