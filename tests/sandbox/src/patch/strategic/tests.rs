//! Tests strategic merge patches of lists and maps of a Pod.

use serde_json::json;

use super::*;
use crate::schema::builtin;

fn merged(object: &Value, patch: &Value) -> Result<Value, Failure> {
    let schema = builtin::definition("io.k8s.api.core.v1.Pod").unwrap().schema();
    let mut object = object.as_object().cloned().unwrap();
    merge(Some(schema), &mut object, patch.as_object().cloned().unwrap())?;
    Ok(Value::Object(object))
}

fn names(object: &Value) -> Vec<String> {
    let containers = object["spec"]["containers"].as_array().unwrap();
    containers.iter().map(|container| container["name"].as_str().unwrap().to_owned()).collect()
}

fn pod(containers: &[&str]) -> Value {
    let containers = containers.iter().map(|name| json!({"name": name, "image": "i", "args": ["x", "y"]}));
    json!({"metadata": {"finalizers": ["a/a", "b/b"], "labels": {"l": "1"}}, "spec": {"containers": containers.collect::<Vec<_>>()}})
}

#[test]
fn items_are_merged_by_their_key_and_new_ones_come_first() {
    let patch = json!({"spec": {"containers": [{"name": "c", "image": "n"}, {"name": "b", "args": ["z"]}]}});
    let result = merged(&pod(&["a", "b"]), &patch).unwrap();
    assert_eq!(names(&result), ["c", "a", "b"]);
    assert_eq!(result["spec"]["containers"][2], json!({"name": "b", "image": "i", "args": ["z"]}));
}

#[test]
fn an_item_is_deleted_by_its_key() {
    let patch = json!({"spec": {"containers": [{"name": "a", "$patch": "delete"}]}});
    assert_eq!(names(&merged(&pod(&["a", "b"]), &patch).unwrap()), ["b"]);
}

#[test]
fn a_list_is_replaced_as_a_whole() {
    let patch = json!({"spec": {"containers": [{"name": "z"}, {"$patch": "replace"}]}});
    assert_eq!(names(&merged(&pod(&["a", "b"]), &patch).unwrap()), ["z"]);
}

#[test]
fn lists_are_brought_into_the_order_that_is_set() {
    let order = json!([{"name": "b"}, {"name": "a"}]);
    let patch = json!({"spec": {"$setElementOrder/containers": order, "containers": [{"name": "a", "image": "n"}]}});
    let result = merged(&pod(&["a", "b", "s"]), &patch).unwrap();
    assert_eq!(names(&result), ["b", "a", "s"]);
    assert_eq!(result["spec"]["containers"][1]["image"], "n");
}

#[test]
fn a_list_of_scalars_is_united_and_cut() {
    let result = merged(&pod(&["a"]), &json!({"metadata": {"finalizers": ["c/c"]}})).unwrap();
    assert_eq!(result["metadata"]["finalizers"], json!(["c/c", "a/a", "b/b"]));
    let patch = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/a"]}});
    assert_eq!(merged(&pod(&["a"]), &patch).unwrap()["metadata"]["finalizers"], json!(["b/b"]));
}

#[test]
fn maps_are_replaced_deleted_and_cut_to_what_they_retain() {
    let labels =
        |patch: Value| merged(&pod(&["a"]), &json!({"metadata": {"labels": patch}})).unwrap()["metadata"].clone();
    assert_eq!(labels(json!({"$patch": "replace", "m": "2"}))["labels"], json!({"m": "2"}));
    assert_eq!(labels(json!({"$patch": "delete"}))["labels"], json!({}));
    assert_eq!(labels(json!({"$retainKeys": ["m"], "m": "2"}))["labels"], json!({"m": "2"}));
    assert_eq!(labels(json!({"l": null, "n": "3"}))["labels"], json!({"n": "3"}));
}

#[test]
fn an_item_without_its_key_is_refused() {
    let failure = merged(&pod(&["a"]), &json!({"spec": {"containers": [{"image": "n"}]}})).unwrap_err();
    assert_eq!(failure.code, 500);
    assert_eq!(failure.message, "map: map[image:n] does not contain declared merge key: name");
}
