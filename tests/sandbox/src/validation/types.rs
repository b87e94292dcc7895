//! Whether the values of an object are of the types that its kind wants.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::{
    kind::Kind,
    schema::{Scalar, Schema, Shape, builtin},
    strategy::Quantity,
};

const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
const MICRO_TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
const NO_QUANTITY: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// Why an object of a built-in kind can't be read as one. Custom kinds have their schema for that.
pub(crate) fn check(kind: &Kind, object: &Value) -> Result<(), String> {
    if kind.custom().is_some() {
        return Ok(());
    }
    let place = Place { owner: &kind.kind, definition: None, path: String::new() };
    walk(kind.schema(), object, &place)
}

/// Where a value is: the type that holds it, and the names on the way.
struct Place<'a> {
    owner: &'a str,
    definition: Option<&'static builtin::Definition>,
    path: String,
}

impl Place<'_> {
    fn mismatch(&self, value: &Value, wanted: &str) -> String {
        let is = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Number(number) if wanted.starts_with("int") => format!("number {number}"),
            Value::Number(_) => "number".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        format!("json: cannot unmarshal {is} into Go struct field {}.{} of type {wanted}", self.owner, self.path)
    }

    /// The width of an integer, which the outline of the schema doesn't tell.
    fn integer(&self) -> &'static str {
        let field = self.path.rsplit('.').next().unwrap_or_default();
        let written: Option<Value> = self.definition.and_then(|known| serde_json::from_str(known.text).ok());
        let wide = written.is_some_and(|written| written["properties"][field]["format"] == "int64");
        if wide { "int64" } else { "int32" }
    }
}

fn walk(schema: &Schema, value: &Value, place: &Place<'_>) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    match &schema.shape {
        Shape::Any => Ok(()),
        Shape::Named(definition) => named(definition, value, place),
        Shape::Scalar(scalar) => self::scalar(*scalar, value, place),
        Shape::List(list) => {
            let Value::Array(items) = value else {
                return Err(place.mismatch(value, &go_type(schema)));
            };
            items.iter().try_for_each(|item| walk(&list.items, item, place))
        }
        Shape::Object(fields) => {
            let Value::Object(map) = value else {
                return Err(place.mismatch(value, &go_type(schema)));
            };
            // A map's keys are not on the way that Go tells.
            let is_map = fields.known.is_empty();
            map.iter().try_for_each(|(key, value)| {
                let Some(schema) = fields.field(key) else { return Ok(()) };
                if is_map {
                    return walk(schema, value, place);
                }
                let dot = if place.path.is_empty() { "" } else { "." };
                let path = format!("{}{dot}{key}", place.path);
                walk(schema, value, &Place { path, ..*place })
            })
        }
    }
}

fn named(definition: &'static builtin::Definition, value: &Value, place: &Place<'_>) -> Result<(), String> {
    match (definition.name, value) {
        (QUANTITY, Value::String(text)) => Quantity::parse(text.trim()).map(drop).map_err(|_| NO_QUANTITY.to_owned()),
        (QUANTITY, Value::Number(_)) => Ok(()),
        (QUANTITY, _) => Err(NO_QUANTITY.to_owned()),
        (TIME | MICRO_TIME, Value::String(text)) => time(text, definition.name == MICRO_TIME),
        (name, _) => {
            let owner = name.rsplit('.').next().unwrap_or_default();
            let schema = definition.schema();
            let fields = schema.fields().is_some_and(|fields| !fields.known.is_empty());
            if fields && !value.is_object() {
                return Err(place.mismatch(value, &go_name(name)));
            }
            let inner = Place { owner, definition: Some(definition), path: place.path.clone() };
            walk(schema, value, if fields { &inner } else { place })
        }
    }
}

fn scalar(scalar: Scalar, value: &Value, place: &Place<'_>) -> Result<(), String> {
    let wrong = |wanted: &str| Err(place.mismatch(value, wanted));
    match (scalar, value) {
        (Scalar::Text, Value::String(text)) => bytes(text, place),
        (Scalar::Text, _) if is_bytes(place) => wrong("[]uint8"),
        (Scalar::Text, _) => wrong("string"),
        (Scalar::Integer, Value::Number(number)) => {
            let wide = place.integer() == "int64";
            let fits = number.as_i64().is_some_and(|number| wide || i32::try_from(number).is_ok());
            if fits { Ok(()) } else { wrong(place.integer()) }
        }
        (Scalar::Integer, _) => wrong(place.integer()),
        (Scalar::Number, Value::Number(_)) | (Scalar::Boolean, Value::Bool(_)) => Ok(()),
        (Scalar::Number, _) => wrong("float64"),
        (Scalar::Boolean, _) => wrong("bool"),
        (Scalar::IntOrText, Value::String(_) | Value::Number(_)) => Ok(()),
        (Scalar::IntOrText, _) => wrong("int32"),
    }
}

/// Text that stands for bytes, as in `Secret.data`.
fn is_bytes(place: &Place<'_>) -> bool {
    matches!(
        (place.owner, place.path.as_str()),
        ("Secret", "data") | ("ConfigMap", "binaryData") | ("CertificateSigningRequestSpec", "spec.request")
    ) || place.path.ends_with("caBundle")
}

fn bytes(text: &str, place: &Place<'_>) -> Result<(), String> {
    if !is_bytes(place) || STANDARD.decode(text).is_ok() {
        return Ok(());
    }
    let good = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let at = text.bytes().position(|byte| !good(&byte)).unwrap_or(text.len());
    Err(format!("illegal base64 data at input byte {at}"))
}

fn time(text: &str, micro: bool) -> Result<(), String> {
    if text.is_empty() || text.parse::<jiff::Timestamp>().is_ok() {
        return Ok(());
    }
    let form = if micro { "2006-01-02T15:04:05.000000Z07:00" } else { "2006-01-02T15:04:05Z07:00" };
    Err(format!("parsing time {text:?} as {form:?}: cannot parse {text:?} as \"2006\""))
}

/// A type as Go writes it.
fn go_type(schema: &Schema) -> String {
    match &schema.shape {
        Shape::Named(definition) => go_name(definition.name),
        Shape::Scalar(Scalar::Text) => "string".to_owned(),
        Shape::Scalar(Scalar::Integer | Scalar::IntOrText) => "int32".to_owned(),
        Shape::Scalar(Scalar::Boolean) => "bool".to_owned(),
        Shape::Scalar(Scalar::Number) => "float64".to_owned(),
        Shape::List(list) => format!("[]{}", go_type(&list.items)),
        Shape::Object(fields) => match &fields.others {
            crate::schema::Others::Each(each) => format!("map[string]{}", go_type(each)),
            _ => "struct".to_owned(),
        },
        Shape::Any => "interface {}".to_owned(),
    }
}

/// `io.k8s.api.core.v1.Container` is `v1.Container`.
fn go_name(definition: &str) -> String {
    let mut parts = definition.rsplitn(3, '.');
    let (name, package) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{package}.{name}")
}
