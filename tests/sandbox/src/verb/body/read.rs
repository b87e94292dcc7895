//! Parses JSON and YAML and collects duplicate fields.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value and its duplicate fields: `data.key`, `spec.ports[0].port`. The last value of a duplicate field counts.
pub(super) struct ParsedValue {
    pub(super) value: Value,
    pub(super) duplicates: Vec<String>,
}

/// Parses JSON and collects the paths of duplicate fields.
pub(super) fn json(text: &[u8]) -> Result<ParsedValue, serde_json::Error> {
    let mut duplicates = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = ValueSeed { path: FieldPath::Root, duplicates: &mut duplicates }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(ParsedValue { value, duplicates })
}

/// The path of a value.
#[derive(Clone, Copy)]
enum FieldPath<'a> {
    Root,
    Field(&'a FieldPath<'a>, &'a str),
    Item(&'a FieldPath<'a>, usize),
}

impl FieldPath<'_> {
    /// Formats the path followed by `suffix`, a relative path that is empty or starts with a field or an index. Builds the text from the
    /// end: each step prepends one field or index and continues with the parent.
    fn with_suffix(&self, suffix: &str) -> String {
        match self {
            Self::Root => suffix.to_owned(),
            Self::Field(parent, name) => parent.with_suffix(&if suffix.is_empty() {
                (*name).to_owned()
            } else if suffix.starts_with('[') {
                format!("{name}{suffix}")
            } else {
                format!("{name}.{suffix}")
            }),
            Self::Item(parent, index) => {
                let dot = if suffix.is_empty() { "" } else { "." };
                parent.with_suffix(&format!("[{index}]{dot}{suffix}"))
            }
        }
    }
}

/// Deserializes a value and records duplicate fields.
struct ValueSeed<'a> {
    path: FieldPath<'a>,
    duplicates: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    /// Deserializes a list. The path of each item ends with its index.
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(ValueSeed {
            path: FieldPath::Item(&self.path, list.len()),
            duplicates: &mut *self.duplicates,
        })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    /// Deserializes an object. The last value of a duplicate key counts, and the path of the key is recorded in `duplicates`.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            let path = FieldPath::Field(&self.path, &key);
            if map.contains_key(&*key) {
                self.duplicates.push(path.with_suffix(""));
            }
            let value = entries.next_value_seed(ValueSeed { path, duplicates: &mut *self.duplicates })?;
            map.insert(key.into_owned(), value);
        }
        Ok(Value::Object(map))
    }
}

/// Parses the first YAML document; null if it is empty. The error is the message without its position.
pub(super) fn yaml(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! { duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins };
    let document = first_document(text);
    if document.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_saphyr::from_str_with_options::<Value>(document, options).map_err(|error| {
        // The first line contains the message; a source snippet follows.
        let message = error.to_string();
        let first_line = message.lines().next().unwrap_or_default();
        first_line
            .split_once("column ")
            .and_then(|(_, rest)| rest.split_once(": "))
            .map_or(first_line, |(_, why)| why)
            .to_owned()
    })
}

/// Returns the first document of a YAML stream: the text up to the next line `---`, without such a line at the beginning.
fn first_document(text: &str) -> &str {
    let text = text.strip_prefix("---\n").unwrap_or(text);
    // Only white space or the end of the text may follow the 4 bytes of the separator.
    text.find("\n---")
        .filter(|at| matches!(text.as_bytes().get(at + 4), None | Some(b'\n' | b'\r' | b' ')))
        .map_or(text, |at| text.get(..=at).unwrap_or(text))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn duplicate_fields_are_reported() {
        let parsed = json(br#"{"a":{"b":1,"b":2},"c":[{"d":1},{"d":1,"d":2}],"a":3}"#).unwrap();
        assert_eq!(parsed.duplicates, ["a.b", "c[1].d", "a"]);
        assert_eq!(parsed.value, json!({"a": 3, "c": [{"d": 1}, {"d": 2}]}));
    }

    #[test]
    fn the_first_document_is_read() {
        assert_eq!(yaml("a: 1\n---\nb: 2\n").unwrap(), json!({"a": 1}));
        assert_eq!(yaml("---\na: [x, true, 1.5, null]\n").unwrap(), json!({"a": ["x", true, 1.5, null]}));
        assert!(yaml("a: [").is_err());
    }
}
