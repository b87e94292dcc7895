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

/// The change of a value itself, apart from those of its parts.
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

    /// Leaves out some fields, with all that is below them.
    pub(super) fn without(self, ignored: &FieldSet) -> Self {
        Self {
            added: self.added.without(ignored),
            modified: self.modified.without(ignored),
            removed: self.removed.without(ignored),
        }
    }

    /// Removes the changed fields from those that a manager owns.
    pub(super) fn take_from(&self, owned: &mut FieldSet) {
        [&self.added, &self.modified, &self.removed].into_iter().for_each(|changed| owned.subtract(changed));
    }

    /// Records the changes of two values, one of which may be absent, and returns the change of the value itself.
    fn compare(&mut self, value_type: FieldType<'_>, old: Option<&Value>, new: Option<&Value>) -> ValueChange {
        let (was, is) = (value_type.structure(old), value_type.structure(new));
        if new.is_none() {
            return self.compare_parts(was, value_type, old, new);
        }
        if old.is_none() || has_same_form(was, is) {
            return self.compare_parts(is, value_type, old, new);
        }
        // A value of another structure: its parts of before are removed, and it has new ones.
        self.compare_parts(was, value_type, old, new);
        self.compare_parts(is, value_type, old, new);
        ValueChange::Modified
    }

    /// Records the changes of the parts of two values, and returns the change of the value itself. A value of another structure has no
    /// parts.
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
                let (was, is) = (identified_items(list, old), identified_items(list, new));
                if was.is_empty() && is.is_empty() {
                    return atomic_change(old, new);
                }
                let mut pairs = BTreeMap::<String, (Option<&Value>, Option<&Value>)>::new();
                was.into_iter().for_each(|(step, item)| pairs.entry(step).or_default().0 = Some(item));
                is.into_iter().for_each(|(step, item)| pairs.entry(step).or_default().1 = Some(item));
                for (step, (old, new)) in pairs {
                    self.compare_part(&step, item_type(list), old, new);
                }
            }
            FieldStructure::Fields => {
                let (was, is) = (fields_of(old), fields_of(new));
                if was.is_none() && is.is_none() {
                    return atomic_change(old, new);
                }
                let names = was.into_iter().chain(is).flat_map(|fields| fields.keys());
                for name in names.collect::<std::collections::BTreeSet<_>>() {
                    let (old, new) = (was.and_then(|fields| fields.get(name)), is.and_then(|fields| fields.get(name)));
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

    /// Records the change of a field or item, and the changes below it.
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

fn has_same_form(one: FieldStructure<'_>, other: FieldStructure<'_>) -> bool {
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
