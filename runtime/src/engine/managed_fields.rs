//! Moves fields between the managers in `managedFields` of an object.

use serde_json::{Map, Value, json};

/// Removes all fields from an entry of `managedFields` if its manager is one of `managers`, and returns these fields; returns an empty set
/// for another manager.
pub(crate) fn take_all_fields(entry: &mut Value, managers: &[&str]) -> Value {
    let is_named = managers.iter().any(|name| entry["manager"] == *name);
    if is_named { std::mem::replace(&mut entry["fieldsV1"], json!({})) } else { json!({}) }
}

/// Returns the JSON patch that moves fields of other managers to the operator's apply in `managedFields`; `None` if none move.
///
/// `take` removes the fields to move from an entry of another manager and returns them. The patch names the resourceVersion, so
/// the API server refuses it if another client has written since the object was read.
pub(crate) fn transfer_patch(object: &Value, operator: &str, take: impl Fn(&mut Value) -> Value) -> Option<Value> {
    let is_main = |entry: &Value| entry["subresource"].as_str().unwrap_or_default().is_empty();
    let is_own = |entry: &Value| is_main(entry) && entry["manager"] == operator && entry["operation"] == "Apply";
    let is_empty = |fields: &Value| fields.as_object().is_some_and(Map::is_empty);
    let (mut own_entries, mut others): (Vec<Value>, Vec<Value>) =
        object["metadata"]["managedFields"].as_array()?.iter().cloned().partition(is_own);
    let mut own_entry = own_entries.pop();
    let mut any_moved = false;
    // Keeps an entry unless all of its fields move.
    others.retain_mut(|entry| {
        if !is_main(entry) {
            return true;
        }
        let moved = take(entry);
        if is_empty(&moved) {
            return true;
        }
        any_moved = true;
        let (version, time) = (&entry["apiVersion"], &entry["time"]);
        let own_entry = own_entry.get_or_insert_with(|| {
            let mut new_entry = json!({
                "manager": operator, "operation": "Apply", "apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": {},
            });
            if !time.is_null() {
                new_entry["time"] = time.clone();
            }
            new_entry
        });
        merge_fields(&mut own_entry["fieldsV1"], &moved);
        !is_empty(&entry["fieldsV1"])
    });
    let entries: Vec<Value> = others.into_iter().chain(own_entry).collect();
    any_moved.then(|| {
        json!([
            {"op": "replace", "path": "/metadata/managedFields", "value": entries},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": object["metadata"]["resourceVersion"]},
        ])
    })
}

/// Adds the fields of `other` to `into`. Both are sets in the form `fieldsV1`, which are maps of maps.
fn merge_fields(into: &mut Value, other: &Value) {
    let Value::Object(other) = other else { return };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    if let Value::Object(into) = into {
        for (field, nested) in other {
            merge_fields(into.entry(field.clone()).or_insert_with(|| json!({})), nested);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    #[test]
    fn the_fields_of_the_named_managers_become_the_operators() {
        let status =
            json!({"manager": "helm", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}});
        let object = json!({"metadata": {"managedFields": [
            entry("helm", "Update", json!({"f:data": {"f:a": {}, ".": {}}})),
            entry("kubectl", "Update", json!({"f:data": {"f:b": {}}})),
            entry("web", "Apply", json!({"f:data": {"f:c": {}}})),
            status,
        ]}});
        let expected = json!([
            entry("kubectl", "Update", json!({"f:data": {"f:b": {}}})),
            status.clone(),
            entry("web", "Apply", json!({"f:data": {"f:a": {}, ".": {}, "f:c": {}}})),
        ]);
        let patch = transfer_patch(&object, "web", |entry| take_all_fields(entry, &["helm"]));
        assert_eq!(patch.map(|patch| patch[0]["value"].clone()), Some(expected));
    }

    #[test]
    fn nothing_is_taken_from_managers_that_hold_nothing() {
        let object = json!({"metadata": {"managedFields": [entry("kubectl", "Update", json!({"f:data": {}}))]}});
        assert_eq!(transfer_patch(&object, "web", |entry| take_all_fields(entry, &["helm"])), None);
        assert_eq!(transfer_patch(&json!({}), "web", |entry| take_all_fields(entry, &["helm"])), None);
    }
}
