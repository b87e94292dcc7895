//! Collects the fields of an object into a set, and removes the fields of a set from an object.

use super::{
    field_set::{FieldSet, field_step},
    structure::{FieldStructure, FieldType, identified_items, item_step, item_type},
};
use serde_json::{Map, Value};

/// Returns the set of all fields of an object, as a manager that applies the object owns them.
pub(super) fn fields_in(root: FieldType<'_>, object: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    collect(root, object, &mut set);
    set
}

/// Adds the fields below a value to the set, and returns whether the value is atomic, so that it is owned as a whole.
fn collect(value_type: FieldType<'_>, value: &Value, set: &mut FieldSet) -> bool {
    match value_type.structure(Some(value)) {
        FieldStructure::Atomic => return true,
        FieldStructure::Items(list) => {
            for (step, item) in identified_items(list, Some(value)) {
                let mut nested = FieldSet::default();
                collect(item_type(list), item, &mut nested);
                set.insert(&step, true, nested);
            }
        }
        FieldStructure::Fields => {
            for (name, value) in value.as_object().into_iter().flatten() {
                let (field, is_named) = value_type.field(name);
                let mut nested = FieldSet::default();
                let is_atomic = collect(field, value, &mut nested);
                let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
                // A key of a map is itself in the set. A field that the schema names is in the set only by the fields below it, unless it
                // is atomic, null or an empty map.
                set.insert(&field_step(name), is_atomic || is_empty || !is_named, nested);
            }
        }
    }
    false
}

/// Returns the set, extended by each field that the schema names and below which the set has fields.
pub(super) fn with_named_fields(value_type: FieldType<'_>, set: &FieldSet) -> FieldSet {
    let mut result = FieldSet::default();
    for (step, node) in set.level() {
        let (part, is_named) = value_type.at_step(step);
        let is_member = node.is_member || is_named && !node.nested.is_empty();
        result.insert(step, is_member, with_named_fields(part, &node.nested));
    }
    result
}

/// Returns a value without the fields of the set `removed` and all fields below them; `None` if the value is empty then.
pub(super) fn without_fields(value_type: FieldType<'_>, value: &Value, removed: &FieldSet) -> Option<Value> {
    let part = |step: &str, part_type: FieldType<'_>, part: &Value| match removed.get(step) {
        None => Some(part.clone()),
        Some(node) if node.is_member => None,
        Some(node) => Some(without_fields(part_type, part, &node.nested).unwrap_or_default()),
    };
    match value_type.structure(Some(value)) {
        // The set has fields below this value although it is atomic: a scalar stays, and a list or map is removed as a whole.
        FieldStructure::Atomic => (!value.is_object() && !value.is_array()).then(|| value.clone()),
        FieldStructure::Items(list) => {
            let items = value.as_array()?.iter().filter_map(|item| match item_step(list, item) {
                Some(step) => part(&step, item_type(list), item),
                None => Some(item.clone()),
            });
            let items: Vec<Value> = items.collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        FieldStructure::Fields => {
            let fields = value.as_object()?.iter();
            let fields = fields.filter_map(|(name, value)| {
                Some((name.clone(), part(&field_step(name), value_type.field(name).0, value)?))
            });
            let fields: Map<String, Value> = fields.collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
    }
}
