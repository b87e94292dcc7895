//! Whether an object still is as it was applied, told by who owns its fields.
//!
//! The API server takes a field away from a manager when somebody else gives it another value, or removes it. So as long as
//! the fields that were applied are ours, their values are as applied, and whatever the server made of them (quantities,
//! defaults, order of sets) is no difference. The set says of itself which lists are keyed, so no schema is needed.

use serde_json::{Map, Value};

/// The first wanted field that `owned` (the `fieldsV1` of our apply) does not hold, as a path; `None` if it holds all.
pub(crate) fn first_lost(owned: &Value, wanted: &Value) -> Option<String> {
    let Value::Object(wanted) = wanted else { return None };
    let mut path = Vec::new();
    let lost = wanted.iter().any(|(name, value)| match name.as_str() {
        // Never owned: they say which object is meant.
        "apiVersion" | "kind" => false,
        "metadata" => metadata_lost(owned, value, &mut path),
        _ => field_lost(owned, name, value, &mut path),
    });
    lost.then(|| path.into_iter().rev().collect::<Vec<_>>().join("."))
}

fn metadata_lost(owned: &Value, metadata: &Value, path: &mut Vec<String>) -> bool {
    let Value::Object(metadata) = metadata else { return false };
    let held = &owned["f:metadata"];
    metadata.iter().filter(|(name, _)| !matches!(name.as_str(), "name" | "namespace" | "uid")).any(|(name, value)| {
        let lost = field_lost(held, name, value, path);
        if lost {
            path.push("metadata".to_owned());
        }
        lost
    })
}

fn field_lost(owned: &Value, name: &str, wanted: &Value, path: &mut Vec<String>) -> bool {
    if wanted.is_null() {
        return false;
    }
    let lost = owned.get(format!("f:{name}")).is_none_or(|below| value_lost(below, wanted, path));
    if lost {
        path.push(name.to_owned());
    }
    lost
}

fn value_lost(owned: &Value, wanted: &Value, path: &mut Vec<String>) -> bool {
    let Value::Object(fields) = owned else { return false };
    // A leaf: the value is owned as a whole.
    if fields.is_empty() {
        return false;
    }
    match wanted {
        Value::Object(wanted) => wanted.iter().any(|(name, value)| field_lost(owned, name, value, path)),
        Value::Array(items) => items.iter().any(|item| item_lost(fields, item, path)),
        _ => false,
    }
}

fn item_lost(owned: &Map<String, Value>, item: &Value, path: &mut Vec<String>) -> bool {
    let Value::Object(item) = item else {
        let held = |name: &String| name.strip_prefix("v:").is_some_and(|text| same_json(text, item));
        return !owned.keys().any(held);
    };
    let entry = owned.iter().find(|(name, _)| name.strip_prefix("k:").is_some_and(|key| is_keyed(key, item)));
    match entry {
        // An item of an atomic type (an owner reference is one) is owned as a whole.
        Some((_, Value::Object(below))) if below.is_empty() => false,
        Some((_, below)) => item.iter().any(|(name, value)| field_lost(below, name, value, path)),
        None => true,
    }
}

/// Whether an item has these keys; one that it leaves out was defaulted by the server.
fn is_keyed(key: &str, item: &Map<String, Value>) -> bool {
    let Ok(Value::Object(key)) = serde_json::from_str(key) else { return false };
    key.iter().all(|(name, value)| item.get(name).is_none_or(|wanted| wanted == value))
        && key.keys().any(|name| item.contains_key(name))
}

fn same_json(text: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|owned| owned == *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_that_is_still_ours_is_no_drift() {
        let owned = json!({"f:data": {"f:a": {}, "f:b": {}}});
        assert_eq!(first_lost(&owned, &json!({"kind": "ConfigMap", "data": {"a": "1"}})), None);
    }

    #[test]
    fn a_field_taken_by_another_manager_is_named() {
        let owned = json!({"f:data": {"f:b": {}}});
        assert_eq!(first_lost(&owned, &json!({"data": {"a": "1", "b": "2"}})), Some("data.a".to_owned()));
    }

    #[test]
    fn keyed_list_items_are_found_by_their_keys_even_if_one_was_defaulted() {
        let port = json!({".": {}, "f:containerPort": {}, "f:name": {}});
        let owned = json!({"f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": port}});
        assert_eq!(first_lost(&owned, &json!({"ports": [{"containerPort": 80, "name": "web"}]})), None);
        assert_eq!(
            first_lost(&owned, &json!({"ports": [{"containerPort": 81, "name": "web"}]})),
            Some("ports".to_owned())
        );
        assert_eq!(
            first_lost(&owned, &json!({"ports": [{"containerPort": 80, "hostPort": 80}]})),
            Some("ports.hostPort".to_owned())
        );
    }

    #[test]
    fn keyed_items_of_an_atomic_type_are_owned_as_a_whole() {
        let owned = json!({"f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"1\"}": {}}}});
        let wanted = |uid: &str| json!({"metadata": {"ownerReferences": [{"uid": uid, "name": "a", "kind": "B"}]}});
        assert_eq!(first_lost(&owned, &wanted("1")), None);
        assert_eq!(first_lost(&owned, &wanted("2")), Some("metadata.ownerReferences".to_owned()));
    }

    #[test]
    fn set_items_are_found_by_value_and_atomic_lists_as_a_whole() {
        let owned = json!({"f:metadata": {"f:finalizers": {".": {}, "v:\"a/b\"": {}}}, "f:args": {}});
        assert_eq!(first_lost(&owned, &json!({"metadata": {"finalizers": ["a/b"]}, "args": ["x"]})), None);
        let lost = first_lost(&owned, &json!({"metadata": {"finalizers": ["c/d"]}}));
        assert_eq!(lost, Some("metadata.finalizers".to_owned()));
    }

    #[test]
    fn the_name_of_an_object_is_never_owned_and_never_lost() {
        let wanted = json!({"apiVersion": "v1", "metadata": {"name": "a", "namespace": "b", "labels": {"x": "y"}}});
        assert_eq!(first_lost(&json!({"f:metadata": {"f:labels": {"f:x": {}}}}), &wanted), None);
    }
}
