//! Builds the empty object of a kind, with which a created object is compared to find the fields of its manager.

use serde_json::{Map, Value, json};

use crate::{
    kind::Kind,
    schema::{Definition, Schema, Shape},
    strategy::normalize,
};

/// Returns the empty object of a kind. For a built-in kind it has the fields that Go encodes for a struct of zero
/// values, such as `spec: {}`; since every object of the kind contains these fields, a create adds none of them, and
/// the creating manager does not own them. For a custom kind it has only `apiVersion` and `kind`.
pub(crate) fn empty_object(kind: &Kind) -> Value {
    let mut object = kind.definition().map(|definition| definition.zeroes(zero_fields).clone()).unwrap_or_default();
    object.insert("apiVersion".into(), kind.api_version().into());
    object.insert("kind".into(), kind.kind.clone().into());
    Value::Object(object)
}

/// Returns the fields that Go encodes for an empty struct of a definition: fields whose default is a zero value, and the
/// lists and maps that Go encodes as null.
fn zero_fields(definition: &'static Definition) -> Map<String, Value> {
    let Some(fields) = definition.schema().fields() else { return Map::new() };
    let zero = |(name, schema): (&str, &'static Schema)| Some((name.to_owned(), zero_value(schema)?));
    let known = fields.known.iter().map(|(name, schema)| (&**name, schema));
    let mut zeroes: Map<_, _> = known.filter_map(zero).collect();
    for name in normalize::null_fields(definition.name) {
        zeroes.entry(name.as_str()).or_insert(Value::Null);
    }
    zeroes
}

/// Returns the value that Go encodes for a field that was never set: the `default` of its schema if that is a zero
/// value. `None` if Go omits the field.
fn zero_value(schema: &'static Schema) -> Option<Value> {
    match (&schema.default, &schema.shape) {
        // A struct field that is not a pointer.
        (Some(default), Shape::Named(definition)) if *default == json!({}) => {
            Some(Value::Object(zero_fields(definition)))
        }
        (Some(default), _) if is_zero_value(default) => Some(default.clone()),
        _ => None,
    }
}

/// Returns whether the default of a field is the zero value of its Go type: false, 0, or an empty string or map.
fn is_zero_value(value: &Value) -> bool {
    match value {
        Value::Bool(bit) => !bit,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Null | Value::Array(_) => false,
    }
}
