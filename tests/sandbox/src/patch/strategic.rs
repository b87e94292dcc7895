//! Applies strategic merge patches, which merge some lists by the key of their items.

use serde_json::Value;

use super::error::error_without_reason;
use crate::{
    failure::Failure,
    fields::go,
    json::JsonObject,
    schema::{Merge, Schema},
};

/// The directive for the map or list item that contains it: `replace` or `delete`.
const DIRECTIVE: &str = "$patch";
/// The directive that lists the fields to retain.
const RETAIN_KEYS: &str = "$retainKeys";
/// The prefix of the directive that sets the order of a list.
const ORDER: &str = "$setElementOrder/";
/// The prefix of the directive that deletes items from a list of scalars.
const DELETE: &str = "$deleteFromPrimitiveList/";

/// Merges a patch into an object. The directive `$patch` replaces or clears the object instead. Without a schema, the
/// lists of the patch replace those of the object.
///
/// # Errors
/// Fails if a directive is invalid or a list item lacks its merge key.
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
            Some(list) => delete_from_list(object, list, &value)?,
            None => merge_field(schema, object, key, value)?,
        }
    }
    Ok(())
}

/// Merges a field of the patch into the object; null removes the field.
fn merge_field(schema: Option<&Schema>, object: &mut JsonObject, key: String, patch: Value) -> Result<(), Failure> {
    let field = schema.and_then(|schema| schema.field(&key));
    match (object.get_mut(&key), patch) {
        (_, Value::Null) => {
            object.remove(&key);
        }
        // A patch merges a map, except for one field of Kubernetes.
        (Some(Value::Object(live)), Value::Object(patch)) if !is_replaced(schema, &key) => {
            merge(field, live, patch)?;
        }
        (Some(Value::Array(live)), Value::Array(patch)) => {
            let list = field.and_then(Schema::list);
            let merge = list.and_then(|list| list.merge.as_ref());
            *live = merge_list(list.map(|list| &*list.items), merge, std::mem::take(live), patch)?;
        }
        // The object has no such field, or a value of another type.
        (_, mut patch) => {
            discard_nulls(&mut patch);
            match without_directives(patch) {
                Some(patch) => object.insert(key, patch),
                None => object.remove(&key),
            };
        }
    }
    Ok(())
}

/// Returns whether a field is the selector of a PodDisruptionBudget, the only map with the strategy `replace`.
fn is_replaced(schema: Option<&Schema>, key: &str) -> bool {
    key == "selector" && schema.is_some_and(|schema| schema.field("unhealthyPodEvictionPolicy").is_some())
}

/// Handles `$retainKeys`, a list of field names: removes all other fields from the object.
///
/// # Errors
/// Fails if the directive is no list, or if the patch sets a field that the directive does not list.
fn retain_keys(object: &mut JsonObject, patch: &mut JsonObject) -> Result<(), Failure> {
    let Some(retained) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let invalid = || Failure::bad_request("invalid patch format of retainKeys");
    let Value::Array(retained) = retained else { return Err(invalid()) };
    let is_retained = |key: &str| retained.iter().any(|retained| retained == key);
    let is_directive = |key: &str| key.starts_with(DELETE) || key.starts_with(ORDER);
    if patch.iter().any(|(key, value)| !value.is_null() && !is_directive(key) && !is_retained(key)) {
        return Err(invalid());
    }
    object.retain(|key, _| is_retained(key));
    Ok(())
}

/// Handles each `$setElementOrder/LIST` of the patch: removes the directive and `LIST` from the patch, merges `LIST` into
/// the object, and sorts the merged list in the order that the directive gives.
fn order_lists(schema: Option<&Schema>, object: &mut JsonObject, patch: &mut JsonObject) -> Result<(), Failure> {
    let keys: Vec<_> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for key in keys {
        let invalid = || Failure::bad_request("invalid patch format of setElementOrder list");
        let Some(Value::Array(order)) = patch.remove(&key) else { return Err(invalid()) };
        let name = key.trim_start_matches(ORDER);
        let list = schema.and_then(|schema| schema.field(name)).and_then(Schema::list);
        let merge = list.and_then(|list| list.merge.as_ref());
        let merge_key = merge.and_then(|merge| merge.key.as_deref());
        let live = match object.remove(name) {
            Some(Value::Array(live)) => Some(live),
            Some(_) => return Err(invalid()),
            None => None,
        };
        let patch_items = match patch.remove(name) {
            Some(Value::Array(patch_items)) => Some(patch_items),
            Some(_) => return Err(invalid()),
            None => None,
        };
        let live_order = live.clone().unwrap_or_default();
        let merged = match (live, patch_items) {
            (None, None) => continue,
            (Some(live), None) => live,
            (None, Some(patch_items)) => patch_items.into_iter().filter_map(without_directives).collect(),
            (Some(live), Some(patch_items)) => {
                check_order(merge_key, &patch_items, &order)?;
                merge_list(list.map(|list| &*list.items), merge, live, patch_items)?
            }
        };
        object.insert(name.to_owned(), Value::Array(order_items(merge_key, merged, &order, &live_order)));
    }
    Ok(())
}

/// Checks that the items of a patch come in the order that `$setElementOrder` specifies.
fn check_order(merge_key: Option<&str>, patch_items: &[Value], order: &[Value]) -> Result<(), Failure> {
    let mut remaining = order.iter();
    let plain_items = patch_items.iter().filter(|item| item.get(DIRECTIVE).is_none());
    // Each search for an item continues behind the previous item, so a wrong order finds nothing.
    if order.is_empty()
        || plain_items.into_iter().all(|item| remaining.any(|other| is_same_item(merge_key, item, other)))
    {
        return Ok(());
    }
    let (patch_items, order) = (go::format_value(&Value::from(patch_items)), go::format_value(&Value::from(order)));
    let why = format!("The order in patch list:\n{patch_items}\n doesn't match $setElementOrder list:\n{order}\n");
    Err(error_without_reason(why))
}

/// Handles `$deleteFromPrimitiveList/LIST`: removes the given items from a list.
fn delete_from_list(object: &mut JsonObject, list: &str, deleted: &Value) -> Result<(), Failure> {
    let Value::Array(deleted) = deleted else {
        return Err(Failure::bad_request("invalid patch format of primitive list"));
    };
    if let Some(Value::Array(live)) = object.get_mut(list) {
        live.retain(|item| !deleted.contains(item));
    }
    Ok(())
}

/// Merges a list of the patch into the list `live` of the object. With a merge key, merges the items of the same key; the
/// directive `$patch: delete` in an item of the patch deletes the item of its key, and `$patch: replace` replaces the whole
/// list by the other items of the patch. With a merge strategy without a key, adds missing values. Without a merge
/// strategy, the patch replaces the list.
fn merge_list(
    items: Option<&Schema>,
    strategy: Option<&Merge>,
    live: Vec<Value>,
    patch: Vec<Value>,
) -> Result<Vec<Value>, Failure> {
    let Some(strategy) = strategy else { return Ok(patch) };
    let merge_key = strategy.key.as_deref();
    let mut result = live.clone();
    let Some(key) = merge_key else {
        result.extend(patch.iter().filter(|item| !live.contains(item)).cloned());
        return Ok(order_items(None, result, &patch, &live));
    };
    let mut merged_items = Vec::new();
    let mut replaces_list = false;
    for item in patch {
        match item.get(DIRECTIVE).and_then(Value::as_str) {
            None if item.get(DIRECTIVE).is_none() => merged_items.push(item),
            Some("delete") => {
                let deleted = item.get(key).ok_or_else(|| missing_key(&item, key))?;
                result.retain(|live| live.get(key) != Some(deleted));
            }
            Some("replace") => replaces_list = true,
            _ => return Err(unknown_directive(&item[DIRECTIVE], &item)),
        }
    }
    if replaces_list {
        return Ok(merged_items);
    }
    for item in &merged_items {
        let name = item.get(key).ok_or_else(|| missing_key(item, key))?;
        match result.iter_mut().find(|live| live.get(key) == Some(name)) {
            Some(Value::Object(live)) => {
                let item = item.as_object().cloned().unwrap_or_default();
                merge(items, live, item)?;
            }
            _ => result.push(item.clone()),
        }
    }
    Ok(order_items(merge_key, result, &merged_items, &live))
}

/// Orders the items of a merged list (upstream: `mergeSortedSlice`). Items of `patch` keep the order of the patch, and all
/// other items keep the order of `server`, the list before the patch. An item that is not in the patch comes before the
/// next item of the patch if it preceded that item on the server.
fn order_items(merge_key: Option<&str>, items: Vec<Value>, patch: &[Value], server: &[Value]) -> Vec<Value> {
    let position = |order: &[Value], item: &Value| order.iter().position(|other| is_same_item(merge_key, item, other));
    let (mut in_patch, mut not_in_patch): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|item| position(patch, item).is_some());
    in_patch.sort_by_key(|item| position(patch, item));
    not_in_patch.sort_by_key(|item| position(server, item).unwrap_or(usize::MAX));
    let (mut in_patch, mut not_in_patch) = (in_patch.into_iter().peekable(), not_in_patch.into_iter().peekable());
    let mut merged = Vec::new();
    while let (Some(patch_item), Some(other_item)) = (in_patch.peek(), not_in_patch.peek()) {
        let other_precedes = match (position(server, other_item), position(server, patch_item)) {
            (Some(other_item), Some(patch_item)) => other_item < patch_item,
            _ => false,
        };
        merged.extend(if other_precedes { not_in_patch.next() } else { in_patch.next() });
    }
    merged.extend(in_patch);
    merged.extend(not_in_patch);
    merged
}

/// Returns whether two items have the same merge key, or are equal if there is none.
fn is_same_item(merge_key: Option<&str>, item: &Value, other: &Value) -> bool {
    match merge_key {
        Some(key) => item.get(key).is_some() && item.get(key) == other.get(key),
        None => item == other,
    }
}

/// Returns a value that a patch adds without the maps that contain a `$patch` directive; `None` if the value is such a map.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => {
            let fields = map.into_iter().filter_map(|(key, value)| Some((key, without_directives(value)?)));
            Some(Value::Object(fields.collect()))
        }
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_directives).collect())),
        scalar => Some(scalar),
    }
}

/// Removes all fields that are null, recursively (upstream: `discardNullValuesFromPatch`).
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

/// Returns the error for an unknown `$patch` directive.
fn unknown_directive(directive: &Value, patch: &Value) -> Failure {
    error_without_reason(format!(
        "unknown patch type: {} in map: {}",
        go::format_value(directive),
        go::format_value(patch)
    ))
}

/// Returns the error for a list item without its merge key.
fn missing_key(item: &Value, key: &str) -> Failure {
    error_without_reason(format!("map: {} does not contain declared merge key: {key}", go::format_value(item)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
