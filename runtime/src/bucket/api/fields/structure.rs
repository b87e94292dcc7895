//! `FieldType`: how server-side apply treats a value: as a whole, as a map of fields, or as a list of identified items.

use crate::bucket::api::metadata::metadata_schema;
use opgen_schema::{List, ListKind, OtherFields, Scalar, Schema, Shape};
use serde_json::{Map, Value};

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldType<'a> {
    /// A whole object, with the schema of its kind.
    Root(Option<&'a Schema>),
    Known(&'a Schema),
    /// A value without a schema: maps have fields, and all other values are atomic.
    Deduced,
}

/// The structure by which values are compared and merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldStructure<'a> {
    Atomic,
    /// The items are identified by their keys or by their values.
    Items(&'a List),
    Fields,
}

impl<'a> FieldType<'a> {
    /// Returns how a value of this type is compared and merged: as a whole, item by item, or field by field. Without a schema, the value
    /// itself decides; an absent value counts as a map of fields then.
    pub(super) fn structure(self, value: Option<&Value>) -> FieldStructure<'a> {
        let schema = match self {
            Self::Root(_) => return FieldStructure::Fields,
            Self::Known(schema) => schema,
            Self::Deduced => {
                return match value {
                    Some(Value::Object(_) | Value::Null) | None => FieldStructure::Fields,
                    Some(_) => FieldStructure::Atomic,
                };
            }
        };
        match &schema.resolve().shape {
            Shape::Any | Shape::Named(_) | Shape::Scalar(Scalar::IntOrText) => Self::Deduced.structure(value),
            Shape::Object(fields) if !fields.atomic => FieldStructure::Fields,
            Shape::List(list) if list.kind != ListKind::Atomic => FieldStructure::Items(list),
            Shape::Scalar(_) | Shape::Object(_) | Shape::List(_) => FieldStructure::Atomic,
        }
    }

    /// Returns the type of a field, and whether the schema names the field. It does not name the keys of a map (`additionalProperties`).
    pub(super) fn field(self, name: &str) -> (Self, bool) {
        let schema = match self {
            Self::Root(_) if name == "metadata" => return (Self::Known(metadata_schema()), true),
            Self::Root(Some(schema)) | Self::Known(schema) => schema,
            Self::Root(None) | Self::Deduced => return (Self::Deduced, false),
        };
        let Some(fields) = schema.fields() else { return (Self::Deduced, false) };
        match (fields.known.get(name), &fields.others) {
            (Some(known), _) => (Self::Known(known), true),
            (None, OtherFields::Each(each)) => (Self::Known(each), false),
            (None, OtherFields::Kept | OtherFields::Unknown) => (Self::Deduced, false),
        }
    }

    /// Returns the type of the field or item at a step of a field set, and whether the schema names the field.
    pub(super) fn at_step(self, step: &str) -> (Self, bool) {
        if let Some(name) = step.strip_prefix("f:") {
            return self.field(name);
        }
        // Every other step leads to an item of a list.
        match self.structure(Some(&Value::Array(Vec::new()))) {
            FieldStructure::Items(list) => (item_type(list), false),
            FieldStructure::Atomic | FieldStructure::Fields => (Self::Deduced, false),
        }
    }
}

/// Returns the type of the items of a list.
pub(super) fn item_type(list: &List) -> FieldType<'_> {
    FieldType::Known(&list.items)
}

/// Returns the step that identifies an item of a list, as in `FieldsV1`: `k:{"key":"value"}` in a list with keys, and `v:"item"` in a set.
/// Returns `None` for an item without any of the keys, and for an item of a set that is no scalar.
pub(super) fn item_step(list: &List, item: &Value) -> Option<String> {
    let ListKind::Map(keys) = &list.kind else {
        return (!item.is_object() && !item.is_array() && !item.is_null()).then(|| format!("v:{item}"));
    };
    let fields = item.as_object()?;
    let mut names: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
    names.sort_unstable();
    let value = |name: &str| fields.get(name).or_else(|| list.items.field(name)?.default.as_ref());
    let pairs = names.into_iter().filter_map(|name| Some(format!("{}:{}", Value::from(name), value(name)?)));
    let pairs: Vec<String> = pairs.collect();
    (!pairs.is_empty()).then(|| format!("k:{{{}}}", pairs.join(",")))
}

/// Returns the items of a list with the steps that identify them. Leaves out items without a step and items with the step of an earlier
/// item.
pub(super) fn identified_items<'v>(list: &List, value: Option<&'v Value>) -> Vec<(String, &'v Value)> {
    let mut items: Vec<(String, &Value)> = Vec::new();
    for item in value.and_then(Value::as_array).into_iter().flatten() {
        if let Some(step) = item_step(list, item).filter(|step| items.iter().all(|(earlier, _)| earlier != step)) {
            items.push((step, item));
        }
    }
    items
}

/// Returns the fields of an object; `None` if it is another value or has no fields.
pub(super) fn fields_of(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object).filter(|fields| !fields.is_empty())
}
