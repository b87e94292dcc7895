//! Reads strings, lists and maps of strings from JSON with few allocations.

use super::packed::{PackedList, PackedMap, Packer};
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt, ops::Deref};

/// A string of the input: borrowed unless it contains escapes, empty for null.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

/// Reads a JSON string as [`Text`], and null as the empty text.
struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }
}

/// Reads a JSON array of strings into a packed list; an absent array is empty.
pub(super) fn list(raw: Option<&RawValue>) -> serde_json::Result<PackedList> {
    let Some(raw) = raw else { return Ok(PackedList::default()) };
    let mut packer = Packer::default();
    serde_json::Deserializer::from_str(raw.get()).deserialize_seq(ListVisitor(&mut packer))?;
    Ok(packer.list())
}

/// Appends the strings of a JSON array to a packer.
struct ListVisitor<'p>(&'p mut Packer);

impl<'de> Visitor<'de> for ListVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<(), A::Error> {
        while let Some(text) = texts.next_element::<Text<'de>>()? {
            self.0.push(&text);
        }
        Ok(())
    }
}

/// Reads a JSON map of strings into a packed map, with only the keys that `accept` selects. An absent map is empty.
pub(super) fn map(raw: Option<&RawValue>, accept: impl Fn(&str) -> bool) -> serde_json::Result<PackedMap> {
    let Some(raw) = raw else { return Ok(PackedMap::default()) };
    let mut packer = Packer::default();
    serde_json::Deserializer::from_str(raw.get()).deserialize_map(MapVisitor { packer: &mut packer, accept })?;
    Ok(packer.map())
}

/// Appends the keys that `accept` selects, each with its value, from a JSON object to a packer.
struct MapVisitor<'p, F> {
    packer: &'p mut Packer,
    accept: F,
}

impl<'de, F: Fn(&str) -> bool> Visitor<'de> for MapVisitor<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of strings")
    }

    /// Appends a selected key and its value as two strings. The value of any other key may have any type.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<Text<'de>>()? {
            if (self.accept)(&key) {
                self.packer.push(&key);
                self.packer.push(&entries.next_value::<Text<'de>>()?);
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
