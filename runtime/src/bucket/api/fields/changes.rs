//! `FieldChanges`: the fields that a write adds, modifies and removes.

use super::{
    field_set::{FieldSet, field_step},
    structure::{FieldStructure, FieldType, fields_of, identified_items, item_type},
};
use serde_json::Value;
use std::collections::BTreeMap;

/// The fields that differ between two states of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldChanges {
    pub(super) added: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) removed: FieldSet,
}

/// The change of a value itself, apart from the changes of its fields or items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueChange {
    None,
    Added,
    Modified,
    Removed,
}

impl FieldChanges {
    /// Compares two states of an object.
    pub(super) fn between(root: FieldType<'_>, old: &Value, new: &Value) -> Self {
        let mut changes = Self::default();
        changes.compare(root, Some(old), Some(new));
        changes
    }

    /// Returns the changes without the ignored fields and the fields below them.
    pub(super) fn without(self, ignored: &FieldSet) -> Self {
        Self {
            added: self.added.without(ignored),
            modified: self.modified.without(ignored),
            removed: self.removed.without(ignored),
        }
    }

    /// Removes the changed fields from the set of fields that a manager owns.
    pub(super) fn take_from(&self, owned: &mut FieldSet) {
        [&self.added, &self.modified, &self.removed].into_iter().for_each(|changed| owned.subtract(changed));
    }

    /// Records the differences between the fields or items of two values, and returns the change of the value itself. An absent value is
    /// `None`; at least one value is present.
    fn compare(&mut self, value_type: FieldType<'_>, old: Option<&Value>, new: Option<&Value>) -> ValueChange {
        let (old_structure, new_structure) = (value_type.structure(old), value_type.structure(new));
        if new.is_none() {
            return self.compare_parts(old_structure, value_type, old, new);
        }
        if old.is_none() || is_same_structure(old_structure, new_structure) {
            return self.compare_parts(new_structure, value_type, old, new);
        }
        // The structure has changed, for example from a map to a scalar: all old parts are removed, and all new parts are added.
        self.compare_parts(old_structure, value_type, old, new);
        self.compare_parts(new_structure, value_type, old, new);
        ValueChange::Modified
    }

    /// Compares the parts of two values (the fields of a map, or the items of a list) by this structure, and returns the change of the
    /// value itself. A value that does not have this structure counts as a value without parts.
    fn compare_parts(
        &mut self,
        structure: FieldStructure<'_>,
        value_type: FieldType<'_>,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> ValueChange {
        match structure {
            FieldStructure::Atomic => return atomic_change(old, new),
            FieldStructure::Items(list) => {
                let (old_items, new_items) = (identified_items(list, old), identified_items(list, new));
                if old_items.is_empty() && new_items.is_empty() {
                    return atomic_change(old, new);
                }
                let mut pairs = BTreeMap::<String, (Option<&Value>, Option<&Value>)>::new();
                old_items.into_iter().for_each(|(step, item)| pairs.entry(step).or_default().0 = Some(item));
                new_items.into_iter().for_each(|(step, item)| pairs.entry(step).or_default().1 = Some(item));
                for (step, (old, new)) in pairs {
                    self.compare_part(&step, item_type(list), old, new);
                }
            }
            FieldStructure::Fields => {
                let (old_fields, new_fields) = (fields_of(old), fields_of(new));
                if old_fields.is_none() && new_fields.is_none() {
                    return atomic_change(old, new);
                }
                let names = old_fields.into_iter().chain(new_fields).flat_map(|fields| fields.keys());
                for name in names.collect::<std::collections::BTreeSet<_>>() {
                    let old = old_fields.and_then(|fields| fields.get(name));
                    let new = new_fields.and_then(|fields| fields.get(name));
                    self.compare_part(&field_step(name), value_type.field(name).0, old, new);
                }
            }
        }
        match (old, new) {
            (None, _) => ValueChange::Added,
            (_, None) => ValueChange::Removed,
            _ => ValueChange::None,
        }
    }

    /// Records the change of the field or item at a step, and the changes below it.
    fn compare_part(&mut self, step: &str, part: FieldType<'_>, old: Option<&Value>, new: Option<&Value>) {
        if old == new {
            return;
        }
        let mut nested = Self::default();
        let change = nested.compare(part, old, new);
        self.added.insert(step, change == ValueChange::Added, nested.added);
        self.modified.insert(step, change == ValueChange::Modified, nested.modified);
        self.removed.insert(step, change == ValueChange::Removed, nested.removed);
    }
}

/// Returns whether two structures are the same variant, whatever lists they have.
fn is_same_structure(one: FieldStructure<'_>, other: FieldStructure<'_>) -> bool {
    std::mem::discriminant(&one) == std::mem::discriminant(&other)
}

/// Returns the change of a value that is compared as a whole.
fn atomic_change(old: Option<&Value>, new: Option<&Value>) -> ValueChange {
    match (old, new) {
        (None, _) => ValueChange::Added,
        (_, None) => ValueChange::Removed,
        (old, new) if old == new => ValueChange::None,
        _ => ValueChange::Modified,
    }
}
