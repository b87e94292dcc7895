//! Encodes OpenAPI v2 in the protobuf of `google/gnostic-models`. The numbers of fields are those of `openapiv2/OpenAPIv2.proto`.

use serde_json::{Map, Value};

/// An encoded protobuf message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// Appends a number as a varint: seven bits in each byte, the lowest first.
    fn push_varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Writes a length-delimited field (wire type 2): a string, bytes or a nested message.
    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.push_varint(field << 3 | 2);
        self.push_varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Writes a string field; skips a value that is absent or no string.
    fn string(&mut self, field: u64, text: Option<&Value>) {
        if let Some(Value::String(text)) = text {
            self.bytes(field, text.as_bytes());
        }
    }

    /// Writes a boolean field.
    fn bool(&mut self, field: u64, value: bool) {
        self.push_varint(field << 3);
        self.push_varint(value.into());
    }

    /// Writes a field with a nested message.
    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }
}

/// Encodes an OpenAPI v2 document as the message `Document`, with the numbers of its fields in `OpenAPIv2.proto`: `swagger` (1), `info`
/// (2), empty `paths` (8) and `definitions` (9).
pub(super) fn document(document: &Value) -> Vec<u8> {
    let (mut encoded, mut info) = (Message::default(), Message::default());
    encoded.string(1, document.get("swagger"));
    info.string(1, document["info"].get("title"));
    info.string(2, document["info"].get("version"));
    encoded.message(2, &info);
    encoded.message(8, &Message::default());
    encoded.message(9, &named_entries(document["definitions"].as_object(), schema));
    encoded.0
}

/// Encodes a map, such as `definitions` or `properties`, as a message whose repeated field 1 has an entry for each key.
fn named_entries(map: Option<&Map<String, Value>>, encode: fn(&Value) -> Message) -> Message {
    let mut all = Message::default();
    for (name, value) in map.into_iter().flatten() {
        all.message(1, &named_entry(name, &encode(value)));
    }
    all
}

/// Encodes an entry of a map: its name in field 1 and its value in field 2.
fn named_entry(name: &str, value: &Message) -> Message {
    let mut named_entry = Message::default();
    named_entry.bytes(1, name.as_bytes());
    named_entry.message(2, value);
    named_entry
}

/// Encodes a JSON schema as the message `Schema`, with the numbers of its fields in `OpenAPIv2.proto`. Omits keywords that are not listed
/// here, except those that begin with `x-`.
fn schema(schema: &Value) -> Message {
    let mut encoded = Message::default();
    for (field, keyword) in [(1, "$ref"), (2, "format"), (3, "title"), (4, "description"), (13, "pattern")] {
        encoded.string(field, schema.get(keyword));
    }
    if let Some(default) = schema.get("default") {
        encoded.message(5, &any(default));
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        encoded.string(19, Some(required));
    }
    for value in schema["enum"].as_array().into_iter().flatten() {
        encoded.message(20, &any(value));
    }
    if let Some(additional) = schema.get("additionalProperties") {
        encoded.message(21, &additional_properties(additional));
    }
    if let Some(kind) = schema.get("type") {
        let mut types = Message::default();
        types.string(1, Some(kind));
        encoded.message(22, &types);
    }
    if let Some(items) = schema.get("items") {
        let mut items_message = Message::default();
        items_message.message(1, &self::schema(items));
        encoded.message(23, &items_message);
    }
    if let Some(properties) = schema["properties"].as_object() {
        encoded.message(25, &named_entries(Some(properties), self::schema));
    }
    for (name, value) in schema.as_object().into_iter().flatten().filter(|(name, _)| name.starts_with("x-")) {
        encoded.message(31, &named_entry(name, &any(value)));
    }
    encoded
}

/// Encodes `additionalProperties` as an `AdditionalPropertiesItem`: a boolean in field 2 or a schema in field 1.
fn additional_properties(additional: &Value) -> Message {
    let mut encoded = Message::default();
    match additional {
        Value::Bool(allowed) => encoded.bool(2, *allowed),
        value => encoded.message(1, &schema(value)),
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
    fn a_schema_is_encoded_as_by_kube_apiserver() {
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
