//! `PackedList` and `PackedMap`: small lists and maps of strings in one shared allocation.

use std::{fmt, str, sync::Arc};

/// A list of strings in one shared allocation, for the small lists in the metadata of objects.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PackedList(
    /// Each string follows its length: one byte, or 255 and four bytes (little endian) for 255 bytes and more.
    Arc<[u8]>,
);

/// The length byte of a string of 255 bytes and more, whose length follows.
const LONG_MARKER: u8 = u8::MAX;

impl PackedList {
    /// Iterates over the strings in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut rest = &*self.0;
        std::iter::from_fn(move || {
            let (text, after) = split_first(rest)?;
            rest = after;
            Some(text)
        })
    }

    /// Returns whether `text` is one of the strings.
    pub fn contains(&self, text: &str) -> bool {
        self.iter().any(|item| item == text)
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Shares the allocation of `other` if the content is equal.
    pub(super) fn share_allocation(&mut self, other: &Self) {
        if self == other {
            self.clone_from(other);
        }
    }
}

/// Returns the first string and the bytes after it; `None` at the end of the list.
fn split_first(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (&short, rest) = bytes.split_first()?;
    let (len, rest) = if short == LONG_MARKER {
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
    /// Appends a string.
    pub(super) fn push(&mut self, text: &str) {
        match u8::try_from(text.len()) {
            Ok(len) if len < LONG_MARKER => self.0.push(len),
            _ => {
                // Metadata never reaches 4 GiB: the API server refuses objects of more than some megabytes.
                self.0.push(LONG_MARKER);
                self.0.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
            }
        }
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Returns the pushed strings as a list.
    pub(super) fn list(self) -> PackedList {
        match self.0.is_empty() {
            true => PackedList::default(),
            false => PackedList(self.0.into()),
        }
    }

    /// Returns a map; the pushed strings are keys and values in turn.
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

/// Labels or annotations in one shared allocation, in the order of the input (the API server sorts them).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PackedMap(PackedList);

impl PackedMap {
    /// Returns the value of `key`; `None` if there is none.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find_map(|(item, value)| (item == key).then_some(value))
    }

    /// Iterates over keys and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut texts = self.0.iter();
        std::iter::from_fn(move || Some((texts.next()?, texts.next()?)))
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Shares the allocation of `other` if the content is equal.
    pub(super) fn share_allocation(&mut self, other: &Self) {
        self.0.share_allocation(&other.0);
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
