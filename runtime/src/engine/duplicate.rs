//! Removes list items of other field managers that collide with wanted items, so that the object can be applied again.
//!
//! Some lists identify their items by keys: the ports of a Service by number and protocol. If another client changes the key of
//! an item, the list has an item that the operator does not apply, and the next apply adds the wanted item beside it. If the two
//! are not allowed in one list (two ports with one name, or without one), the API server refuses each apply. Then the operator
//! becomes the manager of the colliding item, and its next apply removes the item. Items that collide with none stay: another
//! client may want them.

use crate::{
    cache::ObjectKey,
    client::CallError,
    engine::{desired::Desired, field_ownership::matches_key, managed_fields::transfer_patch, pass::PassCore},
    error::{Error, Result},
    informer::watch::WatchedKind,
};
use kube::api::Patch;
use serde_json::{Map, Value, json};

impl PassCore<'_> {
    /// Takes over list items of other clients that collide with wanted items, after the API server has refused an apply with `error`: reads
    /// the live object, and moves the items to the operator in its `managedFields`, so that the next apply removes them. Returns whether it
    /// moved any, so that the caller applies the object again. For errors other than duplicate or missing fields it does nothing.
    pub(crate) async fn take_duplicates<V>(
        &self,
        children: &WatchedKind<V>,
        desired: &Desired,
        error: &Error,
    ) -> Result<bool> {
        let Error::Unexpected(source) = error else { return Ok(false) };
        let fields =
            source.downcast_ref::<CallError>().map(CallError::duplicate_or_required_fields).unwrap_or_default();
        if fields.is_empty() {
            return Ok(false);
        }
        let target = desired.target();
        let Some(found) = self.shared.client.get::<Value>(target).await? else { return Ok(false) };
        let mut items = Vec::new();
        for field in &fields {
            let sets = field_sets(&found);
            find_duplicates(&field_names(field), (&found, &desired.object), &sets, &mut Vec::new(), &mut items);
        }
        if items.is_empty() {
            return Ok(false);
        }
        let operator = &self.shared.operator;
        let Some(patch) = transfer_patch(&found, operator, |entry| remove_items(&mut entry["fieldsV1"], &items)) else {
            return Ok(false);
        };
        self.shared.client.patch(target, &Patch::<()>::Json(serde_json::from_value(patch)?), operator).await?;
        let (kind, object) = (&children.kind, ObjectKey::new(desired.namespace.as_deref(), &desired.name));
        tracing::info!(%kind, %object, ?fields, "list items of another client duplicate desired items and are removed");
        Ok(true)
    }
}

/// Returns the field names in a field path of an error (`spec.ports[1].name`). The indexes are dropped: they are those of the
/// refused object, not of the stored one.
fn field_names(path: &str) -> Vec<&str> {
    path.split('.').map(|name| name.split_once('[').map_or(name, |(name, _)| name)).collect()
}

/// Returns the sets of fields (`fieldsV1`) of all managers of an object.
fn field_sets(object: &Value) -> Vec<&Value> {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten().map(|entry| &entry["fieldsV1"]).collect()
}

/// Finds the colliding list items of a stored `object`, by the path `names` of the refused field, such as `spec.ports.name`. A stored item
/// collides if its field has the same value as in an item of `wanted` (or both lack it), but no wanted item has its list keys. Adds the
/// paths of these items in the form of `fieldsV1` to `items`. `sets` are the sets of fields at `path`, the path of `object`.
fn find_duplicates<'a>(
    names: &[&str],
    (object, wanted): (&'a Value, &'a Value),
    sets: &[&'a Value],
    path: &mut Vec<String>,
    items: &mut Vec<Vec<String>>,
) {
    let [name, rest @ ..] = names else { return };
    let (object, wanted, step) = (&object[*name], &wanted[*name], format!("f:{name}"));
    let sets: Vec<_> = sets.iter().filter_map(|set| set.get(&step)).collect();
    path.push(step);
    match (object, wanted) {
        (Value::Array(stored), Value::Array(wanted)) => {
            find_in_list(rest, (stored, wanted), &sets, path, items);
        }
        _ => find_duplicates(rest, (object, wanted), &sets, path, items),
    }
    path.pop();
}

/// Finds colliding list items like [`find_duplicates`], in a list: at the last name of the path, the items of this list, else those of
/// lists within an item that is both stored and wanted. The keys of the items (`k:{...}`) are those in the sets of fields.
fn find_in_list<'a>(
    names: &[&str],
    (stored, wanted): (&'a [Value], &'a [Value]),
    sets: &[&'a Value],
    path: &mut Vec<String>,
    items: &mut Vec<Vec<String>>,
) {
    let mut steps: Vec<_> = sets.iter().filter_map(|set| set.as_object()).flat_map(Map::keys).collect();
    steps.sort_unstable();
    steps.dedup();
    for step in steps {
        let Some(key) = step.strip_prefix("k:") else { continue };
        let Some(item) = stored.iter().find(|item| matches_key(key, stored, item)) else { continue };
        path.push(step.clone());
        match (wanted.iter().find(|item| matches_key(key, wanted, item)), names) {
            (None, [name]) if wanted.iter().any(|other| other[*name] == item[*name]) => items.push(path.clone()),
            (Some(wanted), [_, _, ..]) => {
                let sets: Vec<_> = sets.iter().filter_map(|set| set.get(step)).collect();
                find_duplicates(names, (item, wanted), &sets, path, items);
            }
            _ => {}
        }
        path.pop();
    }
}

/// Removes the items at these paths from a set of fields (`fieldsV1`), and returns them as a set of fields of its own.
fn remove_items(fields: &mut Value, items: &[Vec<String>]) -> Value {
    let mut removed = json!({});
    for path in items {
        let Some(item) = remove_item(fields, path) else { continue };
        *path.iter().fold(&mut removed, |set, step| &mut set[step.as_str()]) = item;
    }
    removed
}

/// Removes one item from a set of fields; `None` if the set doesn't have it. A set without entries is removed as well: an empty
/// set means that the manager owns the field as a whole.
fn remove_item(fields: &mut Value, path: &[String]) -> Option<Value> {
    let (step, steps_below) = path.split_first()?;
    let fields = fields.as_object_mut()?;
    if steps_below.is_empty() {
        return fields.remove(step);
    }
    let nested = fields.get_mut(step)?;
    let removed = remove_item(nested, steps_below)?;
    if nested.as_object().is_some_and(Map::is_empty) {
        fields.remove(step);
    }
    Some(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a stored Service of which another client changed port 80 to port 8080, and the wanted Service with port 80.
    fn service() -> (Value, Value) {
        let port = |number: u64, name: &str| json!({"name": name, "port": number, "protocol": "TCP", "targetPort": 80});
        let fields = |key: &str| json!({"f:spec": {"f:ports": {key: {".": {}, "f:port": {}, "f:name": {}}}}});
        let (own, other) = ("k:{\"port\":81,\"protocol\":\"TCP\"}", "k:{\"port\":8080,\"protocol\":\"TCP\"}");
        let object = json!({
            "metadata": {"resourceVersion": "7", "managedFields": [
                {"manager": "web", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields(own)},
                {"manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields(other)},
            ]},
            "spec": {"ports": [port(8080, "http"), port(81, "metrics")]},
        });
        let wanted = json!({"spec": {"ports": [{"name": "http", "port": 80}, {"name": "metrics", "port": 81}]}});
        (object, wanted)
    }

    /// Returns the paths of the stored list items that collide with wanted items in the refused field.
    fn colliding_items(field: &str, object: &Value, wanted: &Value) -> Vec<Vec<String>> {
        let mut items = Vec::new();
        find_duplicates(&field_names(field), (object, wanted), &field_sets(object), &mut Vec::new(), &mut items);
        items
    }

    #[test]
    fn a_stored_item_with_the_value_of_a_wanted_item_and_another_key_collides() {
        let (object, wanted) = service();
        let item = ["f:spec", "f:ports", "k:{\"port\":8080,\"protocol\":\"TCP\"}"].map(str::to_owned).to_vec();
        assert_eq!(colliding_items("spec.ports[2].name", &object, &wanted), [item]);
        for field in ["spec.ports[2].targetPort", "spec.ports[2]", "spec.name", "metadata.name", ""] {
            assert!(colliding_items(field, &object, &wanted).is_empty(), "{field}");
        }
    }

    #[test]
    fn colliding_items_are_found_in_a_list_within_a_list_item() {
        let item = |ports: Value| json!({"spec": {"containers": [{"name": "web", "ports": ports}, {"name": "other"}]}});
        let mut object = item(json!([{"containerPort": 81, "protocol": "TCP", "name": "http"}]));
        let port = "k:{\"containerPort\":81,\"protocol\":\"TCP\"}";
        let fields = json!({"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {"f:ports": {port: {".": {}}}}}}});
        object["metadata"]["managedFields"] = json!([{"manager": "other", "fieldsV1": fields}]);
        let wanted = item(json!([{"containerPort": 80, "name": "http"}]));
        let path = ["f:spec", "f:containers", "k:{\"name\":\"web\"}", "f:ports", port].map(str::to_owned).to_vec();
        assert_eq!(colliding_items("spec.containers[0].ports[1].name", &object, &wanted), [path]);
    }

    #[test]
    fn moved_items_belong_to_the_operator_alone() {
        let (object, wanted) = service();
        let items = colliding_items("spec.ports[2].name", &object, &wanted);
        let patch =
            transfer_patch(&object, "web", |entry| remove_items(&mut entry["fieldsV1"], &items)).unwrap_or_default();
        let item = json!({".": {}, "f:port": {}, "f:name": {}});
        let entries = &patch[0]["value"];
        assert_eq!(entries.as_array().map(Vec::len), Some(1), "{entries}");
        let expected = json!({"f:spec": {"f:ports": {
            "k:{\"port\":81,\"protocol\":\"TCP\"}": item, "k:{\"port\":8080,\"protocol\":\"TCP\"}": item,
        }}});
        assert_eq!((&entries[0]["manager"], &entries[0]["fieldsV1"]), (&json!("web"), &expected));
    }

    #[test]
    fn sets_that_become_empty_are_removed_from_the_entry_of_the_other_client() {
        let item = |name: &str| format!("k:{{\"port\":{name}}}");
        let mut fields = json!({"f:spec": {"f:ports": {item("1"): {".": {}}}, "f:type": {}}, "f:data": {}});
        let path = |name: &str| vec!["f:spec".to_owned(), "f:ports".to_owned(), item(name)];
        assert_eq!(remove_items(&mut fields, &[path("2")]), json!({}));
        let taken = remove_items(&mut fields, &[path("1")]);
        assert_eq!(taken, json!({"f:spec": {"f:ports": {item("1"): {".": {}}}}}));
        assert_eq!(fields, json!({"f:spec": {"f:type": {}}, "f:data": {}}));
    }
}
