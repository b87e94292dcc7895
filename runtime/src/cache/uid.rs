//! `Uid`: the uid of an object in a compact form.

use std::{fmt, str};

/// The uid of an object, stored in 16 bytes if it is a UUID in its usual form, otherwise as text.
///
/// An object that is deleted and created again under the same name has another uid. It is empty for sources without uids.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(UidRepr);

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum UidRepr {
    Uuid([u8; 16]),
    Text(Box<str>),
}

/// The positions of the dashes of a UUID, and its length with them.
const DASHES: [usize; 4] = [8, 13, 18, 23];
const UUID_LEN: usize = 36;

impl Uid {
    /// Returns whether the object has no uid.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, UidRepr::Text(text) if text.is_empty())
    }
}

impl Default for Uid {
    fn default() -> Self {
        Self(UidRepr::Text(Box::default()))
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        Self(parse_uuid(text.as_bytes()).map_or_else(|| UidRepr::Text(text.into()), UidRepr::Uuid))
    }
}

/// Returns the bytes of a lower-case UUID with dashes; `None` for any other form, which would not be formatted as it was written.
fn parse_uuid(text: &[u8]) -> Option<[u8; 16]> {
    if text.len() != UUID_LEN {
        return None;
    }
    let mut value = 0_u128;
    for (position, byte) in text.iter().enumerate() {
        let digit = match byte {
            b'-' if DASHES.contains(&position) => continue,
            _ if DASHES.contains(&position) => return None,
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        value = value << 4 | u128::from(digit);
    }
    Some(value.to_be_bytes())
}

impl fmt::Display for Uid {
    /// Writes the uid as it was parsed: a UUID in lower case with dashes, or the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            UidRepr::Uuid(bytes) => {
                let [a, b, c, d, e] = uuid_groups(u128::from_be_bytes(*bytes));
                write!(f, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
            }
            UidRepr::Text(text) => f.write_str(text),
        }
    }
}

/// Returns the five groups of digits of a UUID.
fn uuid_groups(value: u128) -> [u128; 5] {
    [value >> 96, value >> 80 & 0xffff, value >> 64 & 0xffff, value >> 48 & 0xffff, value & 0xffff_ffff_ffff]
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Uid, UidRepr};

    #[test]
    fn uuid_is_stored_as_bytes_and_formatted_as_parsed() {
        let text = "0a1b2c3d-0e4f-5061-7283-94a5b6c7d8e9";
        let uid = Uid::from(text);
        assert!(matches!(uid.0, UidRepr::Uuid(_)));
        assert_eq!(uid.to_string(), text);
    }

    #[test]
    fn text_of_another_form_is_stored_as_text() {
        for text in ["", "node-1", "0A1B2C3D-0e4f-5061-7283-94a5b6c7d8e9", "0a1b2c3d00e4f-5061-7283-94a5b6c7d8e9"] {
            let uid = Uid::from(text);
            assert!(matches!(uid.0, UidRepr::Text(_)), "{text}");
            assert_eq!(uid.to_string(), text);
        }
        assert!(Uid::default().is_empty());
    }
}
