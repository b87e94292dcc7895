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
    /// The letter of the type: `s` string, `b` bytes, `z` bool, `i` integer, `f` double, `m` message, `q` Quantity,
    /// `r` raw JSON, `x` list of strings in a message, `t` Time, `T` MicroTime, `d` Duration, `o` IntOrString.
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
    /// Returns the number of the field and the field.
    fn parse(self) -> (u64, MessageField) {
        let Self { number, name, type_letters, flags, message } = self;
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

/// Decodes the object in a body: an envelope with its type and its message. `None` if the body is invalid or the kind
/// is unknown.
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
    // Options types exist in every group.
    let name = match builtin::of_kind(group, version, &kind) {
        Some(definition) => definition.name.to_owned(),
        None => format!("io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"),
    };
    let mut object = decode_message(&name, raw, 0)?;
    object.insert("apiVersion".into(), api_version.into());
    object.insert("kind".into(), kind.into());
    Some(Value::Object(object))
}

/// Decodes a message of the definition `name` to the fields of an object; `None` if it is invalid or nested too deeply.
/// Ignores unknown fields.
fn decode_message(name: &str, bytes: &[u8], depth: usize) -> Option<Map<String, Value>> {
    let (known, mut map) = (FIELDS.get(name)?, Map::new());
    if depth > MAX_DEPTH {
        return None;
    }
    for entry in WireFields::of(bytes) {
        let (number, part) = entry.ok()?;
        let Some(field) = known.get(&number) else { continue };
        if field.inline {
            map.append(&mut decode_message(&field.message, part.bytes()?, depth + 1)?);
            continue;
        }
        match field.repeats {
            Repeats::No => {
                let value = field.decode_value(part, depth)?;
                if !value.is_null() && (field.encodes_empty || !is_empty(&value)) {
                    map.insert(field.name.clone(), value);
                }
            }
            Repeats::List => {
                let value = field.decode_value(part, depth)?;
                if let Value::Array(items) = map.entry(field.name.clone()).or_insert_with(|| Value::Array(Vec::new())) {
                    items.push(value);
                }
            }
            Repeats::Map => {
                let (key, value) = field.decode_map_entry(part.bytes()?, depth)?;
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
    /// Decodes one value of the field; `None` if it is invalid.
    fn decode_value(&self, part: WireValue<'_>, depth: usize) -> Option<Value> {
        Some(match (self.value_type, part) {
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
            ('o', WireValue::Bytes(bytes)) => match two_numbers(bytes)? {
                [1, _] => std::str::from_utf8(bytes_of_field(bytes, 3)?).ok()?.into(),
                [_, number] => number.into(),
            },
            _ => return None,
        })
    }

    /// Decodes seconds and nanoseconds since 1970; null if both are 0. Returns `None` if they are invalid.
    fn decode_time(&self, bytes: &[u8]) -> Option<Value> {
        let [seconds, nanoseconds] = two_numbers(bytes)?;
        if (seconds, nanoseconds) == (0, 0) {
            return Some(Value::Null);
        }
        let time = Timestamp::new(seconds, i32::try_from(nanoseconds).ok()?).ok()?;
        Some(if self.value_type == 'T' { format!("{time:.6}") } else { crate::environment::seconds(time) }.into())
    }

    /// Decodes a key and value of a map field; `None` if they are invalid. An omitted value is empty.
    fn decode_map_entry(&self, bytes: &[u8], depth: usize) -> Option<(String, Value)> {
        let (mut key, mut value) = (String::new(), None);
        for entry in WireFields::of(bytes) {
            match entry.ok()? {
                (1, part) => key = String::from_utf8(part.bytes()?.to_vec()).ok()?,
                (2, part) => value = Some(self.decode_value(part, depth)?),
                _ => {}
            }
        }
        let empty = || if self.value_type == 'm' { Value::Object(Map::new()) } else { "".into() };
        Some((key, value.unwrap_or_else(empty)))
    }
}

/// Returns the numbers in the fields 1 and 2; 0 for a missing one. Returns `None` if the message is invalid.
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

/// Returns the bytes of a field, of its last value if it is repeated, and empty if it is missing. Returns `None` if the
/// message is invalid.
fn bytes_of_field(message: &[u8], number: u64) -> Option<&[u8]> {
    let mut found = &b""[..];
    for entry in WireFields::of(message) {
        let (own_number, part) = entry.ok()?;
        if own_number == number {
            found = part.bytes()?;
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

    fn next(&mut self) -> Option<Self::Item> {
        if self.input.is_empty() {
            return None;
        }
        let entry = self.next_field().ok_or(InvalidField);
        // An invalid field is the last item: no field can be found behind it.
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
        // The wire types: 0 is a variable-length integer, 1 has 64 bits, 2 has a length in front, 5 has 32 bits.
        let part = match tag & 7 {
            0 => WireValue::Number(self.varint()?),
            1 => WireValue::Number(u64::from_le_bytes(self.take_bytes(8)?.try_into().ok()?)),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                WireValue::Bytes(self.take_bytes(length)?)
            }
            5 => WireValue::Number(u32::from_le_bytes(self.take_bytes(4)?.try_into().ok()?).into()),
            _ => return None,
        };
        Some((tag >> 3, part))
    }

    /// Consumes bytes; `None` if there are fewer.
    fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, remaining) = self.input.split_at_checked(length)?;
        self.input = remaining;
        Some(taken)
    }

    /// Decodes a variable-length integer; `None` if it is invalid.
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
    fn an_object_is_read_as_go_writes_it() {
        let metadata = [field(1, b"a"), field(2, b""), vec![8 << 3 | 2, 4, 8, 0, 16, 0]].concat();
        let label = field(11, &[field(1, b"k"), field(2, b"v")].concat());
        let spec =
            [vec![8, 0], field(2, &field(1, &[field(1, b"app"), field(2, b"web")].concat())), vec![7 << 3, 0]].concat();
        let raw = [field(1, &[metadata, label].concat()), field(2, &spec)].concat();
        let read = decode_object(&body("apps/v1", "Deployment", &raw)).unwrap();
        let expected = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "labels": {"k": "v"}},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}},
        });
        assert_eq!(read, expected);
    }

    #[test]
    fn an_invalid_message_is_none() {
        for end in 0..20 {
            let whole = body("v1", "ConfigMap", &field(1, &field(1, b"name")));
            let cut = whole.get(..end).unwrap();
            if let Some(read) = decode_object(cut) {
                assert!(read.is_object());
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
