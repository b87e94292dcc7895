//! Merges an applied configuration into a live object.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::{
    Element,
    typed::{self, Structure, Type},
};
use crate::schema::List;

/// Returns the live object with the values of the applied object; fields that the applied object omits stay.
pub(crate) fn merged(type_: Type<'_>, live: &Value, applied: &Value) -> Value {
    merge(type_, Some(live), Some(applied)).unwrap_or_default()
}

/// Merges two values, at most one of which is absent; `None` if the result is absent.
fn merge(type_: Type<'_>, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
    let Some(applied_value) = applied else { return live.cloned() };
    let Some(live_value) = live else { return Some(applied_value.clone()) };
    match (type_.structure(live), type_.structure(applied)) {
        (Structure::Items(list), Structure::Items(_)) => merge_items(list, live_value, applied_value),
        (Structure::Map, Structure::Map) => merge_fields(type_, live_value, applied_value),
        _ => Some(applied_value.clone()),
    }
}

/// Merges two objects field by field; `None` if the result has no fields.
fn merge_fields(type_: Type<'_>, live: &Value, applied: &Value) -> Option<Value> {
    let (live_fields, applied_fields) = (live.as_object(), applied.as_object());
    // If both are null or empty, the applied value decides between null and empty.
    if live_fields.is_none_or(Map::is_empty) && applied_fields.is_none_or(Map::is_empty) {
        return Some(applied.clone());
    }
    let mut fields = Map::new();
    for (name, live) in live_fields.into_iter().flatten() {
        let field_type = type_.field(name).map_or(Type::Deduced, |field| field.type_);
        if let Some(value) =
            merge(field_type, Some(live), applied_fields.and_then(|applied_fields| applied_fields.get(name)))
        {
            fields.insert(name.clone(), value);
        }
    }
    for (name, applied) in applied_fields.into_iter().flatten() {
        if !live_fields.is_some_and(|live_fields| live_fields.contains_key(name)) {
            fields.insert(name.clone(), applied.clone());
        }
    }
    Some(Value::Object(fields)).filter(|fields| fields.as_object().is_some_and(|fields| !fields.is_empty()))
}

/// Merges two lists by the keys or values of their items (list types `map` and `set`). An applied item is merged with the live item of the
/// same key or value. Returns the applied list if both lists are empty, and `None` if no item of two other lists is left.
fn merge_items(list: &List, live: &Value, applied: &Value) -> Option<Value> {
    let (live_items, applied_items) = (identified_items(list, live), identified_items(list, applied));
    // If both are null or empty, the applied value decides between null and empty.
    if live_items.is_empty() && applied_items.is_empty() {
        return Some(applied.clone());
    }
    let mut by_element: BTreeMap<&Element, Vec<&Value>> = BTreeMap::new();
    live_items.iter().for_each(|(element, item)| by_element.entry(element).or_default().push(item));
    let applied_elements: BTreeSet<&Element> = applied_items.iter().map(|(element, _)| element).collect();
    let items = merged_order(&live_items, &applied_items, &applied_elements, &by_element).into_iter().filter_map(
        |merged_item| {
            match merged_item {
                MergedItem::Live(item) => Some(item.clone()),
                MergedItem::Applied(element, item) => {
                    // If several live items have this key or value, the applied item replaces them instead.
                    let live = by_element.get(element).filter(|items| items.len() == 1).and_then(|items| items.first());
                    merge(typed::items(list), live.copied(), Some(item))
                }
            }
        },
    );
    Some(items.collect::<Vec<_>>()).filter(|items| !items.is_empty()).map(Value::Array)
}

/// The items of a list, each with the path element (its keys or its value) that identifies it.
type IdentifiedItems<'a> = Vec<(Element, &'a Value)>;

/// Returns the items of a list with their path elements; leaves out items that can't be identified, such as an item
/// without any of the list's keys.
fn identified_items<'a>(list: &List, value: &'a Value) -> IdentifiedItems<'a> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(|item| Some((typed::element(list, item).ok()?, item))).collect()
}

/// An item at one position of a merged list.
enum MergedItem<'a> {
    Live(&'a Value),
    Applied(&'a Element, &'a Value),
}

/// Orders a merged list as structured-merge-diff does: applied items keep their order, and an item that only the live
/// list has follows the item that it followed there. Walks through both lists at once; `next_shared` is the next
/// applied item that the live list has, too.
fn merged_order<'a>(
    live_items: &'a IdentifiedItems<'_>,
    applied_items: &'a IdentifiedItems<'_>,
    applied_elements: &BTreeSet<&Element>,
    live_by_element: &BTreeMap<&Element, Vec<&Value>>,
) -> Vec<MergedItem<'a>> {
    let mut shared: VecDeque<&Element> = applied_items
        .iter()
        .map(|(element, _)| element)
        .filter(|element| live_by_element.contains_key(element))
        .collect();
    let mut next_shared = shared.pop_front();
    let mut placed: BTreeSet<&Element> = BTreeSet::new();
    let mut merged = Vec::with_capacity(live_items.len().max(applied_items.len()));
    let (mut live_rest, mut applied_rest) = (live_items.iter().peekable(), applied_items.iter().peekable());
    loop {
        // Both lists have items left.
        if let (Some((element, _)), Some((other, item))) = (live_rest.peek(), applied_rest.peek()) {
            // Both lists have the item at this position.
            if element == other {
                placed.insert(other);
                merged.push(MergedItem::Applied(other, item));
                live_rest.next();
                applied_rest.next();
                next_shared = shared.pop_front();
                continue;
            }
            // The live item is applied, too, but it is not the next shared item: skip it, because it gets its position
            // from the applied list.
            if applied_elements.contains(element) && next_shared.is_some_and(|next| next != element) {
                live_rest.next();
                continue;
            }
        }
        if let Some((element, item)) = live_rest.peek() {
            // Only the live list has the item.
            if !applied_elements.contains(element) {
                merged.push(MergedItem::Live(item));
                live_rest.next();
                continue;
            }
            // The item is already in the merged list, at its position in the applied list.
            if placed.contains(element) {
                live_rest.next();
            }
        }
        match applied_rest.next() {
            Some((element, item)) => {
                placed.insert(element);
                merged.push(MergedItem::Applied(element, item));
                if next_shared == Some(element) {
                    next_shared = shared.pop_front();
                }
            }
            None if live_rest.peek().is_none() => return merged,
            None => {}
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::{Schema, builtin::parse};

    fn set_of_strings() -> Schema {
        parse(&json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}))
    }

    /// Tests results of structured-merge-diff for sets; each letter is an item.
    #[test]
    fn applied_items_come_in_their_order_and_others_stay_where_they_were() {
        let schema = set_of_strings();
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
            let result = merged(Type::Known(&schema), &letters(live), &letters(applied));
            assert_eq!(result, letters(expected), "{live} + {applied}");
        }
    }
}
