//! Collects the fields of an object into a set, and removes a set of fields from an object.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Element, Set,
    typed::{self, Structure, Type},
};
use crate::schema::List;

/// Returns the set of all fields of an object.
pub(crate) fn set_of(of: Type<'_>, object: &Value) -> Set {
    let mut set = Set::default();
    walk(of, object, &mut set);
    set
}

/// Collects the fields under a value, and returns whether the value itself is a field of the set.
fn walk(of: Type<'_>, value: &Value, set: &mut Set) -> bool {
    match of.form(Some(value)) {
        Structure::Leaf => true,
        Structure::Items(list) => {
            walk_items(list, value, set);
            false
        }
        Structure::Map => {
            for (name, value) in value.as_object().into_iter().flatten() {
                let field = of.field(name);
                let mut below = Set::default();
                let leaf = walk(field.map_or(Type::Deduced, |field| field.of), value, &mut below);
                let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
                let unnamed = field.is_none_or(|field| !field.named);
                set.graft(&Element::field(name), leaf || empty || unnamed, below);
            }
            false
        }
    }
}

fn walk_items(list: &List, value: &Value, set: &mut Set) {
    let items = value.as_array().into_iter().flatten();
    let mut seen: BTreeMap<Element, Vec<&Value>> = BTreeMap::new();
    for item in items {
        if let Ok(element) = typed::element(list, item) {
            seen.entry(element).or_default().push(item);
        }
    }
    for (element, items) in seen {
        let mut below = Set::default();
        // The fields inside items that share an element are not tracked.
        if let [item] = items[..] {
            walk(typed::items(list), item, &mut below);
        }
        set.graft(&element, true, below);
    }
}

/// Returns the set with each field added that the schema names and that contains a member of the set.
pub(crate) fn with_named(of: Type<'_>, set: &Set) -> Set {
    let mut whole = Set::default();
    for (element, member, below) in set.level() {
        let (inner, named) = match element {
            Element::Field(name) => match of.field(name) {
                Some(field) => (field.of, field.named),
                None => (Type::Deduced, false),
            },
            _ => match of.form(Some(&Value::Array(Vec::new()))) {
                Structure::Items(list) => (typed::items(list), false),
                Structure::Leaf | Structure::Map => (Type::Deduced, false),
            },
        };
        whole.graft(element, member || (named && !below.is_empty()), with_named(inner, below));
    }
    whole
}

/// Returns the object without the fields of the set.
pub(crate) fn removed(of: Type<'_>, value: &Value, gone: &Set) -> Option<Value> {
    match of.form(Some(value)) {
        // A scalar stays: the caller removes the field that holds it. An atomic list or map is removed as a whole.
        Structure::Leaf if value.is_object() || value.is_array() => None,
        Structure::Leaf => Some(value.clone()),
        Structure::Items(list) => {
            let items = value.as_array()?.iter().filter_map(|item| {
                let Ok(element) = typed::element(list, item) else { return Some(item.clone()) };
                if gone.has(&element) {
                    return None;
                }
                Some(match gone.below(&element) {
                    Some(below) => removed(typed::items(list), item, below).unwrap_or_default(),
                    None => item.clone(),
                })
            });
            Some(items.collect::<Vec<_>>()).filter(|items| !items.is_empty()).map(Value::Array)
        }
        Structure::Map => {
            let fields = value.as_object()?.iter().filter_map(|(name, value)| {
                let element = Element::field(name);
                if gone.has(&element) {
                    return None;
                }
                let inner = of.field(name).map_or(Type::Deduced, |field| field.of);
                let kept = match gone.below(&element) {
                    Some(below) => removed(inner, value, below).unwrap_or_default(),
                    None => value.clone(),
                };
                Some((name.clone(), kept))
            });
            Some(fields.collect::<serde_json::Map<_, _>>()).filter(|fields| !fields.is_empty()).map(Value::Object)
        }
    }
}
