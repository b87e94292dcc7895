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

/// Compares a value of the real API server with the one of the sandbox at the same path, and adds each difference to `found`. Objects are
/// compared by field and arrays by index, recursively; `None` stands for a missing field or item.
fn compare(path: &str, real: Option<&Value>, sandbox: Option<&Value>, found: &mut Vec<Difference>) {
    match (real, sandbox) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut keys: Vec<_> = left.keys().chain(right.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                // A key in a JSON pointer.
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(&path, left.get(key), right.get(key), found);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for index in 0..left.len().max(right.len()) {
                compare(&format!("{path}/{index}"), left.get(index), right.get(index), found);
            }
        }
        (real, sandbox) if real == sandbox => {}
        (real, sandbox) => {
            found.push(Difference { path: path.to_owned(), real: real.cloned(), sandbox: sandbox.cloned() });
        }
    }
}

impl fmt::Display for Difference {
    /// Displays the path and, on a line each, the value of the real server and of the sandbox.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| value.as_ref().map_or_else(|| "(nothing)".to_owned(), short);
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

/// Returns whether a whole text matches a pattern in which `*` matches any characters, or none.
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut pieces: Vec<_> = pieces.collect();
    // A pattern without `*` has only one piece, which has to be the whole text.
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    // Each piece between two `*` matches at its first occurrence.
    for piece in pieces {
        match rest.find(piece) {
            Some(start) => rest = &rest[start + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
