//! Converts JSON values to CEL values by their schemas.

use std::{collections::HashMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kube_cel::cel::{
    Context, Program, Value as Cel,
    objects::{Key, Map},
};
use opgen_schema::Keywords;
use serde_json::Value;

/// The reserved words of CEL, which a field name can't be.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

thread_local! {
    /// The compiled CEL functions that parse a timestamp and a duration, with their context.
    static TIMES: Option<(Program, Program, Context<'static>)> = Program::compile("timestamp(text)")
        .ok()
        .zip(Program::compile("duration(text)").ok())
        .map(|(time, duration)| (time, duration, Context::default()));
}

/// Converts a JSON value to a CEL value by its schema; `None` stands for an unknown schema.
pub(super) fn to_cel(value: &Value, schema: Option<&Keywords>) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(boolean) => Cel::Bool(*boolean),
        // An integer stays an integer, unless the schema has the type `number`.
        Value::Number(number) => {
            let integer = number.as_i64().filter(|_| !schema.is_some_and(|schema| schema.has_type("number")));
            integer.map_or_else(|| Cel::Float(number.as_f64().unwrap_or(f64::NAN)), Cel::Int)
        }
        Value::String(text) => text_to_cel(text, schema),
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            Cel::List(Arc::new(items.iter().map(|item| to_cel(item, schema)).collect()))
        }
        Value::Object(map) => {
            // The keys of a map are strings in CEL; field names are identifiers, so they are escaped.
            let is_map = schema.is_some_and(|schema| schema.is_map);
            let entry = |(name, value): (&String, &Value)| {
                let field_schema = schema.and_then(|schema| schema.field(name));
                let name = if is_map { name.clone() } else { escape_field_name(name) };
                (Key::String(Arc::new(name)), to_cel(value, field_schema))
            };
            Cel::Map(Map { map: Arc::new(map.iter().map(entry).collect::<HashMap<_, _>>()) })
        }
    }
}

/// Converts a text by the format of its schema; a text that doesn't have the format stays a string.
fn text_to_cel(text: &str, schema: Option<&Keywords>) -> Cel {
    let plain = || Cel::String(Arc::new(text.to_owned()));
    match schema.map_or("", Keywords::format_name) {
        "byte" => STANDARD.decode(text).map_or_else(|_| plain(), |bytes| Cel::Bytes(Arc::new(bytes))),
        "date-time" => time_to_cel(text, false).unwrap_or_else(plain),
        "date" => time_to_cel(&format!("{text}T00:00:00Z"), false).unwrap_or_else(plain),
        "duration" => time_to_cel(text, true).unwrap_or_else(plain),
        _ => plain(),
    }
}

/// Converts a text to a CEL timestamp, or to a CEL duration if `is_duration`; `None` if the text is neither.
fn time_to_cel(text: &str, is_duration: bool) -> Option<Cel> {
    TIMES.with(|times| {
        let (time, duration, functions) = times.as_ref()?;
        let mut scope = functions.new_inner_scope();
        scope.add_variable_from_value("text", Cel::String(Arc::new(text.to_owned())));
        (if is_duration { duration } else { time }).execute(&scope).ok()
    })
}

/// Escapes a field name as an identifier of CEL, as Kubernetes does: puts `__` around reserved words, and replaces `__`, `.`,
/// `-` and `/` by `__NAME__` of the character.
pub(crate) fn escape_field_name(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__").replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__")
}
