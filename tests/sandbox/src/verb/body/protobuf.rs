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
const DEEPEST: usize = 64;

static FIELDS: LazyLock<HashMap<String, HashMap<u64, MessageField>>> = LazyLock::new(|| {
    let text = zstd::decode_all(COMPRESSED).unwrap_or_default();
    let read: HashMap<String, Vec<FieldRow>> = serde_json::from_slice(&text).unwrap_or_default();
    read.into_iter().map(|(name, rows)| (name, rows.into_iter().map(FieldRow::field).collect())).collect()
});

#[derive(serde::Deserialize)]
struct FieldRow(u64, String, String, String, #[serde(default)] String);

/// A field of a message.
struct MessageField {
    name: String,
    repeats: Repeats,
    holds: char,
    /// Whether an empty value is significant: the field is a pointer, or is always encoded.
    keeps_empty: bool,
    /// Whether the fields of the message belong to the enclosing object.
    inline: bool,
    message: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    No,
    List,
    Map,
}

impl FieldRow {
    fn field(self) -> (u64, MessageField) {
        let Self(number, name, written, marks, message) = self;
        let mut letters = written.chars().rev();
        let holds = letters.next().unwrap_or_default();
        let repeats = match letters.next() {
            Some('l') => Repeats::List,
            Some('m') => Repeats::Map,
            _ => Repeats::No,
        };
        let pointer = marks.contains('p');
        // Go encodes a struct even if it is empty, unless the field has `omitzero`.
        let keeps_empty = pointer || !marks.contains('e') || (holds == 'm' && !marks.contains('0'));
        (number, MessageField { name, repeats, holds, keeps_empty, inline: marks.contains('n'), message })
    }
}

/// Decodes the object in a body; `None` if the body is invalid.
pub(super) fn object(body: &[u8]) -> Option<Value> {
    let (mut raw, mut api_version, mut kind) = (&b""[..], String::new(), String::new());
    for entry in Entries(body.strip_prefix(PREFIX)?) {
        match entry? {
            (1, Part::Bytes(types)) => {
                for entry in Entries(types) {
                    match entry? {
                        (1, Part::Bytes(text)) => api_version = String::from_utf8(text.to_vec()).ok()?,
                        (2, Part::Bytes(text)) => kind = String::from_utf8(text.to_vec()).ok()?,
                        _ => {}
                    }
                }
            }
            (2, Part::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    // Options types exist in every group.
    let name = match builtin::of_kind(group, version, &kind) {
        Some(definition) => definition.name.to_owned(),
        None => format!("io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"),
    };
    let mut object = message(&name, raw, 0)?;
    object.insert("apiVersion".into(), api_version.into());
    object.insert("kind".into(), kind.into());
    Some(Value::Object(object))
}

fn message(name: &str, bytes: &[u8], depth: usize) -> Option<Map<String, Value>> {
    let (known, mut map) = (FIELDS.get(name)?, Map::new());
    if depth > DEEPEST {
        return None;
    }
    for entry in Entries(bytes) {
        let (number, part) = entry?;
        let Some(field) = known.get(&number) else { continue };
        if field.inline {
            map.append(&mut message(&field.message, part.bytes()?, depth + 1)?);
            continue;
        }
        match field.repeats {
            Repeats::No => {
                let value = field.value(part, depth)?;
                if !value.is_null() && (field.keeps_empty || !is_empty(&value)) {
                    map.insert(field.name.clone(), value);
                }
            }
            Repeats::List => {
                let value = field.value(part, depth)?;
                if let Value::Array(items) = map.entry(field.name.clone()).or_insert_with(|| Value::Array(Vec::new())) {
                    items.push(value);
                }
            }
            Repeats::Map => {
                let (key, value) = field.entry(part.bytes()?, depth)?;
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
    fn value(&self, part: Part<'_>, depth: usize) -> Option<Value> {
        Some(match (self.holds, part) {
            ('s', Part::Bytes(text)) => std::str::from_utf8(text).ok()?.into(),
            ('b', Part::Bytes(bytes)) => STANDARD.encode(bytes).into(),
            ('z', Part::Number(number)) => (number != 0).into(),
            ('i', Part::Number(number)) => number.cast_signed().into(),
            ('f', Part::Number(bits)) => f64::from_bits(bits).into(),
            ('m', Part::Bytes(bytes)) => Value::Object(message(&self.message, bytes, depth + 1)?),
            ('q', Part::Bytes(bytes)) => first_text(bytes)?.into(),
            ('r', Part::Bytes(bytes)) => {
                let raw = first(bytes).unwrap_or_default();
                if raw.is_empty() { Value::Null } else { serde_json::from_slice(raw).ok()? }
            }
            ('x', Part::Bytes(bytes)) => {
                let items = Entries(bytes).map(|entry| Some(std::str::from_utf8(entry?.1.bytes()?).ok()?.into()));
                Value::Array(items.collect::<Option<_>>()?)
            }
            ('t' | 'T', Part::Bytes(bytes)) => self.time(bytes)?,
            ('d', Part::Bytes(bytes)) => format!("{}ns", numbers(bytes)?[0]).into(),
            ('o', Part::Bytes(bytes)) => {
                let text = Entries(bytes).flatten().find_map(|(number, part)| (number == 3).then_some(part));
                match numbers(bytes)? {
                    [1, _] => std::str::from_utf8(text.and_then(Part::bytes).unwrap_or_default()).ok()?.into(),
                    [_, number] => number.into(),
                }
            }
            _ => return None,
        })
    }

    /// Decodes seconds and nanoseconds since 1970; null if both are 0.
    fn time(&self, bytes: &[u8]) -> Option<Value> {
        let [seconds, nanoseconds] = numbers(bytes)?;
        if (seconds, nanoseconds) == (0, 0) {
            return Some(Value::Null);
        }
        let time = Timestamp::new(seconds, i32::try_from(nanoseconds).ok()?).ok()?;
        Some(if self.holds == 'T' { format!("{time:.6}") } else { crate::environment::seconds(time) }.into())
    }

    fn entry(&self, bytes: &[u8], depth: usize) -> Option<(String, Value)> {
        let (mut key, mut value) = (String::new(), None);
        for entry in Entries(bytes) {
            match entry? {
                (1, part) => key = String::from_utf8(part.bytes()?.to_vec()).ok()?,
                (2, part) => value = Some(self.value(part, depth)?),
                _ => {}
            }
        }
        let nothing = || if self.holds == 'm' { Value::Object(Map::new()) } else { "".into() };
        Some((key, value.unwrap_or_else(nothing)))
    }
}

/// Returns the numbers in the fields 1 and 2.
fn numbers(bytes: &[u8]) -> Option<[i64; 2]> {
    let mut found = [0; 2];
    for entry in Entries(bytes) {
        match entry? {
            (1, Part::Number(number)) => found[0] = number.cast_signed(),
            (2, Part::Number(number)) => found[1] = number.cast_signed(),
            _ => {}
        }
    }
    Some(found)
}

/// Returns the bytes of field 1.
fn first(bytes: &[u8]) -> Option<&[u8]> {
    Entries(bytes).flatten().find_map(|(number, part)| if number == 1 { part.bytes() } else { None })
}

fn first_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(first(bytes).unwrap_or_default()).ok()
}

/// The value of an encoded field.
#[derive(Clone, Copy)]
enum Part<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Part<'a> {
    fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Number(_) => None,
        }
    }
}

/// Iterates over the fields of a message with their numbers; yields `None` at an invalid field.
struct Entries<'a>(&'a [u8]);

impl<'a> Iterator for Entries<'a> {
    type Item = Option<(u64, Part<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let entry = self.entry();
        if entry.is_none() {
            self.0 = &[];
        }
        Some(entry)
    }
}

impl<'a> Entries<'a> {
    fn entry(&mut self) -> Option<(u64, Part<'a>)> {
        let tag = self.number()?;
        let part = match tag & 7 {
            0 => Part::Number(self.number()?),
            1 => Part::Number(u64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            2 => {
                let length = usize::try_from(self.number()?).ok()?;
                Part::Bytes(self.take(length)?)
            }
            5 => Part::Number(u32::from_le_bytes(self.take(4)?.try_into().ok()?).into()),
            _ => return None,
        };
        Some((tag >> 3, part))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for place in 0..10 {
            let byte = *self.take(1)?.first()?;
            number |= u64::from(byte & 0x7f) << (7 * place);
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
        let read = object(&body("apps/v1", "Deployment", &raw)).unwrap();
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
            if let Some(read) = object(cut) {
                assert!(read.is_object());
            }
        }
        assert_eq!(object(b"{}"), None);
        assert_eq!(object(&body("v1", "ConfigMap", &[0xff; 30])), None);
        assert_eq!(object(&body("v1", "Nope", b"")), None);
    }
}
