//! Encodes a response as YAML or as indented JSON.

use bytes::Bytes;
use serde_json::Value;

use crate::{
    call::{Call, Representation},
    response::{ApiResponse, Content, JSON},
};

const YAML: &str = "application/yaml";

/// The user agents that get indented JSON, because people use them.
const PEOPLE: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

impl ApiResponse {
    /// Encodes an object in the format that the request accepts.
    pub(crate) fn encoded(mut self, call: &Call) -> Self {
        let Content::Whole(text) = &self.content else { return self };
        if self.content_type != JSON {
            return self;
        }
        if call.accept.representation() == Representation::Yaml {
            if let Some(text) = yaml(text) {
                self.content = Content::Whole(text);
                self.content_type = YAML;
            }
        } else if wants_pretty(call) {
            self.content = Content::Whole(pretty(text));
        }
        self
    }
}

fn wants_pretty(call: &Call) -> bool {
    match call.options.raw("pretty").unwrap_or_default() {
        "" => PEOPLE.iter().any(|program| call.user_agent.starts_with(program)),
        written => matches!(written, "1" | "t" | "T" | "true" | "TRUE" | "True"),
    }
}

fn yaml(json: &[u8]) -> Option<Bytes> {
    let value: Value = serde_json::from_slice(json).ok()?;
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX, compact_list_indent: true };
    serde_saphyr::to_string_with_options(&value, options).ok().map(Bytes::from)
}

/// Indents JSON with each field on a line of its own; the text must be valid JSON.
fn pretty(json: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(json.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth, b' ');
    };
    let mut letters = json.iter().copied().peekable();
    while let Some(letter) = letters.next() {
        if quoted {
            out.push(letter);
            (quoted, escaped) = (escaped || letter != b'"', !escaped && letter == b'\\');
            continue;
        }
        match letter {
            b'{' | b'[' => {
                out.push(letter);
                if let Some(close) = letters.next_if(|next| matches!(next, b'}' | b']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(letter);
            }
            b',' => {
                out.push(letter);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b' ' | b'\n' | b'\t' | b'\r' => {}
            _ => {
                quoted = letter == b'"';
                out.push(letter);
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
    fn pretty_text_is_the_same_json() {
        let value = json!({"a": [1, {"b": "x\\\"{,:"}, [], {}], "c": null, "d": "ä\n"});
        let text = pretty(value.to_string().as_bytes());
        assert_eq!(text, serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn yaml_is_as_kubernetes_writes_it() {
        let value = json!({"kind": "Namespace", "list": ["a", {"b": "1", "c": true}], "empty": {}, "none": []});
        let text = yaml(value.to_string().as_bytes()).unwrap();
        assert_eq!(text, "empty: {}\nkind: Namespace\nlist:\n- a\n- b: \"1\"\n  c: true\nnone: []\n");
    }
}
