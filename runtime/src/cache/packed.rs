//! Short lists of text in one allocation each.

use std::{fmt, str, sync::Arc};

/// A list of strings in one shared allocation, for the many small lists an object's metadata holds.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PackedList(
    /// Each string after its length: one byte, or 255 and four bytes (little endian) from 255 bytes on.
    Arc<[u8]>,
);

const LONG: u8 = u8::MAX;

impl PackedList {
    /// The strings in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut rest = &*self.0;
        std::iter::from_fn(move || {
            let (text, after) = split_first(rest)?;
            rest = after;
            Some(text)
        })
    }

    /// Whether `text` is one of the strings.
    pub fn contains(&self, text: &str) -> bool {
        self.iter().any(|own| own == text)
    }

    /// Whether there is no string.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the allocation of `other` if it says the same.
    pub(super) fn share(&mut self, other: &Self) {
        if self == other {
            self.clone_from(other);
        }
    }
}

fn split_first(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (&short, rest) = bytes.split_first()?;
    let (len, rest) = if short == LONG {
        let (len, rest) = rest.split_first_chunk()?;
        (u32::from_le_bytes(*len) as usize, rest)
    } else {
        (usize::from(short), rest)
    };
    let (text, rest) = rest.split_at_checked(len)?;
    Some((str::from_utf8(text).ok()?, rest))
}

/// Collects strings for a [`PackedList`] or [`PackedMap`].
#[derive(Debug, Default)]
pub(super) struct Packer(Vec<u8>);

impl Packer {
    pub(super) fn push(&mut self, text: &str) {
        match u8::try_from(text.len()) {
            Ok(len) if len < LONG => self.0.push(len),
            _ => {
                // Metadata is far below 4 GiB: the API server refuses objects over some megabytes.
                self.0.push(LONG);
                self.0.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
            }
        }
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(super) fn list(self) -> PackedList {
        match self.0.is_empty() {
            true => PackedList::default(),
            false => PackedList(self.0.into()),
        }
    }

    /// Whatever was pushed is read as key, value, key, value.
    pub(super) fn map(self) -> PackedMap {
        PackedMap(self.list())
    }
}

impl<'a> FromIterator<&'a str> for PackedList {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut packer = Packer::default();
        texts.into_iter().for_each(|text| packer.push(text));
        packer.list()
    }
}

impl fmt::Debug for PackedList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Pairs of strings in one allocation: labels or annotations, in the order they came in (the API server sorts them).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PackedMap(PackedList);

impl PackedMap {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find_map(|(own, value)| (own == key).then_some(value))
    }

    /// Keys and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut texts = self.0.iter();
        std::iter::from_fn(move || Some((texts.next()?, texts.next()?)))
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the allocation of `other` if it says the same.
    pub(super) fn share(&mut self, other: &Self) {
        self.0.share(&other.0);
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for PackedMap {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        Self(pairs.into_iter().flat_map(|(key, value)| [key, value]).collect())
    }
}

impl fmt::Debug for PackedMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{PackedList, PackedMap};

    #[test]
    fn list_gives_back_every_length() {
        let texts: Vec<String> =
            [0, 1, 254, 255, 256, 70_000].map(|len| "ü".repeat(len / 2) + &"x".repeat(len % 2)).into();
        let list: PackedList = texts.iter().map(String::as_str).collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), texts);
        assert!(list.contains("x") && !list.contains("y"));
    }

    #[test]
    fn map_finds_values_by_key_only() {
        let map: PackedMap = [("app", "web"), ("web", "x")].into_iter().collect();
        assert_eq!((map.get("app"), map.get("web"), map.get("x")), (Some("web"), Some("x"), None));
        assert!(PackedMap::default().is_empty());
    }
}
