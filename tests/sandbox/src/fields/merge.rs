//! Merges an applied configuration into a live object.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::{
    Element,
    typed::{self, Structure, Type},
};
use crate::schema::List;

/// Returns the live object with the values of the applied object; fields that the applied object omits stay.
pub(crate) fn merged(of: Type<'_>, live: &Value, applied: &Value) -> Value {
    merge(of, Some(live), Some(applied)).unwrap_or_default()
}

fn merge(of: Type<'_>, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
    let Some(wanted) = applied else { return live.cloned() };
    let Some(held) = live else { return Some(wanted.clone()) };
    match (of.form(live), of.form(applied)) {
        (Structure::Items(list), Structure::Items(_)) => merge_items(list, held, wanted),
        (Structure::Map, Structure::Map) => merge_fields(of, held, wanted),
        _ => Some(wanted.clone()),
    }
}

fn merge_fields(of: Type<'_>, live: &Value, applied: &Value) -> Option<Value> {
    let (held, wanted) = (live.as_object(), applied.as_object());
    // If both are null or empty, the applied value decides between null and empty.
    if held.is_none_or(Map::is_empty) && wanted.is_none_or(Map::is_empty) {
        return Some(applied.clone());
    }
    let mut fields = Map::new();
    for (name, live) in held.into_iter().flatten() {
        let inner = of.field(name).map_or(Type::Deduced, |field| field.of);
        if let Some(value) = merge(inner, Some(live), wanted.and_then(|wanted| wanted.get(name))) {
            fields.insert(name.clone(), value);
        }
    }
    for (name, applied) in wanted.into_iter().flatten() {
        if !held.is_some_and(|held| held.contains_key(name)) {
            fields.insert(name.clone(), applied.clone());
        }
    }
    Some(Value::Object(fields)).filter(|fields| fields.as_object().is_some_and(|fields| !fields.is_empty()))
}

fn merge_items(list: &List, live: &Value, applied: &Value) -> Option<Value> {
    let (held, wanted) = (numbered(list, live), numbered(list, applied));
    if held.is_empty() && wanted.is_empty() {
        return Some(applied.clone());
    }
    let mut by_element: BTreeMap<&Element, Vec<&Value>> = BTreeMap::new();
    held.iter().for_each(|(element, item)| by_element.entry(element).or_default().push(item));
    let applied: BTreeSet<&Element> = wanted.iter().map(|(element, _)| element).collect();
    let items = in_order(&held, &wanted, &applied, &by_element).into_iter().filter_map(|place| match place {
        MergedItem::Live(item) => Some(item.clone()),
        MergedItem::Applied(element, item) => {
            // The applied item replaces live items that share its element.
            let live = by_element.get(element).filter(|items| items.len() == 1).and_then(|items| items.first());
            merge(typed::items(list), live.copied(), Some(item))
        }
    });
    Some(items.collect::<Vec<_>>()).filter(|items| !items.is_empty()).map(Value::Array)
}

type Numbered<'a> = Vec<(Element, &'a Value)>;

fn numbered<'a>(list: &List, value: &'a Value) -> Numbered<'a> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(|item| Some((typed::element(list, item).ok()?, item))).collect()
}

/// An item at one position of a merged list.
enum MergedItem<'a> {
    Live(&'a Value),
    Applied(&'a Element, &'a Value),
}

/// Orders a merged list: applied items keep their order, and each other item follows the item that it followed in the
/// live list.
fn in_order<'a>(
    held: &'a Numbered<'_>,
    wanted: &'a Numbered<'_>,
    applied: &BTreeSet<&Element>,
    live: &BTreeMap<&Element, Vec<&Value>>,
) -> Vec<MergedItem<'a>> {
    let mut shared: VecDeque<&Element> =
        wanted.iter().map(|(element, _)| element).filter(|element| live.contains_key(element)).collect();
    let mut next_shared = shared.pop_front();
    let mut done: BTreeSet<&Element> = BTreeSet::new();
    let mut places = Vec::with_capacity(held.len().max(wanted.len()));
    let (mut left, mut right) = (held.iter().peekable(), wanted.iter().peekable());
    loop {
        if let (Some((element, _)), Some((other, item))) = (left.peek(), right.peek()) {
            if element == other {
                done.insert(other);
                places.push(MergedItem::Applied(other, item));
                left.next();
                right.next();
                next_shared = shared.pop_front();
                continue;
            }
            // Both lists have this item, but it is not the next shared one: it takes its position in the applied list.
            if applied.contains(element) && next_shared.is_some_and(|next| next != element) {
                left.next();
                continue;
            }
        }
        if let Some((element, item)) = left.peek() {
            if !applied.contains(element) {
                places.push(MergedItem::Live(item));
                left.next();
                continue;
            }
            if done.contains(element) {
                left.next();
            }
        }
        match right.next() {
            Some((element, item)) => {
                done.insert(element);
                places.push(MergedItem::Applied(element, item));
                if next_shared == Some(element) {
                    next_shared = shared.pop_front();
                }
            }
            None if left.peek().is_none() => return places,
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

    fn set() -> Schema {
        parse(&json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}))
    }

    /// Tests results of structured-merge-diff for sets; each letter is an item.
    #[test]
    fn applied_items_come_in_their_order_and_others_stay_where_they_were() {
        let schema = set();
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
