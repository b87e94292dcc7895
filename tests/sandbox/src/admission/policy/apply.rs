//! Merges the apply configuration of a policy into an object, without field ownership.

use serde_json::{Map, Value};

use crate::schema::{Definition, Fields, ListKind, OtherFields, Schema, Shape, builtin};

/// Returns the object with the apply configuration of a policy merged into it. Returns kube-apiserver's message if the
/// configuration does not fit the schema.
pub(super) fn merge_configuration(schema: &Schema, object: &Value, configuration: &Value) -> Result<Value, String> {
    if !configuration.is_object() {
        return Err("must evaluate to Object".to_owned());
    }
    let mut new = object.clone();
    merge(schema, &mut new, configuration, "")?;
    Ok(new)
}

/// Merges a value of the apply configuration into the value `target` of the object, according to their schema. Returns an error for an
/// atomic list or map, which a policy may not change.
fn merge(schema: &Schema, target: &mut Value, configuration: &Value, path: &str) -> Result<(), String> {
    match (&schema.resolve().shape, configuration) {
        (Shape::Object(fields), Value::Object(configuration)) => merge_fields(fields, target, configuration, path),
        (Shape::List(list), Value::Array(configuration)) => match &list.kind {
            ListKind::Atomic => Err(atomic_error(path)),
            ListKind::Set => {
                let items = as_list_mut(target);
                for item in configuration {
                    if !items.contains(item) {
                        items.push(item.clone());
                    }
                }
                Ok(())
            }
            ListKind::Map(keys) => merge_map_list(&list.items, keys, as_list_mut(target), configuration, path),
        },
        (Shape::Object(_), Value::Null) | (Shape::List(_), Value::Null) => Ok(()),
        (Shape::Object(_), other) => Err(type_error(path, &format!("expected map, got &{{{other}}}"))),
        (Shape::List(_), other) => Err(type_error(path, &format!("expected list, got &{{{other}}}"))),
        _ => {
            target.clone_from(configuration);
            Ok(())
        }
    }
}

/// Merges the fields of a map or struct. Returns an error for a field that the schema does not declare.
fn merge_fields(
    fields: &Fields,
    target: &mut Value,
    configuration: &Map<String, Value>,
    path: &str,
) -> Result<(), String> {
    if fields.atomic {
        return Err(atomic_error(path));
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target_fields) = target else { return Ok(()) };
    for (name, value) in configuration {
        let path = format!("{path}.{name}");
        // The schema of a custom kind does not define the metadata.
        let metadata = (path == ".metadata").then(|| builtin::definition(METADATA)).flatten();
        match metadata.map(Definition::schema).or_else(|| fields.field(name)) {
            Some(schema) => merge(schema, target_fields.entry(name).or_insert(Value::Null), value, &path)?,
            None if matches!(fields.others, OtherFields::Unknown) && !TYPE_FIELDS.contains(&path.as_str()) => {
                return Err(type_error(&path, "field not declared in schema"));
            }
            None => drop(target_fields.insert(name.clone(), value.clone())),
        }
    }
    Ok(())
}

/// The definition of the metadata.
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/// The fields of the type, which schemas do not define.
const TYPE_FIELDS: [&str; 2] = [".apiVersion", ".kind"];

/// Merges the items of a list with the type `map`. An item is merged into the existing item with the same keys, or appended as a new item.
fn merge_map_list(
    schema: &Schema,
    keys: &[Box<str>],
    items: &mut Vec<Value>,
    configuration: &[Value],
    path: &str,
) -> Result<(), String> {
    for item in configuration {
        // An omitted key has its default value.
        let default = |key: &str| schema.field(key).and_then(|schema| schema.default.clone()).unwrap_or_default();
        let key = |item: &Value, key: &str| item.get(key).cloned().unwrap_or_else(|| default(key));
        let has_same_key = |existing: &Value| keys.iter().all(|name| key(existing, name) == key(item, name));
        let position = items.iter().position(has_same_key);
        let path = format!(
            "{path}[{}]",
            keys.iter().map(|name| format!("{name}={}", key(item, name))).collect::<Vec<_>>().join(",")
        );
        match position.and_then(|position| items.get_mut(position)) {
            Some(existing) => merge(schema, existing, item, &path)?,
            None => {
                let mut new = Value::Object(Map::new());
                merge(schema, &mut new, item, &path)?;
                items.push(new);
            }
        }
    }
    Ok(())
}

/// Returns the items of a list. Replaces any other value with an empty list.
fn as_list_mut(value: &mut Value) -> &mut Vec<Value> {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    match value {
        Value::Array(items) => items,
        _ => unreachable!("the value is a list"),
    }
}

/// Returns kube-apiserver's message for a change of an atomic list or map.
fn atomic_error(path: &str) -> String {
    format!("error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {path}")
}

/// Returns kube-apiserver's message for a configuration that does not fit the schema.
fn type_error(path: &str, why: &str) -> String {
    format!("error applying patch: failed to convert patch object to typed object: {path}: {why}")
}
