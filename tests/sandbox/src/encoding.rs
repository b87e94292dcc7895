//! Encodes a response as YAML or as indented JSON, as the header `Accept` of the request asks.

use bytes::Bytes;
use serde_json::Value;

use crate::{
    call::{Call, Representation},
    response::{ApiResponse, Content, JSON},
};

const YAML: &str = "application/yaml";

/// The user agents that people use, which get indented JSON by default.
const INTERACTIVE_AGENTS: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

impl ApiResponse {
    /// Encodes the object of a response as YAML or indented JSON if the request asks for it. Streams, and responses
    /// that are not JSON, stay as they are.
    pub(crate) fn encoded(mut self, call: &Call) -> Self {
        let Content::Whole(text) = &self.content else { return self };
        if self.content_type != JSON {
            return self;
        }
        if call.accept.representation() == Representation::Yaml {
            if let Some(text) = to_yaml(text) {
                self.content = Content::Whole(text);
                self.content_type = YAML;
            }
        } else if wants_pretty(call) {
            self.content = Content::Whole(to_pretty(text));
        }
        self
    }
}

/// Returns whether the JSON of the response is indented: by the parameter `pretty` or, without it, for browsers, curl and Wget.
fn wants_pretty(call: &Call) -> bool {
    match call.options.raw("pretty").unwrap_or_default() {
        "" => INTERACTIVE_AGENTS.iter().any(|program| call.user_agent.starts_with(program)),
        value => matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True"),
    }
}

/// Converts JSON to YAML as Kubernetes formats it; `None` if the text is not valid JSON.
fn to_yaml(json: &[u8]) -> Option<Bytes> {
    let value: Value = serde_json::from_slice(json).ok()?;
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX, compact_list_indent: true };
    serde_saphyr::to_string_with_options(&value, options).ok().map(Bytes::from)
}

/// Indents JSON by two spaces, with each field and each item on a line of its own; the text must be valid JSON.
fn to_pretty(json: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(json.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let new_line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth, b' ');
    };
    let mut bytes = json.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if quoted {
            out.push(byte);
            // An unescaped quotation mark ends the string; an unescaped backslash escapes the next byte.
            (quoted, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                if let Some(close) = bytes.next_if(|next| matches!(next, b'}' | b']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                new_line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b' ' | b'\n' | b'\t' | b'\r' => {}
            _ => {
                quoted = byte == b'"';
                out.push(byte);
            }
        }
    }
    out.into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn indented_json_equals_that_of_serde_json() {
        let value = json!({"a": [1, {"b": "x\\\"{,:"}, [], {}], "c": null, "d": "ä\n"});
        let text = to_pretty(value.to_string().as_bytes());
        assert_eq!(text, serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn yaml_is_formatted_as_by_kubernetes() {
        let value = json!({"kind": "Namespace", "list": ["a", {"b": "1", "c": true}], "empty": {}, "none": []});
        let text = to_yaml(value.to_string().as_bytes()).unwrap();
        assert_eq!(text, "empty: {}\nkind: Namespace\nlist:\n- a\n- b: \"1\"\n  c: true\nnone: []\n");
    }
}
