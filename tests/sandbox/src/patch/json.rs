//! Applies JSON patches (RFC 6902), with the deviations of kube-apiserver.

use serde_json::{Map, Value};

use super::refusal::{of_another_type, unreadable, unusable};
use crate::{failure::Failure, verb::read_json};

/// The maximum number of operations of a patch.
const MOST: usize = 10_000;

/// A list of operations.
#[derive(Clone, Debug)]
pub(crate) struct JsonPatch {
    operations: Vec<Map<String, Value>>,
}

impl JsonPatch {
    /// Parses a patch, and returns warnings about unknown and duplicate fields.
    pub(super) fn of(body: &[u8]) -> Result<(Self, Vec<String>), Failure> {
        let (read, doubled) = read_json(body).map_err(|why| unreadable(&why))?;
        let listed = match read {
            Value::Array(listed) => listed,
            Value::Null => Vec::new(),
            other => return Err(of_another_type(&other, "[]handlers.jsonPatchOp")),
        };
        let mut operations = Vec::with_capacity(listed.len());
        let mut unknown: Vec<_> = doubled.iter().map(|field| format!("json patch duplicate field {field:?}")).collect();
        for (index, operation) in listed.into_iter().enumerate() {
            let Value::Object(operation) = operation else {
                return Err(of_another_type(&operation, "handlers.jsonPatchOp"));
            };
            let known = |key: &str| matches!(key, "op" | "path" | "from" | "value");
            let strange = operation.keys().filter(|key| !known(key));
            unknown.extend(strange.map(|key| format!("json patch unknown field \"[{index}].{key}\"")));
            operations.push(operation);
        }
        if operations.len() > MOST {
            let count = operations.len();
            let why = "Request entity too large: The allowed maximum operations in a JSON patch is";
            return Err(Failure::too_large(format!("{why} {MOST}, got {count}")));
        }
        Ok((Self { operations }, unknown))
    }

    /// Applies the operations in order.
    pub(super) fn apply_to(&self, object: &mut Value) -> Result<(), Failure> {
        self.operations.iter().try_for_each(|operation| apply(operation, object)).ok_or_else(unusable)
    }
}

/// Applies an operation; `None` if that is not possible.
fn apply(operation: &Map<String, Value>, object: &mut Value) -> Option<()> {
    let path = |key: &str| operation.get(key).and_then(Value::as_str).map(Pointer::of);
    // An operation without a value sets null.
    let value = operation.get("value").cloned().unwrap_or_default();
    match operation.get("op").and_then(Value::as_str)? {
        "add" => path("path")?.add(object, value),
        "remove" => path("path")?.remove(object).map(drop),
        "replace" => path("path")?.replace(object, value),
        "move" => {
            let moved = path("from")?.remove(object)?;
            path("path")?.add(object, moved)
        }
        "copy" => {
            let copied = path("from")?.get(object)?.clone();
            path("path")?.add(object, copied)
        }
        "test" => (*path("path")?.get(object)? == value).then_some(()),
        _ => None,
    }
}

/// A path in an object, split at its slashes; the text before the first slash doesn't count.
struct Pointer {
    words: Vec<String>,
}

static NOTHING: Value = Value::Null;

impl Pointer {
    fn of(path: &str) -> Self {
        let words = path.split('/').skip(1).map(|word| word.replace("~1", "/").replace("~0", "~"));
        Self { words: words.collect() }
    }

    /// Returns the container of the target, and its key there.
    fn container<'a>(&self, object: &'a mut Value) -> Option<(&'a mut Value, &str)> {
        let (key, before) = self.words.split_last()?;
        let mut here = object;
        for word in before {
            here = match here {
                Value::Object(map) => map.get_mut(word)?,
                Value::Array(items) => {
                    let index = index(word, items.len())?;
                    items.get_mut(index)?
                }
                _ => return None,
            };
        }
        Some((here, key))
    }

    fn add(&self, object: &mut Value, value: Value) -> Option<()> {
        let (container, key) = self.container(object)?;
        match container {
            Value::Object(map) => drop(map.insert(key.to_owned(), value)),
            Value::Array(items) if key == "-" => items.push(value),
            Value::Array(items) => {
                let index = index(key, items.len() + 1).filter(|index| *index <= items.len())?;
                items.insert(index, value);
            }
            _ => return None,
        }
        Some(())
    }

    fn remove(&self, object: &mut Value) -> Option<Value> {
        let (container, key) = self.container(object)?;
        match container {
            Value::Object(map) => map.remove(key),
            Value::Array(items) => {
                let index = index(key, items.len()).filter(|index| *index < items.len())?;
                Some(items.remove(index))
            }
            _ => None,
        }
    }

    /// Replaces the target. Unlike in RFC 6902, a missing key of an object is added.
    fn replace(&self, object: &mut Value, value: Value) -> Option<()> {
        if self.words.is_empty() {
            let whole = value.is_object() || value.is_array();
            *object = value;
            return whole.then_some(());
        }
        let (container, key) = self.container(object)?;
        match container {
            Value::Object(map) => drop(map.insert(key.to_owned(), value)),
            Value::Array(items) => {
                let index = index(key, items.len())?;
                *items.get_mut(index)? = value;
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the target; null if an object has no such key.
    fn get<'a>(&self, object: &'a mut Value) -> Option<&'a Value> {
        if self.words.is_empty() {
            return Some(object);
        }
        let (container, key) = self.container(object)?;
        match container {
            Value::Object(map) => Some(map.get(key).unwrap_or(&NOTHING)),
            Value::Array(items) => items.get(index(key, items.len())?),
            _ => None,
        }
    }
}

/// Parses an index of a list; a negative one counts from the end.
fn index(word: &str, length: usize) -> Option<usize> {
    let index: i64 = word.parse().ok()?;
    if index >= 0 { usize::try_from(index).ok() } else { length.checked_sub(usize::try_from(-index).ok()?) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(patch: &Value) -> Option<Value> {
        let mut object = json!({"data": {"a": "1"}, "list": [1, 2, 3]});
        let (patch, _) = JsonPatch::of(patch.to_string().as_bytes()).unwrap();
        patch.apply_to(&mut object).ok().map(|()| object)
    }

    #[test]
    fn a_missing_key_is_null_to_a_test_and_a_copy_and_may_be_replaced() {
        assert!(patched(&json!([{"op": "test", "path": "/data/b", "value": null}])).is_some());
        assert!(patched(&json!([{"op": "test", "path": "/data/b", "value": "1"}])).is_none());
        let copied = patched(&json!([{"op": "copy", "from": "/data/b", "path": "/data/c"}])).unwrap();
        assert_eq!(copied["data"], json!({"a": "1", "c": null}));
        let replaced = patched(&json!([{"op": "replace", "path": "/data/b", "value": "2"}])).unwrap();
        assert_eq!(replaced["data"], json!({"a": "1", "b": "2"}));
    }

    #[test]
    fn a_path_without_a_container_can_not_be_patched() {
        for patch in [
            json!([{"op": "remove", "path": "/data/b"}]),
            json!([{"op": "add", "path": "/b/c", "value": 1}]),
            json!([{"op": "add", "path": "/list/5", "value": 1}]),
            json!([{"op": "move", "from": "/data/b", "path": "/c"}]),
            json!([{"op": "turn", "path": "/data/a"}]),
            json!([{"op": "add", "value": 1}]),
        ] {
            assert_eq!(patched(&patch), None, "{patch}");
        }
    }

    #[test]
    fn items_of_lists_are_counted_from_either_end() {
        let patch = json!([{"op": "add", "path": "/list/-", "value": 4}, {"op": "remove", "path": "/list/-2"},
            {"op": "add", "path": "/list/0", "value": 0}]);
        assert_eq!(patched(&patch).unwrap()["list"], json!([0, 1, 2, 4]));
    }
}
