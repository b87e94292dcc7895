//! Converts JSON to CEL values and back.

use std::{collections::HashMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kube_cel::cel::{
    Value as Cel,
    objects::{Key, Map},
};
use serde_json::Value;

/// Converts JSON to a CEL value.
pub(crate) fn of_json(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(truth) => Cel::Bool(*truth),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Cel::Int(number),
            (None, Some(number)) => Cel::UInt(number),
            (None, None) => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(of_json).collect())),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (Key::String(Arc::new(key.clone())), of_json(value)));
            Cel::Map(Map { map: Arc::new(fields.collect::<HashMap<_, _>>()) })
        }
    }
}

/// Converts a CEL value to JSON; `None` for functions, opaque values and numbers that JSON can't represent.
pub(crate) fn to_json(value: &Cel) -> Option<Value> {
    Some(match value {
        Cel::Null => Value::Null,
        Cel::Bool(truth) => (*truth).into(),
        Cel::Int(number) => (*number).into(),
        Cel::UInt(number) => (*number).into(),
        Cel::Float(number) => serde_json::Number::from_f64(*number)?.into(),
        Cel::String(text) => text.as_str().into(),
        Cel::Bytes(bytes) => STANDARD.encode(bytes.as_slice()).into(),
        Cel::List(items) => Value::Array(items.iter().map(to_json).collect::<Option<_>>()?),
        Cel::Map(map) => {
            let field = |(key, value): (&Key, &Cel)| Some((key_text(key), to_json(value)?));
            Value::Object(map.map.iter().map(field).collect::<Option<_>>()?)
        }
        Cel::Timestamp(time) => time.to_rfc3339().into(),
        Cel::Duration(duration) => format!("{}s", duration.num_seconds()).into(),
        Cel::Opaque(_) | Cel::Function(..) => return None,
    })
}

/// Returns the key of a CEL map as the name of a JSON field.
fn key_text(key: &Key) -> String {
    match key {
        Key::Int(number) => number.to_string(),
        Key::Uint(number) => number.to_string(),
        Key::Bool(truth) => truth.to_string(),
        Key::String(text) => text.to_string(),
    }
}
