//! Removes list items of other clients that collide with wanted ones, so that the object can be applied again.
//!
//! The items of some lists are known by a key: the ports of a Service by number and protocol. If another client changes the key of
//! an item, the list has an item that nobody applies, and the next apply adds the wanted one beside it. Where the two may not stand
//! in one list (two ports with one name, or with none), the API server refuses each apply. Then the item in the way becomes the operator's,
//! and the next apply, which does not have it, removes it. An item that is in nobody's way is left alone: it may be wanted by
//! another client.

use crate::{
    cache::ObjectKey,
    client::{CallError, Target},
    engine::{adoption::transfer_patch, desired::Desired, field_ownership::is_keyed, pass::Core},
    error::{Error, Result},
    informer::watch::Watched,
};
use kube::api::Patch;
use serde_json::{Map, Value, json};

impl Core<'_> {
    /// After an apply that failed: whether items were in its way that now are the operator's, so that it can be tried again.
    pub(crate) async fn take_duplicates<V>(
        &self,
        children: &Watched<V>,
        desired: &Desired,
        error: &Error,
    ) -> Result<bool> {
        let Error::Unexpected(source) = error else { return Ok(false) };
        let fields = source.downcast_ref::<CallError>().map(CallError::colliding_fields).unwrap_or_default();
        if fields.is_empty() {
            return Ok(false);
        }
        let target = Target { kind: &children.kind, namespace: desired.namespace.as_deref(), name: &desired.name };
        let Some(found) = self.shared.client.get(target).await? else { return Ok(false) };
        let mut items = Vec::new();
        for field in &fields {
            find(&steps(field), (&found, &desired.object), &owned(&found), &mut Vec::new(), &mut items);
        }
        if items.is_empty() {
            return Ok(false);
        }
        let Some(patch) =
            transfer_patch(&found, &self.shared.operator, |entry| take_items(&mut entry["fieldsV1"], &items))
        else {
            return Ok(false);
        };
        self.shared
            .client
            .patch(target, &Patch::<()>::Json(serde_json::from_value(patch)?), &self.shared.operator)
            .await?;
        let (kind, object) = (&children.kind, ObjectKey::new(desired.namespace.as_deref(), &desired.name));
        tracing::info!(%kind, %object, ?fields, "items of another client have the values of wanted ones, and are removed");
        Ok(true)
    }
}

/// The names of the fields on the way to one that the API server names: `spec.ports[1].name`. The index is that of the object that
/// was refused, and of no other.
fn steps(field: &str) -> Vec<&str> {
    field.split('.').map(|step| step.split_once('[').map_or(step, |(name, _)| name)).collect()
}

/// The fields of all managers of an object.
fn owned(object: &Value) -> Vec<&Value> {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten().map(|entry| &entry["fieldsV1"]).collect()
}

/// Finds the items of the object that have the value of a wanted one in the field where the steps end (or both have none), but not
/// its keys. They are given by their paths in sets of fields.
fn find<'a>(
    steps: &[&str],
    (object, wanted): (&'a Value, &'a Value),
    owned: &[&'a Value],
    path: &mut Vec<String>,
    items: &mut Vec<Vec<String>>,
) {
    let [field, below @ ..] = steps else { return };
    let (object, wanted, step) = (&object[*field], &wanted[*field], format!("f:{field}"));
    let owned: Vec<_> = owned.iter().filter_map(|set| set.get(&step)).collect();
    path.push(step);
    match (object, wanted) {
        (Value::Array(held), Value::Array(wanted)) => find_in_list(below, (held, wanted), &owned, path, items),
        _ => find(below, (object, wanted), &owned, path, items),
    }
    path.pop();
}

fn find_in_list<'a>(
    steps: &[&str],
    (held, wanted): (&'a [Value], &'a [Value]),
    owned: &[&'a Value],
    path: &mut Vec<String>,
    items: &mut Vec<Vec<String>>,
) {
    let mut keys: Vec<_> = owned.iter().filter_map(|set| set.as_object()).flat_map(Map::keys).collect();
    keys.sort_unstable();
    keys.dedup();
    for step in keys {
        let Some(key) = step.strip_prefix("k:") else { continue };
        let Some(item) = held.iter().find(|item| is_keyed(key, held, item)) else { continue };
        path.push(step.clone());
        match (wanted.iter().find(|item| is_keyed(key, wanted, item)), steps) {
            (None, [field]) if wanted.iter().any(|one| one[*field] == item[*field]) => items.push(path.clone()),
            (Some(wanted), [_, _, ..]) => {
                let owned: Vec<_> = owned.iter().filter_map(|set| set.get(step)).collect();
                find(steps, (item, wanted), &owned, path, items);
            }
            _ => {}
        }
        path.pop();
    }
}

/// Takes items out of a set of fields; gives the set of what was taken.
fn take_items(fields: &mut Value, items: &[Vec<String>]) -> Value {
    let mut taken = json!({});
    for path in items {
        let Some(item) = take(fields, path) else { continue };
        *path.iter().fold(&mut taken, |into, step| &mut into[step.as_str()]) = item;
    }
    taken
}

/// Takes one item out. A set of which nothing is left goes, too: an empty one would be a field that is held as a whole.
fn take(fields: &mut Value, path: &[String]) -> Option<Value> {
    let (step, below) = path.split_first()?;
    let fields = fields.as_object_mut()?;
    if below.is_empty() {
        return fields.remove(step);
    }
    let inner = fields.get_mut(step)?;
    let taken = take(inner, below)?;
    if inner.as_object().is_some_and(Map::is_empty) {
        fields.remove(step);
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Service whose port 80 another client has made port 8080.
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

    fn found(field: &str, object: &Value, wanted: &Value) -> Vec<Vec<String>> {
        let mut items = Vec::new();
        find(&steps(field), (object, wanted), &owned(object), &mut Vec::new(), &mut items);
        items
    }

    #[test]
    fn the_item_that_has_the_value_of_a_wanted_one_and_another_key_is_in_the_way() {
        let (object, wanted) = service();
        let item = ["f:spec", "f:ports", "k:{\"port\":8080,\"protocol\":\"TCP\"}"].map(str::to_owned).to_vec();
        assert_eq!(found("spec.ports[2].name", &object, &wanted), [item]);
        for field in ["spec.ports[2].targetPort", "spec.ports[2]", "spec.name", "metadata.name", ""] {
            assert!(found(field, &object, &wanted).is_empty(), "{field}");
        }
    }

    #[test]
    fn items_are_looked_for_below_the_same_items_of_lists_above() {
        let item = |ports: Value| json!({"spec": {"containers": [{"name": "web", "ports": ports}, {"name": "other"}]}});
        let mut object = item(json!([{"containerPort": 81, "protocol": "TCP", "name": "http"}]));
        let port = "k:{\"containerPort\":81,\"protocol\":\"TCP\"}";
        let fields = json!({"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {"f:ports": {port: {".": {}}}}}}});
        object["metadata"]["managedFields"] = json!([{"manager": "other", "fieldsV1": fields}]);
        let wanted = item(json!([{"containerPort": 80, "name": "http"}]));
        let path = ["f:spec", "f:containers", "k:{\"name\":\"web\"}", "f:ports", port].map(str::to_owned).to_vec();
        assert_eq!(found("spec.containers[0].ports[1].name", &object, &wanted), [path]);
    }

    #[test]
    fn what_is_taken_is_held_by_the_operator_alone() {
        let (object, wanted) = service();
        let items = found("spec.ports[2].name", &object, &wanted);
        let patch =
            transfer_patch(&object, "web", |entry| take_items(&mut entry["fieldsV1"], &items)).unwrap_or_default();
        let item = json!({".": {}, "f:port": {}, "f:name": {}});
        let entries = &patch[0]["value"];
        assert_eq!(entries.as_array().map(Vec::len), Some(1), "{entries}");
        let expected = json!({"f:spec": {"f:ports": {
            "k:{\"port\":81,\"protocol\":\"TCP\"}": item, "k:{\"port\":8080,\"protocol\":\"TCP\"}": item,
        }}});
        assert_eq!((&entries[0]["manager"], &entries[0]["fieldsV1"]), (&json!("web"), &expected));
    }

    #[test]
    fn what_is_left_to_another_client_is_no_larger_than_before() {
        let item = |name: &str| format!("k:{{\"port\":{name}}}");
        let mut fields = json!({"f:spec": {"f:ports": {item("1"): {".": {}}}, "f:type": {}}, "f:data": {}});
        let path = |name: &str| vec!["f:spec".to_owned(), "f:ports".to_owned(), item(name)];
        assert_eq!(take_items(&mut fields, &[path("2")]), json!({}));
        let taken = take_items(&mut fields, &[path("1")]);
        assert_eq!(taken, json!({"f:spec": {"f:ports": {item("1"): {".": {}}}}}));
        assert_eq!(fields, json!({"f:spec": {"f:type": {}}, "f:data": {}}));
    }
}
