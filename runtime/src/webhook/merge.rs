//! Carries the changes of a typed object over to the JSON that it was decoded from, so that fields that the type doesn't have survive.

use serde_json::{Map, Value};

/// The JSON has another form than the type writes, at the path of a field that was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: its value is written in another form than the type writes, so its change can't be stored")]
pub(super) struct MergeError {
    pub(super) field: String,
}

/// Applies the changes from `before` to `after` to `raw`. `raw` is the JSON of an object, `before` the same object decoded to its type and
/// encoded again, and `after` the encoded object after a change.
///
/// Fields that did not change keep their value in `raw`, and stay absent if `raw` does not have them. Elements of lists are matched: an
/// element of `after` to an equal one of `before`, else to one with the same `name`, else, in a list of the same length, to the one at its
/// position.
///
/// # Errors
/// Fails if `raw` has a scalar or a list where the type has fields.
pub(super) fn merge(raw: &Value, before: &Value, after: &Value) -> Result<Value, MergeError> {
    merge_at("", Some(raw), before, after)
}

/// Applies the change from `before` to `after` to `raw`, the value at the path of a field; `None` if the object has no such field.
fn merge_at(path: &str, raw: Option<&Value>, before: &Value, after: &Value) -> Result<Value, MergeError> {
    match (before, after) {
        _ if before == after => Ok(raw.unwrap_or(after).clone()),
        (Value::Object(before), Value::Object(after)) => {
            let empty = Map::new();
            let raw = match raw {
                Some(Value::Object(raw)) => raw,
                None | Some(Value::Null) => &empty,
                Some(_) => return Err(MergeError { field: path.to_owned() }),
            };
            merge_fields(path, raw, before, after).map(Value::Object)
        }
        (Value::Array(before), Value::Array(after)) => match raw {
            Some(Value::Array(raw)) if raw.len() == before.len() => {
                merge_items(path, raw, before, after).map(Value::Array)
            }
            None | Some(Value::Null) => Ok(Value::Array(after.clone())),
            Some(_) => Err(MergeError { field: path.to_owned() }),
        },
        _ => Ok(after.clone()),
    }
}

/// Applies the changes from `before` to `after` to the fields of the object `raw`. Removes a field of `before` that is
/// absent or null in `after`.
fn merge_fields(
    path: &str,
    raw: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Result<Map<String, Value>, MergeError> {
    let mut merged = raw.clone();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        merged.remove(name);
    }
    for (name, value) in after {
        let old_value = before.get(name).unwrap_or(&Value::Null);
        if old_value == value {
            continue;
        }
        if value.is_null() {
            merged.remove(name);
            continue;
        }
        let field = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        merged.insert(name.clone(), merge_at(&field, raw.get(name), old_value, value)?);
    }
    Ok(merged)
}

/// Applies the change from `before` to `after` to the elements of the list `raw`, of which `before` is the decoded form. An element of
/// `after` belongs to an equal element of `before`, else to one with its `name`, else, if the lengths are equal, to the one at its
/// position.
fn merge_items(path: &str, raw: &[Value], before: &[Value], after: &[Value]) -> Result<Vec<Value>, MergeError> {
    let mut is_used = vec![false; before.len()];
    // Returns the first element of `before` that fits and belongs to no element of `after` yet.
    let mut take_unused = |fits: &dyn Fn(usize, &Value) -> bool| {
        let found = before.iter().enumerate().position(|(at, item)| !is_used[at] && fits(at, item))?;
        is_used[found] = true;
        Some(found)
    };
    let mut sources: Vec<_> = after.iter().map(|item| take_unused(&|_, old_item| old_item == item)).collect();
    for (item, source) in after.iter().zip(&mut sources).filter(|(_, source)| source.is_none()) {
        *source = item["name"].as_str().and_then(|name| take_unused(&|_, old_item| old_item["name"] == name));
    }
    if before.len() == after.len() {
        for (position, source) in sources.iter_mut().enumerate().filter(|(_, source)| source.is_none()) {
            *source = take_unused(&|at, _| at == position);
        }
    }
    let items = after.iter().zip(sources).enumerate();
    let merged = items.map(|(position, (item, source))| match source {
        Some(at) => merge_at(&format!("{path}[{position}]"), Some(&raw[at]), &before[at], item),
        None => Ok(item.clone()),
    });
    merged.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_leaves_unknown_fields_and_absent_defaults_as_they_are() {
        let raw = json!({"spec": {"image": "shop", "future": {"x": 1}}});
        let before = json!({"spec": {"image": "shop", "replicas": 0, "note": null}});
        let after = json!({"spec": {"image": "shop:1", "replicas": 0, "note": null, "class": "blue"}});
        let merged = json!({"spec": {"image": "shop:1", "future": {"x": 1}, "class": "blue"}});
        assert_eq!(merge(&raw, &before, &after).unwrap(), merged);
        assert_eq!(merge(&raw, &before, &before).unwrap(), raw);
    }

    #[test]
    fn a_change_below_an_absent_field_adds_the_change_alone() {
        let before = json!({"spec": {"limits": {"cpu": 1, "memory": 0}}});
        let after = json!({"spec": {"limits": {"cpu": 1, "memory": 5}}});
        for raw in [json!({"spec": {}}), json!({"spec": {"limits": null}})] {
            assert_eq!(merge(&raw, &before, &after).unwrap(), json!({"spec": {"limits": {"memory": 5}}}));
        }
    }

    #[test]
    fn a_field_that_was_cleared_is_removed() {
        let raw = json!({"a": 1, "b": 2, "c": 3});
        assert_eq!(merge(&raw, &json!({"a": 1, "b": 2}), &json!({"b": null})).unwrap(), json!({"c": 3}));
    }

    #[test]
    fn elements_of_a_list_keep_their_unknown_fields() {
        let item = |name: &str, image: &str| json!({"name": name, "image": image});
        let raw_item = |name: &str, image: &str| json!({"name": name, "image": image, "future": name});
        let (raw, before) = (json!([raw_item("a", "1"), raw_item("b", "1")]), json!([item("a", "1"), item("b", "1")]));
        let cases = [
            (
                json!([item("x", "1"), item("a", "1"), item("b", "2")]),
                json!([item("x", "1"), raw_item("a", "1"), raw_item("b", "2")]),
            ),
            (json!([item("b", "2")]), json!([raw_item("b", "2")])),
            (json!([item("b", "1"), item("a", "1")]), json!([raw_item("b", "1"), raw_item("a", "1")])),
        ];
        for (after, merged) in cases {
            assert_eq!(merge(&raw, &before, &after).unwrap(), merged);
        }
        let merged = merge(&json!([{"v": 1, "x": 1}]), &json!([{"v": 1}]), &json!([{"v": 2}])).unwrap();
        assert_eq!(merged, json!([{"v": 2, "x": 1}]));
    }

    #[test]
    fn a_value_in_another_form_is_an_error_that_names_the_field() {
        let raw = json!({"spec": {"ports": ["http=80"], "limits": "small"}});
        let before = json!({"spec": {"ports": [{"port": 80}], "limits": {"cpu": 1}}});
        let after = json!({"spec": {"ports": [{"port": 81}], "limits": {"cpu": 1}}});
        assert_eq!(merge(&raw, &before, &after).unwrap_err().field, "spec.ports[0]");
        let after = json!({"spec": {"ports": [{"port": 80}], "limits": {"cpu": 2}}});
        assert_eq!(merge(&raw, &before, &after).unwrap_err().field, "spec.limits");
    }
}
