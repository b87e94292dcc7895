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

/// The change of a field itself, apart from the fields it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldChange {
    Same,
    Added,
    Modified,
    Removed,
}

/// Returns the changes from the old state to the new one.
pub(crate) fn changes(of: Type<'_>, old: &Value, new: &Value) -> Changes {
    let mut changes = Changes::default();
    compare(of, Some(old), Some(new), &mut changes);
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

    /// Records the change of a field and the changes of the fields it contains.
    fn note(&mut self, element: &Element, fate: FieldChange, below: Self) {
        self.added.graft(element, fate == FieldChange::Added, below.added);
        self.modified.graft(element, fate == FieldChange::Modified, below.modified);
        self.removed.graft(element, fate == FieldChange::Removed, below.removed);
    }
}

/// Compares two values, at least one of which exists. Adds the changes inside them to `below` and returns the change of
/// the value itself.
fn compare(of: Type<'_>, old: Option<&Value>, new: Option<&Value>, below: &mut Changes) -> FieldChange {
    let forms = (of.form(old), of.form(new));
    let form = match forms {
        (form, _) if new.is_none() => form,
        (Structure::Leaf, Structure::Leaf)
        | (Structure::Map, Structure::Map)
        | (Structure::Items(_), Structure::Items(_)) => forms.1,
        (_, form) if old.is_none() => form,
        // The value changed its structure: the fields it contained are removed, and the value itself is modified.
        (was, is) => {
            inside(of, was, old, new, below);
            inside(of, is, old, new, below);
            return FieldChange::Modified;
        }
    };
    inside(of, form, old, new, below)
}

fn inside(
    of: Type<'_>,
    form: Structure<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    below: &mut Changes,
) -> FieldChange {
    match form {
        Structure::Leaf => return whole(old, new),
        Structure::Items(list) => {
            let (was, is) = (array(old), array(new));
            if was.is_empty() && is.is_empty() {
                return whole(old, new);
            }
            compare_items(list, was, is, below);
        }
        Structure::Map => {
            let (was, is) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
            if was.is_none_or(Map::is_empty) && is.is_none_or(Map::is_empty) {
                return whole(old, new);
            }
            compare_fields(of, was, is, below);
        }
    }
    match (old, new) {
        (None, _) => FieldChange::Added,
        (_, None) => FieldChange::Removed,
        _ => FieldChange::Same,
    }
}

/// Returns the change of a value that is compared as a whole.
fn whole(old: Option<&Value>, new: Option<&Value>) -> FieldChange {
    match (old, new) {
        (None, _) => FieldChange::Added,
        (_, None) => FieldChange::Removed,
        (Some(old), Some(new)) if old == new => FieldChange::Same,
        _ => FieldChange::Modified,
    }
}

fn array(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn compare_fields(of: Type<'_>, old: Option<&JsonObject>, new: Option<&JsonObject>, below: &mut Changes) {
    let in_old = old.into_iter().flatten().map(|(name, value)| (name, Some(value), new.and_then(|new| new.get(name))));
    let in_new = new.into_iter().flatten().filter(|(name, _)| old.is_none_or(|old| !old.contains_key(*name)));
    for (name, was, is) in in_old.chain(in_new.map(|(name, value)| (name, None, Some(value)))) {
        if was == is {
            continue;
        }
        let inner = of.field(name).map_or(Type::Deduced, |field| field.of);
        let mut inside = Changes::default();
        let fate = compare(inner, was, is, &mut inside);
        below.note(&Element::field(name), fate, inside);
    }
}

fn compare_items(list: &List, old: &[Value], new: &[Value], below: &mut Changes) {
    let mut beside: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
    for item in old {
        if let Ok(element) = typed::element(list, item) {
            beside.entry(element).or_default().0.push(item);
        }
    }
    for item in new {
        if let Ok(element) = typed::element(list, item) {
            beside.entry(element).or_default().1.push(item);
        }
    }
    for (element, (was, is)) in beside {
        if was == is {
            continue;
        }
        let mut inside = Changes::default();
        // Items that have the same element are tracked as one.
        let fate = match (&was[..], &is[..]) {
            (&[_, _, ..], &[_, _, ..]) => FieldChange::Modified,
            (&[_, _, ..], _) => {
                if let Some(item) = is.first() {
                    let fate = compare(typed::items(list), None, Some(item), &mut inside);
                    below.note(&element, fate, inside);
                    inside = Changes::default();
                }
                FieldChange::Removed
            }
            (_, &[_, _, ..]) => {
                if let Some(item) = was.first() {
                    let fate = compare(typed::items(list), Some(item), None, &mut inside);
                    below.note(&element, fate, inside);
                    inside = Changes::default();
                }
                FieldChange::Added
            }
            _ => compare(typed::items(list), was.first().copied(), is.first().copied(), &mut inside),
        };
        below.note(&element, fate, inside);
    }
}
