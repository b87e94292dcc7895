//! Compares two states of an object: which fields were added, modified or removed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    Element, Set,
    typed::{self, Structure, Type},
};
use crate::{json::JsonObject, schema::List};

/// The fields that a new state adds, modifies and removes compared with an old state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) added: Set,
    pub(crate) modified: Set,
    pub(crate) removed: Set,
}

/// The change of a field itself, apart from the fields inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldChange {
    Same,
    Added,
    Modified,
    Removed,
}

/// Returns the changes from the old state to the new one.
pub(crate) fn changes(type_: Type<'_>, old: &Value, new: &Value) -> Changes {
    let mut changes = Changes::default();
    compare(type_, Some(old), Some(new), &mut changes);
    changes
}

impl Changes {
    /// Leaves out the given fields and everything they contain.
    pub(crate) fn without(self, ignored: &Set) -> Self {
        if ignored.is_empty() {
            return self;
        }
        Self {
            added: self.added.without(ignored),
            modified: self.modified.without(ignored),
            removed: self.removed.without(ignored),
        }
    }

    /// Records the change of a field and the changes inside it.
    fn record(&mut self, element: &Element, change: FieldChange, children: Self) {
        self.added.insert_subtree(element, change == FieldChange::Added, children.added);
        self.modified.insert_subtree(element, change == FieldChange::Modified, children.modified);
        self.removed.insert_subtree(element, change == FieldChange::Removed, children.removed);
    }
}

/// Compares two values, at least one of which exists. Adds the changes inside them to `children`, and returns the
/// change of the value itself.
fn compare(type_: Type<'_>, old: Option<&Value>, new: Option<&Value>, children: &mut Changes) -> FieldChange {
    let structures = (type_.structure(old), type_.structure(new));
    let structure = match structures {
        // A removed value is compared by its old structure; an added value, or one with the same structure as before, by its new structure.
        (structure, _) if new.is_none() => structure,
        (Structure::Leaf, Structure::Leaf)
        | (Structure::Map, Structure::Map)
        | (Structure::Items(_), Structure::Items(_)) => structures.1,
        (_, structure) if old.is_none() => structure,
        // The value changed its structure: the fields it contained are removed, and the value itself is modified.
        (old_structure, new_structure) => {
            compare_as(type_, old_structure, old, new, children);
            compare_as(type_, new_structure, old, new, children);
            return FieldChange::Modified;
        }
    };
    compare_as(type_, structure, old, new, children)
}

/// Compares two values by a structure: as a leaf, the items of a list or the fields of a map. Adds the changes of items or fields to
/// `children`, and returns the change of the value itself. A value with another structure counts as empty.
fn compare_as(
    type_: Type<'_>,
    structure: Structure<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    children: &mut Changes,
) -> FieldChange {
    match structure {
        Structure::Leaf => return compare_atomic(old, new),
        Structure::Items(list) => {
            let (old_children, new_children) = (items_of(old), items_of(new));
            if old_children.is_empty() && new_children.is_empty() {
                return compare_atomic(old, new);
            }
            compare_items(list, old_children, new_children, children);
        }
        Structure::Map => {
            let (old_children, new_children) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
            if old_children.is_none_or(Map::is_empty) && new_children.is_none_or(Map::is_empty) {
                return compare_atomic(old, new);
            }
            compare_fields(type_, old_children, new_children, children);
        }
    }
    match (old, new) {
        (None, _) => FieldChange::Added,
        (_, None) => FieldChange::Removed,
        _ => FieldChange::Same,
    }
}

/// Returns the change of a value that is compared as a whole: a leaf, an atomic list or map, or an empty one.
fn compare_atomic(old: Option<&Value>, new: Option<&Value>) -> FieldChange {
    match (old, new) {
        (None, _) => FieldChange::Added,
        (_, None) => FieldChange::Removed,
        (Some(old), Some(new)) if old == new => FieldChange::Same,
        _ => FieldChange::Modified,
    }
}

/// Returns the items of a list; nothing if the value is absent or no list.
fn items_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Compares the fields of two objects, and adds their changes to `children`.
fn compare_fields(type_: Type<'_>, old: Option<&JsonObject>, new: Option<&JsonObject>, children: &mut Changes) {
    let in_old = old.into_iter().flatten().map(|(name, value)| (name, Some(value), new.and_then(|new| new.get(name))));
    let in_new = new.into_iter().flatten().filter(|(name, _)| old.is_none_or(|old| !old.contains_key(*name)));
    for (name, old_value, new_value) in in_old.chain(in_new.map(|(name, value)| (name, None, Some(value)))) {
        if old_value == new_value {
            continue;
        }
        let field_type = type_.field(name).map_or(Type::Deduced, |field| field.type_);
        let mut changes_inside = Changes::default();
        let change = compare(field_type, old_value, new_value, &mut changes_inside);
        children.record(&Element::field(name), change, changes_inside);
    }
}

/// The old and the new items of a list that have the same element.
#[derive(Default)]
struct SharedItems<'a> {
    old: Vec<&'a Value>,
    new: Vec<&'a Value>,
}

/// Compares the items of two lists by their keys or values, and adds their changes to `children`. Items with the same
/// key or value are compared as one.
fn compare_items(list: &List, old: &[Value], new: &[Value], children: &mut Changes) {
    let mut by_element: BTreeMap<Element, SharedItems<'_>> = BTreeMap::new();
    for item in old {
        if let Ok(element) = typed::element(list, item) {
            by_element.entry(element).or_default().old.push(item);
        }
    }
    for item in new {
        if let Ok(element) = typed::element(list, item) {
            by_element.entry(element).or_default().new.push(item);
        }
    }
    for (element, SharedItems { old: old_items, new: new_items }) in by_element {
        if old_items == new_items {
            continue;
        }
        let mut changes_inside = Changes::default();
        // Items that have the same element are tracked as one. If only one of the lists has several of them, they are removed or added as
        // a whole, and the single item of the other list is added or removed with its fields.
        let change = match (&old_items[..], &new_items[..]) {
            (&[_, _, ..], &[_, _, ..]) => FieldChange::Modified,
            (&[_, _, ..], _) => {
                if let Some(item) = new_items.first() {
                    let change = compare(typed::items(list), None, Some(item), &mut changes_inside);
                    children.record(&element, change, changes_inside);
                    changes_inside = Changes::default();
                }
                FieldChange::Removed
            }
            (_, &[_, _, ..]) => {
                if let Some(item) = old_items.first() {
                    let change = compare(typed::items(list), Some(item), None, &mut changes_inside);
                    children.record(&element, change, changes_inside);
                    changes_inside = Changes::default();
                }
                FieldChange::Added
            }
            _ => {
                compare(typed::items(list), old_items.first().copied(), new_items.first().copied(), &mut changes_inside)
            }
        };
        children.record(&element, change, changes_inside);
    }
}
