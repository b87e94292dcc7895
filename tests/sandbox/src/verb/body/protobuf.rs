//! Decodes protobuf bodies, which Go's typed clients send for built-in kinds.

use std::{collections::HashMap, sync::LazyLock};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::schema::builtin;

/// The protobuf tags of Kubernetes' Go types, compressed. By definition, each field has its number, name, type, flags,
/// and the definition of its message type.
const COMPRESSED: &[u8] = include_bytes!("../../../table/fields.json.zst");

/// The prefix of every protobuf body.
pub(super) const PREFIX: &[u8] = b"k8s\0";

/// The maximum nesting depth of messages.
const MAX_DEPTH: usize = 64;

/// The fields of all definitions, by the name of the definition and the number of the field.
static FIELDS: LazyLock<HashMap<String, HashMap<u64, MessageField>>> = LazyLock::new(|| {
    let text = zstd::decode_all(COMPRESSED).unwrap_or_default();
    let definitions: HashMap<String, Vec<FieldRow>> = serde_json::from_slice(&text).unwrap_or_default();
    definitions.into_iter().map(|(name, rows)| (name, rows.into_iter().map(FieldRow::parse).collect())).collect()
});

/// A field in the table: a JSON array with these elements.
#[derive(serde::Deserialize)]
struct FieldRow {
    number: u64,
    name: String,
    /// The letter of [`MessageField::value_type`], after `l` for a list or `m` for a map.
    type_letters: String,
    /// The flags: `p` for a pointer, `e` for `omitempty`, `0` for `omitzero`, `n` for an inline message.
    flags: String,
    /// The definition of the message type; empty for other types.
    #[serde(default)]
    message: String,
}

/// A field of a message.
struct MessageField {
    name: String,
    repeats: Repeats,
    /// The letter of the type, which [`Self::decode_value`] explains.
    value_type: char,
    /// Whether an empty value is significant: the field is a pointer, or is always encoded.
    encodes_empty: bool,
    /// Whether the fields of the message belong to the enclosing object.
    inline: bool,
    message: String,
}

/// Whether a field is a single value, a list or a map.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    No,
    List,
    Map,
}

impl FieldRow {
    /// Converts the row to the field number and the field: splits the letters of the type, and reads the flags `p` (pointer), `e`
    /// (`omitempty`), `0` (`omitzero`) and `n` (inline message).
    fn parse(self) -> (u64, MessageField) {
        let Self { number, name, type_letters, flags, message } = self;
        // The last letter is the type; `l` or `m` before it makes the field a list or a map.
        let mut letters = type_letters.chars().rev();
        let value_type = letters.next().unwrap_or_default();
        let repeats = match letters.next() {
            Some('l') => Repeats::List,
            Some('m') => Repeats::Map,
            _ => Repeats::No,
        };
        let pointer = flags.contains('p');
        // Go encodes a struct even if it is empty, unless the field has `omitzero`.
        let encodes_empty = pointer || !flags.contains('e') || (value_type == 'm' && !flags.contains('0'));
        (number, MessageField { name, repeats, value_type, encodes_empty, inline: flags.contains('n'), message })
    }
}

/// Decodes the object in a body. After the prefix, the body is a `runtime.Unknown`: field 1 has `apiVersion` and `kind`, field 2 the
/// encoded object. Returns `None` if the body is invalid or the kind is unknown.
pub(super) fn decode_object(body: &[u8]) -> Option<Value> {
    let (mut raw, mut api_version, mut kind) = (&b""[..], String::new(), String::new());
    for entry in WireFields::of(body.strip_prefix(PREFIX)?) {
        match entry.ok()? {
            (1, WireValue::Bytes(types)) => {
                for entry in WireFields::of(types) {
                    match entry.ok()? {
                        (1, WireValue::Bytes(text)) => api_version = String::from_utf8(text.to_vec()).ok()?,
                        (2, WireValue::Bytes(text)) => kind = String::from_utf8(text.to_vec()).ok()?,
                        _ => {}
                    }
                }
            }
            (2, WireValue::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    // Options types, such as `DeleteOptions`, exist in every group and are defined in `meta/v1`.
    let name = match builtin::of_kind(group, version, &kind) {
        Some(definition) => definition.name.to_owned(),
        None => format!("io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"),
    };
    let mut object = decode_message(&name, raw, 0)?;
    object.insert("apiVersion".into(), api_version.into());
    object.insert("kind".into(), kind.into());
    Some(Value::Object(object))
}

/// Decodes a message of the definition `name` to the JSON fields of an object. Ignores unknown fields, and omits empty values that Go's
/// JSON encoder omits. Returns `None` if the message is invalid or nested too deeply.
fn decode_message(name: &str, bytes: &[u8], depth: usize) -> Option<Map<String, Value>> {
    let (fields, mut map) = (FIELDS.get(name)?, Map::new());
    if depth > MAX_DEPTH {
        return None;
    }
    for entry in WireFields::of(bytes) {
        let (number, wire_value) = entry.ok()?;
        let Some(field) = fields.get(&number) else { continue };
        if field.inline {
            map.append(&mut decode_message(&field.message, wire_value.bytes()?, depth + 1)?);
            continue;
        }
        match field.repeats {
            Repeats::No => {
                let value = field.decode_value(wire_value, depth)?;
                if !value.is_null() && (field.encodes_empty || !is_empty(&value)) {
                    map.insert(field.name.clone(), value);
                }
            }
            Repeats::List => {
                let value = field.decode_value(wire_value, depth)?;
                if let Value::Array(items) = map.entry(field.name.clone()).or_insert_with(|| Value::Array(Vec::new())) {
                    items.push(value);
                }
            }
            Repeats::Map => {
                let (key, value) = field.decode_map_entry(wire_value.bytes()?, depth)?;
                if let Value::Object(entries) =
                    map.entry(field.name.clone()).or_insert_with(|| Value::Object(Map::new()))
                {
                    entries.insert(key, value);
                }
            }
        }
    }
    Some(map)
}

/// Returns whether a value is empty for `omitempty` of Go: null, false, 0, or an empty text, list or map.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) => false,
    }
}

impl MessageField {
    /// Decodes one value of the field by its type letter: `s` string, `b` bytes, `z` bool, `i` integer, `f` double, `m` message, `q`
    /// Quantity, `r` raw JSON, `x` list of strings in a message, `t` Time, `T` MicroTime, `d` Duration, `o` IntOrString. Returns `None` if
    /// the value is invalid.
    fn decode_value(&self, wire_value: WireValue<'_>, depth: usize) -> Option<Value> {
        Some(match (self.value_type, wire_value) {
            ('s', WireValue::Bytes(text)) => std::str::from_utf8(text).ok()?.into(),
            ('b', WireValue::Bytes(bytes)) => STANDARD.encode(bytes).into(),
            ('z', WireValue::Number(number)) => (number != 0).into(),
            ('i', WireValue::Number(number)) => number.cast_signed().into(),
            ('f', WireValue::Number(bits)) => f64::from_bits(bits).into(),
            ('m', WireValue::Bytes(bytes)) => Value::Object(decode_message(&self.message, bytes, depth + 1)?),
            ('q', WireValue::Bytes(bytes)) => first_text(bytes)?.into(),
            ('r', WireValue::Bytes(bytes)) => {
                let raw = bytes_of_field(bytes, 1)?;
                if raw.is_empty() { Value::Null } else { serde_json::from_slice(raw).ok()? }
            }
            ('x', WireValue::Bytes(bytes)) => {
                let items =
                    WireFields::of(bytes).map(|entry| Some(std::str::from_utf8(entry.ok()?.1.bytes()?).ok()?.into()));
                Value::Array(items.collect::<Option<_>>()?)
            }
            ('t' | 'T', WireValue::Bytes(bytes)) => self.decode_time(bytes)?,
            ('d', WireValue::Bytes(bytes)) => format!("{}ns", two_numbers(bytes)?[0]).into(),
            // Field 1 is 1 for a string, which is in field 3; field 2 is the integer.
            ('o', WireValue::Bytes(bytes)) => match two_numbers(bytes)? {
                [1, _] => std::str::from_utf8(bytes_of_field(bytes, 3)?).ok()?.into(),
                [_, number] => number.into(),
            },
            _ => return None,
        })
    }

    /// Decodes a `Time` or `MicroTime`, which contains the seconds and nanoseconds since 1970, to RFC 3339; null if both are 0. Returns
    /// `None` if it is invalid.
    fn decode_time(&self, bytes: &[u8]) -> Option<Value> {
        let [seconds, nanoseconds] = two_numbers(bytes)?;
        if (seconds, nanoseconds) == (0, 0) {
            return Some(Value::Null);
        }
        let time = Timestamp::new(seconds, i32::try_from(nanoseconds).ok()?).ok()?;
        Some(if self.value_type == 'T' { format!("{time:.6}") } else { crate::environment::seconds(time) }.into())
    }

    /// Decodes an entry of a map field: a message with the key in field 1 and the value in field 2. An omitted key or value is empty.
    /// Returns `None` if the entry is invalid.
    fn decode_map_entry(&self, bytes: &[u8], depth: usize) -> Option<(String, Value)> {
        let (mut key, mut value) = (String::new(), None);
        for entry in WireFields::of(bytes) {
            match entry.ok()? {
                (1, wire_value) => key = String::from_utf8(wire_value.bytes()?.to_vec()).ok()?,
                (2, wire_value) => value = Some(self.decode_value(wire_value, depth)?),
                _ => {}
            }
        }
        let empty = || if self.value_type == 'm' { Value::Object(Map::new()) } else { "".into() };
        Some((key, value.unwrap_or_else(empty)))
    }
}

/// Returns the integers in the fields 1 and 2 of a message; 0 for a missing field. Returns `None` if the message is invalid.
fn two_numbers(bytes: &[u8]) -> Option<[i64; 2]> {
    let mut found = [0; 2];
    for entry in WireFields::of(bytes) {
        match entry.ok()? {
            (1, WireValue::Number(number)) => found[0] = number.cast_signed(),
            (2, WireValue::Number(number)) => found[1] = number.cast_signed(),
            _ => {}
        }
    }
    Some(found)
}

/// Returns the bytes of the field with a number: the last value if the field is repeated, and empty bytes if it is missing. Returns `None`
/// if the message is invalid.
fn bytes_of_field(message: &[u8], number: u64) -> Option<&[u8]> {
    let mut found = &b""[..];
    for entry in WireFields::of(message) {
        let (field_number, wire_value) = entry.ok()?;
        if field_number == number {
            found = wire_value.bytes()?;
        }
    }
    Some(found)
}

/// Returns the text of field 1, empty if it is missing; `None` if the message is invalid or the text is not UTF-8.
fn first_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes_of_field(bytes, 1)?).ok()
}

/// The value of an encoded field.
#[derive(Clone, Copy)]
enum WireValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> WireValue<'a> {
    /// Returns the bytes of a length-delimited value; `None` for a number.
    fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Number(_) => None,
        }
    }
}

/// Iterates over the numbers and values of a message's fields. An invalid field is yielded as an error and ends the
/// iteration.
struct WireFields<'a> {
    input: &'a [u8],
}

/// A field of a message that can't be decoded.
struct InvalidField;

impl<'a> Iterator for WireFields<'a> {
    type Item = Result<(u64, WireValue<'a>), InvalidField>;

    /// Returns the next field, or an error for an invalid field. Returns `None` at the end and after an invalid field.
    fn next(&mut self) -> Option<Self::Item> {
        if self.input.is_empty() {
            return None;
        }
        let entry = self.next_field().ok_or(InvalidField);
        // The end of an invalid field is unknown, so the next field cannot be found.
        if entry.is_err() {
            self.input = &[];
        }
        Some(entry)
    }
}

impl<'a> WireFields<'a> {
    fn of(message: &'a [u8]) -> Self {
        Self { input: message }
    }

    /// Returns the number and value of the next field; `None` if the input is invalid.
    fn next_field(&mut self) -> Option<(u64, WireValue<'a>)> {
        let tag = self.varint()?;
        // The lowest 3 bits of the tag are the wire type: 0 is a varint, 1 has 64 bits, 2 has its length in front, 5 has 32 bits.
        let wire_value = match tag & 7 {
            0 => WireValue::Number(self.varint()?),
            1 => WireValue::Number(u64::from_le_bytes(self.take_bytes(8)?.try_into().ok()?)),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                WireValue::Bytes(self.take_bytes(length)?)
            }
            5 => WireValue::Number(u32::from_le_bytes(self.take_bytes(4)?.try_into().ok()?).into()),
            _ => return None,
        };
        Some((tag >> 3, wire_value))
    }

    /// Consumes bytes; `None` if there are fewer.
    fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, remaining) = self.input.split_at_checked(length)?;
        self.input = remaining;
        Some(taken)
    }

    /// Decodes a variable-length integer of at most 10 bytes: each has 7 bits of the number, lowest first, and the highest bit says whether
    /// another byte follows. Returns `None` if the integer is invalid.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for index in 0..10 {
            let byte = *self.take_bytes(1)?.first()?;
            number |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Encodes a length-delimited field.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut field = vec![number << 3 | 2, u8::try_from(bytes.len()).unwrap()];
        field.extend_from_slice(bytes);
        field
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let types = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [PREFIX, &field(1, &types), &field(2, raw), &field(3, b""), &field(4, b"")].concat()
    }

    #[test]
    fn a_deployment_is_decoded_as_go_encodes_it() {
        // Field 8 is the creation timestamp, which Go encodes as the time 0 if it is unset.
        let metadata = [field(1, b"a"), field(2, b""), vec![8 << 3 | 2, 4, 8, 0, 16, 0]].concat();
        let label = field(11, &[field(1, b"k"), field(2, b"v")].concat());
        let spec =
            [vec![8, 0], field(2, &field(1, &[field(1, b"app"), field(2, b"web")].concat())), vec![7 << 3, 0]].concat();
        let raw = [field(1, &[metadata, label].concat()), field(2, &spec)].concat();
        let decoded = decode_object(&body("apps/v1", "Deployment", &raw)).unwrap();
        let expected = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "labels": {"k": "v"}},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}},
        });
        assert_eq!(decoded, expected);
    }

    #[test]
    fn an_invalid_message_is_none() {
        for end in 0..20 {
            let complete = body("v1", "ConfigMap", &field(1, &field(1, b"name")));
            // A truncated body can still be a valid message.
            if let Some(decoded) = decode_object(complete.get(..end).unwrap()) {
                assert!(decoded.is_object());
            }
        }
        assert_eq!(decode_object(b"{}"), None);
        assert_eq!(decode_object(&body("v1", "ConfigMap", &[0xff; 30])), None);
        assert_eq!(decode_object(&body("v1", "Nope", b"")), None);
    }

    #[test]
    fn a_repeated_field_has_its_last_value_and_an_invalid_one_is_not_skipped() {
        assert_eq!(first_text(&[field(1, b"a"), field(1, b"b"), field(2, b"c")].concat()), Some("b"));
        assert_eq!(first_text(&field(2, b"c")), Some(""));
        assert_eq!(first_text(&[field(1, b"a"), vec![0xff]].concat()), None);
        assert_eq!(first_text(&[1 << 3, 1]), None);
    }
}
