//! Merges the apply configuration of a policy into an object, without field ownership.

use serde_json::{Map, Value};

use crate::schema::{Definition, Fields, ListKind, OtherFields, Schema, Shape, builtin};

/// Merges the apply configuration of a policy into an object.
pub(super) fn applied(schema: &Schema, object: &Value, configuration: &Value) -> Result<Value, String> {
    if !configuration.is_object() {
        return Err("must evaluate to Object".to_owned());
    }
    let mut new = object.clone();
    merge(schema, &mut new, configuration, "")?;
    Ok(new)
}

fn merge(schema: &Schema, into: &mut Value, from: &Value, path: &str) -> Result<(), String> {
    match (&schema.resolve().shape, from) {
        (Shape::Object(fields), Value::Object(from)) => merge_fields(fields, into, from, path),
        (Shape::List(list), Value::Array(from)) => match &list.kind {
            ListKind::Atomic => Err(atomic(path)),
            ListKind::Set => {
                let held = list_in(into);
                for item in from {
                    if !held.contains(item) {
                        held.push(item.clone());
                    }
                }
                Ok(())
            }
            ListKind::Map(keys) => merge_items(&list.items, keys, list_in(into), from, path),
        },
        (Shape::Object(_), Value::Null) | (Shape::List(_), Value::Null) => Ok(()),
        (Shape::Object(_), other) => Err(untyped(path, &format!("expected map, got &{{{other}}}"))),
        (Shape::List(_), other) => Err(untyped(path, &format!("expected list, got &{{{other}}}"))),
        _ => {
            into.clone_from(from);
            Ok(())
        }
    }
}

fn merge_fields(fields: &Fields, into: &mut Value, from: &Map<String, Value>, path: &str) -> Result<(), String> {
    if fields.atomic {
        return Err(atomic(path));
    }
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    let Value::Object(held) = into else { return Ok(()) };
    for (name, value) in from {
        let path = format!("{path}.{name}");
        // The schema of a custom kind does not define the metadata.
        let metadata = (path == ".metadata").then(|| builtin::definition(METADATA)).flatten();
        match metadata.map(Definition::schema).or_else(|| fields.field(name)) {
            Some(schema) => merge(schema, held.entry(name).or_insert(Value::Null), value, &path)?,
            None if matches!(fields.others, OtherFields::Unknown) && !TYPE.contains(&path.as_str()) => {
                return Err(untyped(&path, "field not declared in schema"));
            }
            None => drop(held.insert(name.clone(), value.clone())),
        }
    }
    Ok(())
}

const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const TYPE: [&str; 2] = [".apiVersion", ".kind"];

fn merge_items(
    schema: &Schema,
    keys: &[Box<str>],
    held: &mut Vec<Value>,
    from: &[Value],
    path: &str,
) -> Result<(), String> {
    for item in from {
        // An omitted key has its default value.
        let default = |key: &str| schema.field(key).and_then(|schema| schema.default.clone()).unwrap_or_default();
        let key = |item: &Value, key: &str| item.get(key).cloned().unwrap_or_else(|| default(key));
        let same = |own: &Value| keys.iter().all(|name| key(own, name) == key(item, name));
        let at = held.iter().position(same);
        let path = format!(
            "{path}[{}]",
            keys.iter().map(|name| format!("{name}={}", key(item, name))).collect::<Vec<_>>().join(",")
        );
        match at.and_then(|at| held.get_mut(at)) {
            Some(own) => merge(schema, own, item, &path)?,
            None => {
                let mut new = Value::Object(Map::new());
                merge(schema, &mut new, item, &path)?;
                held.push(new);
            }
        }
    }
    Ok(())
}

fn list_in(value: &mut Value) -> &mut Vec<Value> {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    match value {
        Value::Array(items) => items,
        _ => unreachable!("it was made a list"),
    }
}

fn atomic(path: &str) -> String {
    format!("error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {path}")
}

fn untyped(path: &str, why: &str) -> String {
    format!("error applying patch: failed to convert patch object to typed object: {path}: {why}")
}
