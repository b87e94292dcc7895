//! Collects the fields of an object into a set, and removes a set of fields from an object.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Element, Set, SetEntry,
    typed::{self, Structure, Type},
};
use crate::schema::List;

/// Returns the set of all fields of an object (upstream: `ToFieldSet`).
pub(crate) fn set_of(type_: Type<'_>, object: &Value) -> Set {
    let mut set = Set::default();
    collect_fields(type_, object, &mut set);
    set
}

/// Adds the fields under a value to `set`, and returns whether the value is a leaf, so that the caller adds the field
/// that holds it.
fn collect_fields(type_: Type<'_>, value: &Value, set: &mut Set) -> bool {
    match type_.structure(Some(value)) {
        Structure::Leaf => true,
        Structure::Items(list) => {
            collect_items(list, value, set);
            false
        }
        Structure::Map => {
            for (name, value) in value.as_object().into_iter().flatten() {
                let field = type_.field(name);
                let mut children = Set::default();
                let is_leaf = collect_fields(field.map_or(Type::Deduced, |field| field.type_), value, &mut children);
                let is_empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
                // The keys of a map are fields of the set themselves; the struct fields that contain others are not.
                let is_map_key = field.is_none_or(|field| !field.in_schema);
                set.insert_subtree(&Element::field(name), is_leaf || is_empty || is_map_key, children);
            }
            false
        }
    }
}

/// Adds the items of a list and the fields under them to `set`. Leaves out items that can't be identified.
fn collect_items(list: &List, value: &Value, set: &mut Set) {
    let items = value.as_array().into_iter().flatten();
    let mut by_element: BTreeMap<Element, Vec<&Value>> = BTreeMap::new();
    for item in items {
        if let Ok(element) = typed::element(list, item) {
            by_element.entry(element).or_default().push(item);
        }
    }
    for (element, items) in by_element {
        let mut children = Set::default();
        // The fields inside items that share an element are not tracked.
        if let [item] = items[..] {
            collect_fields(typed::items(list), item, &mut children);
        }
        set.insert_subtree(&element, true, children);
    }
}

/// Returns the set with additional members: each struct field of the schema under which the set has a field (upstream:
/// `EnsureNamedFieldsAreMembers`).
pub(crate) fn with_named_fields(type_: Type<'_>, set: &Set) -> Set {
    let mut result = Set::default();
    for SetEntry { element, member, children } in set.level() {
        let (field_type, in_schema) = match element {
            Element::Field(name) => match type_.field(name) {
                Some(field) => (field.type_, field.in_schema),
                None => (Type::Deduced, false),
            },
            // Any other element identifies an item of a list.
            _ => match type_.structure(Some(&Value::Array(Vec::new()))) {
                Structure::Items(list) => (typed::items(list), false),
                Structure::Leaf | Structure::Map => (Type::Deduced, false),
            },
        };
        result.insert_subtree(
            element,
            member || (in_schema && !children.is_empty()),
            with_named_fields(field_type, children),
        );
    }
    result
}

/// Returns the value without the fields of a set (upstream: `RemoveItems`); `None` if nothing is left of it.
pub(crate) fn without_fields(type_: Type<'_>, value: &Value, removed: &Set) -> Option<Value> {
    match type_.structure(Some(value)) {
        // A scalar stays: the caller removes the field that holds it. An atomic list or map is removed as a whole.
        Structure::Leaf if value.is_object() || value.is_array() => None,
        Structure::Leaf => Some(value.clone()),
        Structure::Items(list) => {
            let items = value.as_array()?.iter().filter_map(|item| {
                // An item that can't be identified is in no set, so it stays.
                let Ok(element) = typed::element(list, item) else { return Some(item.clone()) };
                if removed.has(&element) {
                    return None;
                }
                Some(match removed.children(&element) {
                    Some(children) => without_fields(typed::items(list), item, children).unwrap_or_default(),
                    None => item.clone(),
                })
            });
            Some(items.collect::<Vec<_>>()).filter(|items| !items.is_empty()).map(Value::Array)
        }
        Structure::Map => {
            let fields = value.as_object()?.iter().filter_map(|(name, value)| {
                let element = Element::field(name);
                if removed.has(&element) {
                    return None;
                }
                let field_type = type_.field(name).map_or(Type::Deduced, |field| field.type_);
                let value_left = match removed.children(&element) {
                    Some(children) => without_fields(field_type, value, children).unwrap_or_default(),
                    None => value.clone(),
                };
                Some((name.clone(), value_left))
            });
            Some(fields.collect::<serde_json::Map<_, _>>()).filter(|fields| !fields.is_empty()).map(Value::Object)
        }
    }
}
