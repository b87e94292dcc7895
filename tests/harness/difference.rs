//! Where what the real server says and what the sandbox says part.

use std::fmt;

use serde_json::Value;

/// One place where the two are not the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// A JSON pointer into the answer: `/code`, `/headers/warning/0`, `/body/metadata/name`, `/events/1/type`.
    pub path: String,
    /// What the real server has there.
    pub real: Option<Value>,
    /// What the sandbox has there.
    pub sandbox: Option<Value>,
}

/// All places where two values part, from the first to the last.
pub fn differences(real: &Value, sandbox: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", Some(real), Some(sandbox), &mut found);
    found
}

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

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

/// Whether a text fits a pattern in which `*` stands for anything.
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
