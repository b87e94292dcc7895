//! Removes `metadata.managedFields` and white space from the JSON of an object.

use super::text::Text;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{fmt, sync::Arc};

/// Returns an object without `metadata.managedFields` and without white space between tokens.
///
/// # Errors
/// Fails if the JSON is not an object.
pub(crate) fn without_managed_fields(json: &[u8]) -> serde_json::Result<Arc<[u8]>> {
    let mut out = Vec::with_capacity(json.len());
    strip(json, &mut out)?;
    Ok(out.into())
}

/// Appends `json` to `out` without `metadata.managedFields` and without white space between tokens.
///
/// Only the metadata is parsed, and the names of the top-level fields. All other bytes are copied, so unknown fields and numbers of any
/// size stay exact.
pub(super) fn strip(json: &[u8], out: &mut Vec<u8>) -> serde_json::Result<()> {
    let Fields(fields) = serde_json::from_slice(json)?;
    out.push(b'{');
    for (name, value) in &fields {
        write_name(name, out)?;
        match &**name {
            "metadata" => strip_metadata(value, out)?,
            _ => minify(value.get(), out),
        }
    }
    out.push(b'}');
    Ok(())
}

/// Appends the metadata without `managedFields`.
fn strip_metadata(metadata: &RawValue, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let Fields(fields) = serde_json::from_str(metadata.get())?;
    out.push(b'{');
    for (name, value) in fields.iter().filter(|(name, _)| &**name != "managedFields") {
        write_name(name, out)?;
        minify(value.get(), out);
    }
    out.push(b'}');
    Ok(())
}

/// Appends the name of a field, with a comma before it unless it is the first.
fn write_name(name: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
    if !out.ends_with(b"{") {
        out.push(b',');
    }
    serde_json::to_writer(&mut *out, name)?;
    out.push(b':');
    Ok(())
}

/// Appends valid JSON to `out` without the white space between tokens.
fn minify(json: &str, out: &mut Vec<u8>) {
    // `start` is the begin of the bytes that are not copied yet. A backslash occurs only in strings, where it escapes the next byte.
    let (mut in_string, mut escaped, mut start) = (false, false, 0);
    for (index, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b' ' | b'\n' | b'\r' | b'\t' if !in_string => {
                out.extend_from_slice(&json.as_bytes()[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    out.extend_from_slice(&json.as_bytes()[start..]);
}

/// The fields of a JSON object in their order, with unparsed values.
struct Fields<'a>(Vec<(Text<'a>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor).map(Fields)
    }
}

/// Collects the fields of a JSON object for [`Fields`].
struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Vec<(Text<'de>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(16);
        while let Some(field) = entries.next_entry()? {
            fields.push(field);
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::strip;

    /// Returns the result of [`strip`] as text.
    fn stripped(json: &str) -> String {
        let mut out = Vec::new();
        strip(json.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn managed_fields_are_removed_and_other_fields_stay() {
        let json = r#"{"metadata":{"name":"a","managedFields":[{"fieldsV1":{"f:spec":{}}}],"uid":"u"},"spec":{"managedFields":1}}"#;
        assert_eq!(stripped(json), r#"{"metadata":{"name":"a","uid":"u"},"spec":{"managedFields":1}}"#);
    }

    #[test]
    fn white_space_is_removed_only_between_tokens() {
        let json = "{ \"metadata\" : { } ,\n\t\"a \\\" b\\\\\": [ 1 , \" x \\\" y \" ] }\n";
        assert_eq!(stripped(json), "{\"metadata\":{},\"a \\\" b\\\\\":[1,\" x \\\" y \"]}");
    }

    #[test]
    fn numbers_of_any_size_stay_exact() {
        let json = r#"{"spec":{"big":123456789012345678901234567890,"small":1.10,"exp":1E400}}"#;
        assert_eq!(stripped(json), json);
    }

    #[test]
    fn something_else_than_an_object_is_an_error() {
        for json in ["", "[]", "\"text\"", "{\"metadata\":[]}", "{\"a\":}"] {
            assert!(strip(json.as_bytes(), &mut Vec::new()).is_err(), "{json}");
        }
    }
}
