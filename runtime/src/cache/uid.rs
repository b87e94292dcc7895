//! The identity of one incarnation of an object.

use std::{fmt, str};

/// An object's uid, kept in 16 bytes where it is a UUID in its usual form, else as the text it is.
///
/// A name that is deleted and made again has another uid. Sources that know no uid leave it empty.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(Repr);

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Repr {
    Uuid([u8; 16]),
    Text(Box<str>),
}

/// Where the dashes of a UUID stand, and its length with them.
const DASHES: [usize; 4] = [8, 13, 18, 23];
const UUID_LEN: usize = 36;

impl Uid {
    /// Whether the object has no uid.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Repr::Text(text) if text.is_empty())
    }
}

impl Default for Uid {
    fn default() -> Self {
        Self(Repr::Text(Box::default()))
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        Self(parse_uuid(text.as_bytes()).map_or_else(|| Repr::Text(text.into()), Repr::Uuid))
    }
}

/// The bytes of a lower-case UUID with dashes; any other form would not come back as it was written.
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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Uuid(bytes) => {
                let (a, b, c, d, e) = fields(u128::from_be_bytes(*bytes));
                write!(f, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
            }
            Repr::Text(text) => f.write_str(text),
        }
    }
}

fn fields(value: u128) -> (u128, u128, u128, u128, u128) {
    (value >> 96, value >> 80 & 0xffff, value >> 64 & 0xffff, value >> 48 & 0xffff, value & 0xffff_ffff_ffff)
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Repr, Uid};

    #[test]
    fn uuid_is_packed_and_shown_as_it_came() {
        let text = "0a1b2c3d-0e4f-5061-7283-94a5b6c7d8e9";
        let uid = Uid::from(text);
        assert!(matches!(uid.0, Repr::Uuid(_)));
        assert_eq!(uid.to_string(), text);
    }

    #[test]
    fn any_other_text_stays_as_it_is() {
        for text in ["", "node-1", "0A1B2C3D-0e4f-5061-7283-94a5b6c7d8e9", "0a1b2c3d00e4f-5061-7283-94a5b6c7d8e9"] {
            let uid = Uid::from(text);
            assert!(matches!(uid.0, Repr::Text(_)), "{text}");
            assert_eq!(uid.to_string(), text);
        }
        assert!(Uid::default().is_empty());
    }
}
