//! Normalizes a built-in object as a round trip through Go's types would: omitted fields, quantities, times and defaults.

use std::{collections::HashMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{defaults, special};
use crate::{
    environment,
    kind::Kind,
    quantity::Quantity,
    schema::{Definition, Fields, OtherFields, Scalar, Schema, Shape, builtin},
};

/// The serialization rules of the API's Go types (`omitempty`, pointers), one definition a line.
const TEXT: &str = include_str!("../../table/omitted.json");

/// The fields that a definition omits when it is encoded.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SerializationRow {
    /// Scalars that are omitted if they are empty, false or zero.
    omitted: Vec<String>,
    /// Lists and maps that are encoded as null if they are empty.
    null: Vec<String>,
    /// Objects that are omitted if they are empty.
    omitted_structs: Vec<String>,
}

/// The serialization rules, by the name of the definition.
static ROWS: LazyLock<HashMap<String, SerializationRow>> =
    LazyLock::new(|| serde_json::from_str(TEXT).unwrap_or_default());

const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
const MICRO_TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";

/// The lists of a definition that are stored as null if they are empty.
const NULL_IF_EMPTY: [(&str, &str); 6] = [
    ("io.k8s.api.core.v1.LimitRangeSpec", "limits"),
    ("io.k8s.api.discovery.v1.EndpointSlice", "endpoints"),
    ("io.k8s.api.discovery.v1.EndpointSlice", "ports"),
    ("io.k8s.api.rbac.v1.ClusterRole", "rules"),
    ("io.k8s.api.rbac.v1.Role", "rules"),
    ("io.k8s.api.storage.v1.CSINodeSpec", "drivers"),
];

/// Replaces an empty list by null in the fields of [`NULL_IF_EMPTY`], before an object of the kind is stored.
pub(super) fn null_empty_lists(kind: &Kind, object: &mut Value) {
    let (parent, key) = match kind.plural.as_str() {
        _ if kind.custom().is_some() => return,
        "limitranges" => (object.get_mut("spec"), "limits"),
        "csinodes" => (object.get_mut("spec"), "drivers"),
        "clusterroles" | "roles" => (Some(object), "rules"),
        "endpointslices" => {
            null_if_empty(Some(&mut *object), "ports");
            (Some(object), "endpoints")
        }
        _ => return,
    };
    null_if_empty(parent, key);
}

/// Replaces the list at a key by null if it is empty.
fn null_if_empty(parent: Option<&mut Value>, key: &str) {
    if let Some(list) = parent.and_then(|parent| parent.get_mut(key))
        && list.as_array().is_some_and(Vec::is_empty)
    {
        *list = Value::Null;
    }
}

/// Normalizes a value: changes it as decoding into the Go type of its definition and encoding again would.
pub(super) fn normalize(definition: &'static Definition, value: &mut Value) {
    normalize_value(definition.schema(), definition.name, value);
}

/// Returns the fields of a definition that are encoded as null if they were never set.
pub(crate) fn null_fields(definition: &str) -> &'static [String] {
    ROWS.get(definition).map_or(&[][..], |row| &row.null)
}

/// Normalizes the metadata of an object, whose Go type all kinds share.
pub(super) fn normalize_metadata(object: &mut Value) {
    if let (Some(known), Some(metadata)) = (builtin::definition(METADATA), object.get_mut("metadata")) {
        normalize(known, metadata);
    }
}

/// Normalizes a value and, recursively, its fields and items. `definition_name` is the name of the OpenAPI definition of
/// the value, which selects serialization rules and defaults; it is empty for an inline schema, for which there are none.
fn normalize_value(schema: &Schema, definition_name: &'static str, value: &mut Value) {
    match (&schema.shape, value) {
        (Shape::Named(definition), value) => match definition.name {
            QUANTITY => normalize_quantity(value, false),
            TIME | MICRO_TIME => normalize_time(value, definition.name == MICRO_TIME),
            name => normalize_value(definition.schema(), name, value),
        },
        (Shape::Object(fields), Value::Object(map)) => normalize_object(fields, definition_name, map),
        (Shape::List(list), Value::Array(items)) => {
            items.iter_mut().for_each(|item| normalize_value(&list.items, "", item))
        }
        _ => {}
    }
}

/// Normalizes an object: removes fields that Go omits, sets defaults, and normalizes the remaining fields.
fn normalize_object(fields: &Fields, definition_name: &'static str, map: &mut Map<String, Value>) {
    // An object without known fields is a map.
    if let (OtherFields::Each(each), true) = (&fields.others, fields.known.is_empty()) {
        return normalize_map(each, map);
    }
    let row = ROWS.get(definition_name);
    let nulls = row.map_or(&[][..], |row| &row.null);
    map.retain(|key, value| {
        // An empty `managedFields` is not the same as a missing one: it resets the managers.
        if key == "managedFields" && value.is_array() {
            return true;
        }
        // An empty list of these fields stays a list until it is stored; therefore its writer owns it.
        if value.is_array() && NULL_IF_EMPTY.contains(&(definition_name, key)) {
            return true;
        }
        let is_omitted = is_zero_scalar(value) && row.is_some_and(|row| row.omitted.iter().any(|name| name == key));
        !is_empty(fields.known.get(key.as_str()), value) && !is_omitted
    });
    for key in nulls {
        map.entry(key.as_str()).or_insert(Value::Null);
    }
    for rule in defaults::rules_of(definition_name) {
        rule.apply(map);
    }
    for (key, value) in &mut *map {
        if let Some(schema) = fields.field(key) {
            normalize_value(schema, "", value);
        }
    }
    for key in row.map_or(&[][..], |row| &row.omitted_structs) {
        if map.get(key).and_then(Value::as_object).is_some_and(Map::is_empty) {
            map.remove(key);
        }
    }
    special::set_dependent_defaults(definition_name, map);
}

/// Normalizes the values of a map. Quantities are rounded to thousandths, away from zero, as in resource lists, and a null
/// string becomes empty.
fn normalize_map(value_schema: &Schema, map: &mut Map<String, Value>) {
    let is_quantity = matches!(&value_schema.shape, Shape::Named(definition) if definition.name == QUANTITY);
    let is_text = matches!(value_schema.resolve().shape, Shape::Scalar(Scalar::Text));
    for value in map.values_mut() {
        if is_quantity {
            normalize_quantity(value, true);
        } else if is_text && value.is_null() {
            *value = "".into();
        } else {
            normalize_value(value_schema, "", value);
        }
    }
}

/// Returns whether a value counts as absent: null, an empty list or an empty map.
fn is_empty(schema: Option<&Schema>, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty() && schema.is_some_and(|schema| schema.list().is_some()),
        Value::Object(map) => map.is_empty() && schema.and_then(Schema::fields).is_some_and(is_map),
        _ => false,
    }
}

/// Returns whether an object is a map with values of one type.
fn is_map(fields: &Fields) -> bool {
    fields.known.is_empty() && matches!(fields.others, OtherFields::Each(_))
}

/// Returns whether a scalar has the zero value of its Go type.
fn is_zero_scalar(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Bool(bit) => !bit,
        Value::Number(number) => number.as_i64() == Some(0),
        _ => false,
    }
}

/// Rewrites a quantity in its canonical form; leaves a value that is no quantity unchanged. `thousandths` is whether it is
/// rounded to thousandths, away from zero.
fn normalize_quantity(value: &mut Value, thousandths: bool) {
    let text = match &*value {
        Value::String(text) => Quantity::normalize_text(text, thousandths),
        Value::Number(number) => Quantity::normalize_text(&number.to_string(), thousandths),
        _ => return,
    };
    if let Ok(text) = text {
        *value = text.into();
    }
}

/// Rewrites a time in UTC with seconds, or with microseconds if `micro`; leaves a value that is no time unchanged.
fn normalize_time(value: &mut Value, micro: bool) {
    let Some(text) = value.as_str() else { return };
    // Such a text is already normalized: `2026-01-01T00:00:00Z` has 20 characters, with microseconds 27.
    if text.ends_with('Z') && text.len() == if micro { 27 } else { 20 } {
        return;
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        *value = if micro { format!("{time:.6}") } else { environment::seconds(time) }.into();
    }
}
