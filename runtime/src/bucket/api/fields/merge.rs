//! Merges an applied object into a live one, as server-side apply does: by fields, and by the keys or
//! values of list items.

use super::structure::{FieldStructure, FieldType, fields_of, identified_items, item_step, item_type};
use opgen_schema::List;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};

/// Returns the live object with the values of the applied one. Fields that the applied object does not have stay.
pub(super) fn merged(root: FieldType<'_>, live: &Value, applied: &Value) -> Value {
    merge(root, Some(live), Some(applied)).unwrap_or_default()
}

/// Merges an applied value into a live one. Maps are merged field by field, and lists with keys and sets item by item; any other
/// applied value replaces the live one. `None` if both are absent.
fn merge(value_type: FieldType<'_>, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
    let (Some(live), Some(applied)) = (live, applied) else { return applied.or(live).cloned() };
    match (value_type.structure(Some(live)), value_type.structure(Some(applied))) {
        (FieldStructure::Items(list), FieldStructure::Items(_)) => merge_items(list, live, applied),
        (FieldStructure::Fields, FieldStructure::Fields) => merge_fields(value_type, live, applied),
        _ => Some(applied.clone()),
    }
}

/// Merges two maps field by field; `None` if the result is empty.
fn merge_fields(value_type: FieldType<'_>, live: &Value, applied: &Value) -> Option<Value> {
    let (live_fields, applied_fields) = (fields_of(Some(live)), fields_of(Some(applied)));
    if live_fields.is_none() && applied_fields.is_none() {
        return Some(applied.clone());
    }
    let mut fields = live_fields.cloned().unwrap_or_default();
    for (name, applied) in applied_fields.into_iter().flatten() {
        match merge(value_type.field(name).0, fields.get(name), Some(applied)) {
            Some(value) => drop(fields.insert(name.clone(), value)),
            None => drop(fields.remove(name)),
        }
    }
    let fields: Map<String, Value> = fields;
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// Merges two lists by the steps of their items, which identify an item by its keys or its value; `None` if the result is empty.
///
/// The applied items keep their order, and the others stay where they are in the live list. The live list may have an item several times;
/// an applied item replaces all of them.
fn merge_items(list: &List, live: &Value, applied: &Value) -> Option<Value> {
    let live_items: Vec<(String, &Value)> =
        live.as_array().into_iter().flatten().filter_map(|item| Some((item_step(list, item)?, item))).collect();
    let applied_items = identified_items(list, Some(applied));
    if live_items.is_empty() && applied_items.is_empty() {
        return Some(applied.clone());
    }
    let mut live_by_step = BTreeMap::<&str, Vec<&Value>>::new();
    live_items.iter().for_each(|(step, item)| live_by_step.entry(step).or_default().push(item));
    let merge_item = |step: &str, item: &Value| {
        let live = live_by_step.get(step).and_then(|items| match items.as_slice() {
            [only] => Some(*only),
            // Of several live items with this step, none is merged: the applied item replaces them.
            _ => None,
        });
        merge(item_type(list), live, Some(item))
    };
    let is_live = |step: &str| live_by_step.contains_key(step);
    let items = merged_order(&live_items, &applied_items, is_live).into_iter().filter_map(|item| match item {
        OrderedItem::Live(item) => Some(item.clone()),
        OrderedItem::Applied(step, item) => merge_item(step, item),
    });
    let items: Vec<Value> = items.collect();
    (!items.is_empty()).then_some(Value::Array(items))
}

/// An item of a merged list: one that only the live list has, or one of the applied list.
enum OrderedItem<'a> {
    Live(&'a Value),
    Applied(&'a str, &'a Value),
}

/// Returns the items of the merged list in their order: applied items keep the order of the applied list, and the other items keep their
/// places in the live list. Both lists are pairs of the step that identifies an item and the item. `is_live` returns whether the live list
/// has an item with the step.
///
/// Source: the merge of lists in `sigs.k8s.io/structured-merge-diff/typed`.
fn merged_order<'a>(
    live: &'a [(String, &Value)],
    applied: &'a [(String, &Value)],
    is_live: impl Fn(&str) -> bool,
) -> Vec<OrderedItem<'a>> {
    let is_applied = |step: &str| applied.iter().any(|(applied, _)| applied == step);
    // The applied items that are in the live list, too, in the order in which they are placed.
    let mut shared: VecDeque<&str> =
        applied.iter().map(|(step, _)| step.as_str()).filter(|step| is_live(step)).collect();
    let (mut live, mut remaining) = (live, applied);
    let mut order = Vec::with_capacity(live.len().max(remaining.len()));
    let mut placed: Vec<&str> = Vec::new();
    loop {
        if let ([(step, _), live_tail @ ..], [(next, item), tail @ ..]) = (live, remaining) {
            if step == next {
                placed.push(next);
                order.push(OrderedItem::Applied(next, item));
                shared.pop_front();
                (live, remaining) = (live_tail, tail);
                continue;
            }
            if is_applied(step) && shared.front().is_some_and(|next| next != step) {
                // The next shared item is another one: this item is placed where the applied list has it.
                live = live_tail;
                continue;
            }
        }
        if let [(step, item), live_tail @ ..] = live {
            if !is_applied(step) {
                order.push(OrderedItem::Live(item));
                live = live_tail;
                continue;
            }
            if placed.contains(&step.as_str()) {
                live = live_tail;
            }
        }
        match remaining {
            [(step, item), tail @ ..] => {
                placed.push(step);
                order.push(OrderedItem::Applied(step, item));
                if shared.front().is_some_and(|next| next == step) {
                    shared.pop_front();
                }
                remaining = tail;
            }
            [] if live.is_empty() => return order,
            // All applied items are placed. The next turns place or skip the further live items.
            [] => {}
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use opgen_schema::parse_schema;
    use serde_json::json;

    #[test]
    fn applied_items_keep_their_order_and_others_their_place() {
        let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
        let schema = parse_schema(&json!({"type": "object", "properties": {"set": set}}), None);
        let set = FieldType::Known(schema.field("set").unwrap());
        let letters = |text: &str| Value::Array(text.chars().map(|letter| letter.to_string().into()).collect());
        for (live, applied, expected) in [
            ("abc", "", "abc"),
            ("abc", "d", "abcd"),
            ("abc", "cb", "acb"),
            ("abc", "ca", "bca"),
            ("abcd", "dxa", "bcdxa"),
            ("ab", "ab", "ab"),
            ("", "ba", "ba"),
            ("aab", "a", "ab"),
            ("aab", "c", "aabc"),
        ] {
            assert_eq!(merged(set, &letters(live), &letters(applied)), letters(expected), "{live} + {applied}");
        }
    }
}
