//! Normalizes a built-in object as decoding into Go's types does: omitted fields, quantities, times and defaults.

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

static ROWS: LazyLock<HashMap<String, SerializationRow>> =
    LazyLock::new(|| serde_json::from_str(TEXT).unwrap_or_default());

const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
const MICRO_TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";

/// The top-level or spec lists that are null if a client omits them.
const WRITTEN_EMPTY: [(&str, &str); 6] = [
    ("io.k8s.api.core.v1.LimitRangeSpec", "limits"),
    ("io.k8s.api.discovery.v1.EndpointSlice", "endpoints"),
    ("io.k8s.api.discovery.v1.EndpointSlice", "ports"),
    ("io.k8s.api.rbac.v1.ClusterRole", "rules"),
    ("io.k8s.api.rbac.v1.Role", "rules"),
    ("io.k8s.api.storage.v1.CSINodeSpec", "drivers"),
];

/// Stores such lists as null if they are empty.
pub(super) fn forget_empty(kind: &Kind, object: &mut Value) {
    let (place, key) = match kind.plural.as_str() {
        _ if kind.custom().is_some() => return,
        "limitranges" => (object.get_mut("spec"), "limits"),
        "csinodes" => (object.get_mut("spec"), "drivers"),
        "clusterroles" | "roles" => (Some(object), "rules"),
        "endpointslices" => {
            forget_at(Some(&mut *object), "ports");
            (Some(object), "endpoints")
        }
        _ => return,
    };
    forget_at(place, key);
}

fn forget_at(place: Option<&mut Value>, key: &str) {
    if let Some(list) = place.and_then(|place| place.get_mut(key))
        && list.as_array().is_some_and(Vec::is_empty)
    {
        *list = Value::Null;
    }
}

/// Normalizes a value of a definition.
pub(super) fn definition(definition: &'static Definition, value: &mut Value) {
    walk(definition.schema(), definition.name, value);
}

/// Returns the fields of a definition that are encoded as null if they were never set.
pub(crate) fn null_in(definition: &str) -> &'static [String] {
    ROWS.get(definition).map_or(&[][..], |row| &row.null)
}

/// Normalizes the metadata of an object of any kind.
pub(super) fn metadata(object: &mut Value) {
    if let (Some(known), Some(metadata)) = (builtin::definition(METADATA), object.get_mut("metadata")) {
        definition(known, metadata);
    }
}

fn walk(schema: &Schema, name: &'static str, value: &mut Value) {
    match (&schema.shape, value) {
        (Shape::Named(definition), value) => match definition.name {
            QUANTITY => rewrite_quantity(value, false),
            TIME | MICRO_TIME => rewrite_time(value, definition.name == MICRO_TIME),
            name => walk(definition.schema(), name, value),
        },
        (Shape::Object(fields), Value::Object(map)) => object(fields, name, map),
        (Shape::List(list), Value::Array(items)) => items.iter_mut().for_each(|item| walk(&list.items, "", item)),
        _ => {}
    }
}

fn object(fields: &Fields, name: &'static str, map: &mut Map<String, Value>) {
    if let (OtherFields::Each(each), true) = (&fields.others, fields.known.is_empty()) {
        return each_value(each, map);
    }
    let row = ROWS.get(name);
    let nulls = row.map_or(&[][..], |row| &row.null);
    map.retain(|key, value| {
        // An empty `managedFields` is not the same as a missing one: it resets the managers.
        if key == "managedFields" && value.is_array() {
            return true;
        }
        // An empty list of these fields stays a list until it is stored; therefore its writer owns it.
        if value.is_array() && WRITTEN_EMPTY.contains(&(name, key)) {
            return true;
        }
        let omitted = is_zero(value) && row.is_some_and(|row| row.omitted.iter().any(|omitted| omitted == key));
        !is_empty(fields.known.get(key.as_str()), value) && !omitted
    });
    for key in nulls {
        map.entry(key.as_str()).or_insert(Value::Null);
    }
    for rule in defaults::of(name) {
        rule.apply(map);
    }
    for (key, value) in &mut *map {
        if let Some(schema) = fields.field(key) {
            walk(schema, "", value);
        }
    }
    for key in row.map_or(&[][..], |row| &row.omitted_structs) {
        if map.get(key).and_then(Value::as_object).is_some_and(Map::is_empty) {
            map.remove(key);
        }
    }
    special::complete(name, map);
}

/// Normalizes the values of a map.
fn each_value(each: &Schema, map: &mut Map<String, Value>) {
    let of_amounts = matches!(&each.shape, Shape::Named(definition) if definition.name == QUANTITY);
    let of_text = matches!(each.resolve().shape, Shape::Scalar(Scalar::Text));
    for value in map.values_mut() {
        if of_amounts {
            rewrite_quantity(value, true);
        } else if of_text && value.is_null() {
            *value = "".into();
        } else {
            walk(each, "", value);
        }
    }
}

/// Whether a value counts as absent: null, an empty list or an empty map.
fn is_empty(schema: Option<&Schema>, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty() && schema.is_some_and(|schema| schema.list().is_some()),
        Value::Object(map) => map.is_empty() && schema.and_then(Schema::fields).is_some_and(is_map),
        _ => false,
    }
}

fn is_map(fields: &Fields) -> bool {
    fields.known.is_empty() && matches!(fields.others, OtherFields::Each(_))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Bool(bit) => !bit,
        Value::Number(number) => number.as_i64() == Some(0),
        _ => false,
    }
}

fn rewrite_quantity(value: &mut Value, thousandths: bool) {
    let text = match &*value {
        Value::String(text) => Quantity::rewritten(text, thousandths),
        Value::Number(number) => Quantity::rewritten(&number.to_string(), thousandths),
        _ => return,
    };
    if let Ok(text) = text {
        *value = text.into();
    }
}

fn rewrite_time(value: &mut Value, micro: bool) {
    let Some(text) = value.as_str() else { return };
    // `2026-01-01T00:00:00Z` has 20 characters.
    if text.ends_with('Z') && text.len() == if micro { 27 } else { 20 } {
        return;
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        *value = if micro { format!("{time:.6}") } else { environment::seconds(time) }.into();
    }
}
