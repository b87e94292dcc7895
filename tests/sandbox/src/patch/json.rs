//! Applies JSON patches (RFC 6902), with the deviations of kube-apiserver.

use serde_json::{Map, Value};

use super::error::{invalid_json, unprocessable_patch, wrong_json_type};
use crate::{failure::Failure, verb::read_json};

/// The maximum number of operations of a patch.
const MAX_OPERATIONS: usize = 10_000;

/// A JSON patch: a list of operations.
#[derive(Clone, Debug)]
pub(crate) struct JsonPatch {
    operations: Vec<Map<String, Value>>,
}

impl JsonPatch {
    /// Parses a patch, and returns warnings about unknown and duplicate fields. `null` is a patch without operations.
    ///
    /// # Errors
    /// Fails if the body is no list of operations, or has too many operations.
    pub(super) fn of(body: &[u8]) -> Result<(Self, Vec<String>), Failure> {
        let (body, duplicates) = read_json(body).map_err(|why| invalid_json(&why))?;
        let entries = match body {
            Value::Array(entries) => entries,
            Value::Null => Vec::new(),
            other => return Err(wrong_json_type(&other, "[]handlers.jsonPatchOp")),
        };
        let mut operations = Vec::with_capacity(entries.len());
        let mut warnings: Vec<_> =
            duplicates.iter().map(|field| format!("json patch duplicate field {field:?}")).collect();
        for (index, operation) in entries.into_iter().enumerate() {
            let Value::Object(operation) = operation else {
                return Err(wrong_json_type(&operation, "handlers.jsonPatchOp"));
            };
            let is_known = |key: &str| matches!(key, "op" | "path" | "from" | "value");
            let unknown = operation.keys().filter(|key| !is_known(key));
            warnings.extend(unknown.map(|key| format!("json patch unknown field \"[{index}].{key}\"")));
            operations.push(operation);
        }
        if operations.len() > MAX_OPERATIONS {
            let count = operations.len();
            let why = "Request entity too large: The allowed maximum operations in a JSON patch is";
            return Err(Failure::too_large(format!("{why} {MAX_OPERATIONS}, got {count}")));
        }
        Ok((Self { operations }, warnings))
    }

    /// Applies the operations in order.
    ///
    /// # Errors
    /// Fails if an operation can't be applied.
    pub(super) fn apply_to(&self, object: &mut Value) -> Result<(), Failure> {
        self.operations
            .iter()
            .try_for_each(|operation| apply_operation(operation, object))
            .ok_or_else(unprocessable_patch)
    }
}

/// Applies an operation of a JSON patch; `None` if it is invalid, its path does not exist, or its test fails.
fn apply_operation(operation: &Map<String, Value>, object: &mut Value) -> Option<()> {
    let pointer = |key: &str| operation.get(key).and_then(Value::as_str).map(Pointer::of);
    // An operation without a value sets null.
    let value = operation.get("value").cloned().unwrap_or_default();
    match operation.get("op").and_then(Value::as_str)? {
        "add" => pointer("path")?.add(object, value),
        "remove" => pointer("path")?.remove(object).map(drop),
        "replace" => pointer("path")?.replace(object, value),
        "move" => {
            let moved = pointer("from")?.remove(object)?;
            pointer("path")?.add(object, moved)
        }
        "copy" => {
            let copied = pointer("from")?.get(object)?.clone();
            pointer("path")?.add(object, copied)
        }
        "test" => (*pointer("path")?.get(object)? == value).then_some(()),
        _ => None,
    }
}

/// A JSON pointer, split at its slashes. The text before the first slash is ignored.
struct Pointer {
    segments: Vec<String>,
}

/// The value that a test and a copy find at a missing key.
static MISSING: Value = Value::Null;

impl Pointer {
    /// Parses a pointer and decodes its escapes.
    fn of(path: &str) -> Self {
        let segments = path.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~"));
        Self { segments: segments.collect() }
    }

    /// Returns the object or list that contains the target of the pointer, and the key or index of the target in it; `None`
    /// if there is no such container.
    fn container<'a>(&self, object: &'a mut Value) -> Option<(&'a mut Value, &str)> {
        let (key, parents) = self.segments.split_last()?;
        let mut container = object;
        for segment in parents {
            container = match container {
                Value::Object(map) => map.get_mut(segment)?,
                Value::Array(items) => {
                    let index = parse_index(segment, items.len())?;
                    items.get_mut(index)?
                }
                _ => return None,
            };
        }
        Some((container, key))
    }

    /// Adds a value at the target; `None` if the container doesn't exist or the index is out of range.
    fn add(&self, object: &mut Value, value: Value) -> Option<()> {
        let (container, key) = self.container(object)?;
        match container {
            Value::Object(map) => drop(map.insert(key.to_owned(), value)),
            Value::Array(items) if key == "-" => items.push(value),
            Value::Array(items) => {
                // An item can also be added after the last, so there is one more position than items.
                let index = parse_index(key, items.len() + 1).filter(|index| *index <= items.len())?;
                items.insert(index, value);
            }
            _ => return None,
        }
        Some(())
    }

    /// Removes and returns the target; `None` if it doesn't exist.
    fn remove(&self, object: &mut Value) -> Option<Value> {
        let (container, key) = self.container(object)?;
        match container {
            Value::Object(map) => map.remove(key),
            Value::Array(items) => {
                let index = parse_index(key, items.len()).filter(|index| *index < items.len())?;
                Some(items.remove(index))
            }
            _ => None,
        }
    }

    /// Replaces the target; `None` if its container or list item doesn't exist, or if a scalar would replace the whole
    /// object. Unlike in RFC 6902, a missing key of an object is added.
    fn replace(&self, object: &mut Value, value: Value) -> Option<()> {
        // The empty pointer is the whole object.
        if self.segments.is_empty() {
            let is_container = value.is_object() || value.is_array();
            *object = value;
            return is_container.then_some(());
        }
        let (container, key) = self.container(object)?;
        match container {
            Value::Object(map) => drop(map.insert(key.to_owned(), value)),
            Value::Array(items) => {
                let index = parse_index(key, items.len())?;
                *items.get_mut(index)? = value;
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the target: null for a missing key of an object, `None` for a missing item or container.
    fn get<'a>(&self, object: &'a mut Value) -> Option<&'a Value> {
        if self.segments.is_empty() {
            return Some(object);
        }
        let (container, key) = self.container(object)?;
        match container {
            Value::Object(map) => Some(map.get(key).unwrap_or(&MISSING)),
            Value::Array(items) => items.get(parse_index(key, items.len())?),
            _ => None,
        }
    }
}

/// Parses an index of a list; `None` if it is invalid. A negative index counts from the end.
fn parse_index(segment: &str, length: usize) -> Option<usize> {
    let index: i64 = segment.parse().ok()?;
    if index >= 0 { usize::try_from(index).ok() } else { length.checked_sub(usize::try_from(-index).ok()?) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Applies a patch to an object with a map and a list; `None` if the patch is refused.
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
    fn a_patch_with_a_missing_location_or_an_invalid_operation_is_refused() {
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
