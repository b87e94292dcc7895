//! Applies strategic merge patches, which merge some lists by the key of their items.

use serde_json::Value;

use super::refusal::untold;
use crate::{
    failure::Failure,
    fields::go,
    json::JsonObject,
    schema::{Merge, Schema},
};

/// The directives for the map or list item that contains them.
const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE: &str = "$deleteFromPrimitiveList/";

/// Merges a patch into an object.
pub(super) fn merge(schema: Option<&Schema>, object: &mut JsonObject, mut patch: JsonObject) -> Result<(), Failure> {
    match patch.get(DIRECTIVE) {
        Some(directive) if directive == "replace" => {
            patch.remove(DIRECTIVE);
            *object = patch;
            return Ok(());
        }
        Some(directive) if directive == "delete" => {
            object.clear();
            return Ok(());
        }
        Some(other) => return Err(unknown_directive(other, &Value::Object(patch.clone()))),
        None => {}
    }
    retain_keys(object, &mut patch)?;
    order_lists(schema, object, &mut patch)?;
    for (key, value) in patch {
        match key.strip_prefix(DELETE) {
            Some(list) => delete_from(object, list, &value)?,
            None => merge_field(schema, object, key, value)?,
        }
    }
    Ok(())
}

fn merge_field(schema: Option<&Schema>, object: &mut JsonObject, key: String, patch: Value) -> Result<(), Failure> {
    let field = schema.and_then(|schema| schema.field(&key));
    match (object.get_mut(&key), patch) {
        (_, Value::Null) => {
            object.remove(&key);
        }
        // Kubernetes has only one map that a patch replaces.
        (Some(Value::Object(held)), Value::Object(patch)) if !is_replaced(schema, &key) => {
            merge(field, held, patch)?;
        }
        (Some(Value::Array(held)), Value::Array(patch)) => {
            let list = field.and_then(Schema::list);
            let merge = list.and_then(|list| list.merge.as_ref());
            *held = merged_list(list.map(|list| &*list.items), merge, std::mem::take(held), patch)?;
        }
        (_, mut patch) => {
            discard_nulls(&mut patch);
            match plain(patch) {
                Some(patch) => object.insert(key, patch),
                None => object.remove(&key),
            };
        }
    }
    Ok(())
}

/// Whether a field is the selector of a PodDisruptionBudget, the only map with the strategy `replace`.
fn is_replaced(schema: Option<&Schema>, key: &str) -> bool {
    key == "selector" && schema.is_some_and(|schema| schema.field("unhealthyPodEvictionPolicy").is_some())
}

/// Handles `$retainKeys`: removes the fields that it does not name.
fn retain_keys(object: &mut JsonObject, patch: &mut JsonObject) -> Result<(), Failure> {
    let Some(retained) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let bad = || Failure::bad_request("invalid patch format of retainKeys");
    let Value::Array(retained) = retained else { return Err(bad()) };
    let named = |key: &str| retained.iter().any(|retained| retained == key);
    let directive = |key: &str| key.starts_with(DELETE) || key.starts_with(ORDER);
    if patch.iter().any(|(key, value)| !value.is_null() && !directive(key) && !named(key)) {
        return Err(bad());
    }
    object.retain(|key, _| named(key));
    Ok(())
}

/// Handles `$setElementOrder/LIST`: merges the list and sorts it in that order.
fn order_lists(schema: Option<&Schema>, object: &mut JsonObject, patch: &mut JsonObject) -> Result<(), Failure> {
    let keys: Vec<_> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for key in keys {
        let bad = || Failure::bad_request("invalid patch format of setElementOrder list");
        let Some(Value::Array(order)) = patch.remove(&key) else { return Err(bad()) };
        let name = key.trim_start_matches(ORDER);
        let list = schema.and_then(|schema| schema.field(name)).and_then(Schema::list);
        let merge = list.and_then(|list| list.merge.as_ref());
        let id = merge.and_then(|merge| merge.key.as_deref());
        let held = match object.remove(name) {
            Some(Value::Array(held)) => Some(held),
            Some(_) => return Err(bad()),
            None => None,
        };
        let wanted = match patch.remove(name) {
            Some(Value::Array(wanted)) => Some(wanted),
            Some(_) => return Err(bad()),
            None => None,
        };
        let server = held.clone().unwrap_or_default();
        let merged = match (held, wanted) {
            (None, None) => continue,
            (Some(held), None) => held,
            (None, Some(wanted)) => wanted.into_iter().filter_map(plain).collect(),
            (Some(held), Some(wanted)) => {
                check_order(id, &wanted, &order)?;
                merged_list(list.map(|list| &*list.items), merge, held, wanted)?
            }
        };
        object.insert(name.to_owned(), Value::Array(ordered(id, merged, &order, &server)));
    }
    Ok(())
}

/// Checks that the items of a patch come in the order that it sets.
fn check_order(id: Option<&str>, wanted: &[Value], order: &[Value]) -> Result<(), Failure> {
    let mut rest = order.iter();
    let plain = wanted.iter().filter(|item| item.get(DIRECTIVE).is_none());
    if order.is_empty() || plain.into_iter().all(|item| rest.any(|other| same(id, item, other))) {
        return Ok(());
    }
    let (wanted, order) = (go::format_value(&Value::from(wanted)), go::format_value(&Value::from(order)));
    let why = format!("The order in patch list:\n{wanted}\n doesn't match $setElementOrder list:\n{order}\n");
    Err(untold(why))
}

/// Handles `$deleteFromPrimitiveList/LIST`.
fn delete_from(object: &mut JsonObject, list: &str, gone: &Value) -> Result<(), Failure> {
    let Value::Array(gone) = gone else {
        return Err(Failure::bad_request("invalid patch format of primitive list"));
    };
    if let Some(Value::Array(held)) = object.get_mut(list) {
        held.retain(|item| !gone.contains(item));
    }
    Ok(())
}

fn merged_list(
    items: Option<&Schema>,
    strategy: Option<&Merge>,
    held: Vec<Value>,
    patch: Vec<Value>,
) -> Result<Vec<Value>, Failure> {
    let Some(strategy) = strategy else { return Ok(patch) };
    let id = strategy.key.as_deref();
    let mut result = held.clone();
    let Some(key) = id else {
        result.extend(patch.iter().filter(|item| !held.contains(item)).cloned());
        return Ok(ordered(None, result, &patch, &held));
    };
    let mut wanted = Vec::new();
    let mut replaced = false;
    for item in patch {
        match item.get(DIRECTIVE).and_then(Value::as_str) {
            None if item.get(DIRECTIVE).is_none() => wanted.push(item),
            Some("delete") => {
                let gone = item.get(key).ok_or_else(|| without_key(&item, key))?;
                result.retain(|held| held.get(key) != Some(gone));
            }
            Some("replace") => replaced = true,
            _ => return Err(unknown_directive(&item[DIRECTIVE], &item)),
        }
    }
    if replaced {
        return Ok(wanted);
    }
    for item in &wanted {
        let name = item.get(key).ok_or_else(|| without_key(item, key))?;
        match result.iter_mut().find(|held| held.get(key) == Some(name)) {
            Some(Value::Object(held)) => {
                let item = item.as_object().cloned().unwrap_or_default();
                merge(items, held, item)?;
            }
            _ => result.push(item.clone()),
        }
    }
    Ok(ordered(id, result, &wanted, &held))
}

/// Interleaves the items of the patch in its order with the others in the order of the server, keeping their relative
/// order on the server.
fn ordered(id: Option<&str>, items: Vec<Value>, patch: &[Value], server: &[Value]) -> Vec<Value> {
    let place = |order: &[Value], item: &Value| order.iter().position(|other| same(id, item, other));
    let (mut named, mut others): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| place(patch, item).is_some());
    named.sort_by_key(|item| place(patch, item));
    others.sort_by_key(|item| place(server, item).unwrap_or(usize::MAX));
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    let mut all = Vec::new();
    while let (Some(right), Some(left)) = (named.peek(), others.peek()) {
        let first = match (place(server, left), place(server, right)) {
            (Some(left), Some(right)) => left < right,
            _ => false,
        };
        all.extend(if first { others.next() } else { named.next() });
    }
    all.extend(named);
    all.extend(others);
    all
}

fn same(id: Option<&str>, item: &Value, other: &Value) -> bool {
    match id {
        Some(key) => item.get(key).is_some() && item.get(key) == other.get(key),
        None => item == other,
    }
}

/// Returns a new value of a patch without directives; `None` if it is only a directive.
fn plain(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => {
            let kept = map.into_iter().filter_map(|(key, value)| Some((key, plain(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(plain).collect())),
        scalar => Some(scalar),
    }
}

fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

fn unknown_directive(directive: &Value, patch: &Value) -> Failure {
    untold(format!("unknown patch type: {} in map: {}", go::format_value(directive), go::format_value(patch)))
}

fn without_key(item: &Value, key: &str) -> Failure {
    untold(format!("map: {} does not contain declared merge key: {key}", go::format_value(item)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
