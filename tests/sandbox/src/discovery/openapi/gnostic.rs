//! Encodes OpenAPI v2 in the protobuf of `google/gnostic-models` (`openapiv2/OpenAPIv2.proto`).

use serde_json::{Map, Value};

/// An encoded protobuf message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Writes a length-delimited field: a string, bytes or a nested message.
    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.number(field << 3 | 2);
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, field: u64, text: Option<&Value>) {
        if let Some(Value::String(text)) = text {
            self.bytes(field, text.as_bytes());
        }
    }

    fn truth(&mut self, field: u64, truth: bool) {
        self.number(field << 3);
        self.number(truth.into());
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }
}

/// Encodes a `Document`.
pub(super) fn document(document: &Value) -> Vec<u8> {
    let (mut encoded, mut info) = (Message::default(), Message::default());
    encoded.text(1, document.get("swagger"));
    info.text(1, document["info"].get("title"));
    info.text(2, document["info"].get("version"));
    encoded.message(2, &info);
    encoded.message(8, &Message::default());
    encoded.message(9, &named(document["definitions"].as_object(), schema));
    encoded.0
}

/// Encodes a map as named entries: definitions, properties.
fn named(map: Option<&Map<String, Value>>, written: fn(&Value) -> Message) -> Message {
    let mut all = Message::default();
    for (name, value) in map.into_iter().flatten() {
        all.message(1, &pair(name, &written(value)));
    }
    all
}

fn pair(name: &str, value: &Message) -> Message {
    let mut pair = Message::default();
    pair.bytes(1, name.as_bytes());
    pair.message(2, value);
    pair
}

/// Encodes a `Schema`.
fn schema(schema: &Value) -> Message {
    let mut encoded = Message::default();
    for (field, keyword) in [(1, "$ref"), (2, "format"), (3, "title"), (4, "description"), (13, "pattern")] {
        encoded.text(field, schema.get(keyword));
    }
    if let Some(default) = schema.get("default") {
        encoded.message(5, &any(default));
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        encoded.text(19, Some(required));
    }
    for value in schema["enum"].as_array().into_iter().flatten() {
        encoded.message(20, &any(value));
    }
    if let Some(additional) = schema.get("additionalProperties") {
        encoded.message(21, &additional_properties(additional));
    }
    if let Some(kind) = schema.get("type") {
        let mut types = Message::default();
        types.text(1, Some(kind));
        encoded.message(22, &types);
    }
    if let Some(items) = schema.get("items") {
        let mut of = Message::default();
        of.message(1, &self::schema(items));
        encoded.message(23, &of);
    }
    if let Some(properties) = schema["properties"].as_object() {
        encoded.message(25, &named(Some(properties), self::schema));
    }
    for (name, value) in schema.as_object().into_iter().flatten().filter(|(name, _)| name.starts_with("x-")) {
        encoded.message(31, &pair(name, &any(value)));
    }
    encoded
}

fn additional_properties(additional: &Value) -> Message {
    let mut encoded = Message::default();
    match additional {
        Value::Bool(allowed) => encoded.truth(2, *allowed),
        of => encoded.message(1, &schema(of)),
    }
    encoded
}

/// Encodes an `Any`: a value as YAML, of which JSON is a subset.
fn any(value: &Value) -> Message {
    let mut encoded = Message::default();
    encoded.bytes(2, format!("{value}\n").as_bytes());
    encoded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_written_by_its_numbers() {
        let encoded = schema(&json!({"type": "object", "additionalProperties": {"type": "string", "format": "byte"}}));
        // The bytes that kube-apiserver writes for `ConfigMap.binaryData`.
        assert_eq!(encoded.0, b"\xaa\x01\x13\x0a\x11\x12\x04byte\xb2\x01\x08\x0a\x06string\xb2\x01\x08\x0a\x06object");
    }

    #[test]
    fn a_long_text_has_its_length_in_two_bytes() {
        let encoded = schema(&json!({"description": "a".repeat(200)}));
        assert_eq!(encoded.0[..3], [0x22, 0xc8, 0x01]);
        assert_eq!(encoded.0.len(), 203);
    }
}
