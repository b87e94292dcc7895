//! `ShardSet`: some of the shards, and the selector with which the API server selects their objects.

use super::hash::ShardCount;
use std::{collections::BTreeSet, fmt::Write as _};

/// Some of the shards of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardSet(BTreeSet<u16>);

impl ShardSet {
    pub(crate) fn contains(&self, shard: u16) -> bool {
        self.0.contains(&shard)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn insert(&mut self, shard: u16) {
        self.0.insert(shard);
    }

    pub(crate) fn remove(&mut self, shard: u16) {
        self.0.remove(&shard);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u16> {
        self.0.iter().copied()
    }

    /// Returns the value of the parameter `shardSelector` (KEP-5866) that selects the objects of these shards. Consecutive shards share one
    /// range.
    pub(crate) fn selector(&self, count: ShardCount) -> String {
        let mut selector = String::new();
        let mut shards = self.iter().peekable();
        while let Some(first) = shards.next() {
            let mut last = first;
            while let Some(next) = shards.next_if_eq(&(last + 1)) {
                last = next;
            }
            if !selector.is_empty() {
                selector.push_str(" || ");
            }
            let (start, end) = (count.first_hash(first), count.first_hash(last + 1));
            // The server compares the numbers as text, so they are padded with zeros to 16 digits. Writing to a string can't fail.
            let _ = write!(selector, "shardRange(object.metadata.uid, '{start:#018x}', '{end:#018x}')");
        }
        selector
    }
}

impl FromIterator<u16> for ShardSet {
    fn from_iter<I: IntoIterator<Item = u16>>(shards: I) -> Self {
        Self(shards.into_iter().collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_selector_has_a_range_for_each_run_of_neighbors() {
        let count = ShardCount::new(4).unwrap();
        let selector = |shards: &[u16]| shards.iter().copied().collect::<ShardSet>().selector(count);
        let range = |start: &str, end: &str| format!("shardRange(object.metadata.uid, '{start}', '{end}')");
        assert_eq!(selector(&[0, 1]), range("0x0000000000000000", "0x8000000000000000"));
        assert_eq!(selector(&[0, 1, 2, 3]), range("0x0000000000000000", "0x10000000000000000"));
        let many = ShardCount::new(256).unwrap();
        let second = ShardSet::from_iter([1]).selector(many);
        assert_eq!(second, range("0x0100000000000000", "0x0200000000000000"));
        let (first, last) =
            (range("0x0000000000000000", "0x4000000000000000"), range("0x8000000000000000", "0x10000000000000000"));
        assert_eq!(selector(&[0, 2, 3]), format!("{first} || {last}"));
    }
}
