//! Compares a response of the real API server with the one of the sandbox, field by field.

use std::fmt;

use serde_json::Value;

/// A field in which the two responses differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// A JSON pointer into the response: `/code`, `/headers/warning/0`, `/body/metadata/name`, `/events/1/type`.
    pub path: String,
    /// The value of the real server.
    pub real: Option<Value>,
    /// The value of the sandbox.
    pub sandbox: Option<Value>,
}

/// Returns all differences of two responses in order.
pub fn differences(real: &Value, sandbox: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", Some(real), Some(sandbox), &mut found);
    found
}

/// Adds the differences between two values, and recursively between their fields and items.
fn compare(path: &str, real: Option<&Value>, sandbox: Option<&Value>, found: &mut Vec<Difference>) {
    match (real, sandbox) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut keys: Vec<_> = left.keys().chain(right.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(&path, left.get(key), right.get(key), found);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for at in 0..left.len().max(right.len()) {
                compare(&format!("{path}/{at}"), left.get(at), right.get(at), found);
            }
        }
        (real, sandbox) if real == sandbox => {}
        (real, sandbox) => {
            found.push(Difference { path: path.to_owned(), real: real.cloned(), sandbox: sandbox.cloned() });
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |side: &Option<Value>| side.as_ref().map_or_else(|| "(nothing)".to_owned(), short);
        write!(f, "{}\n      real    {}\n      sandbox {}", self.path, show(&self.real), show(&self.sandbox))
    }
}

/// The number of characters of a value that messages show.
const SHOWN: usize = 600;

/// Returns a value as JSON, shortened for a message.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

/// Whether a text matches a pattern in which `*` matches anything.
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut pieces: Vec<_> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
