//! `EntryList`: the live entries of a bucket at one time, in the order of their keys.

use super::entry::BucketEntry;
use std::{cmp::Reverse, fmt, iter::FusedIterator, ops::Range};

/// The size of the first block of memory, in bytes.
const FIRST_BLOCK_SIZE: usize = 64 * 1024;
/// The size of further blocks. It is address space at first, and memory as it is filled. An allocator maps a block of this size by itself,
/// so that all of it goes back to the system in the end: glibc keeps smaller ones among its free chunks (`M_MMAP_THRESHOLD` is at most 32
/// MiB).
const BLOCK_SIZE: usize = 33 * 1024 * 1024;

/// The live entries of a bucket at one time, in the order of their keys.
///
/// All keys and values are in a few large blocks of memory, as a list of 100,000 entries is held only for a moment.
///
/// ```
/// use opgen::bucket::{BucketEntry, EntryList};
///
/// let list: EntryList = [BucketEntry::new("b", "2", 1), BucketEntry::new("a", "1", 2)].into_iter().collect();
/// let keys: Vec<_> = list.keys().collect();
/// assert_eq!(keys, ["a", "b"]);
/// assert_eq!(list.get("b"), Some(BucketEntry::new("b", "2", 1)));
/// ```
#[derive(Clone, Default)]
pub struct EntryList {
    blocks: Vec<Vec<u8>>,
    /// The entries. They are in the order of their keys, except in a builder.
    records: Vec<Record>,
}

/// Collects the entries of an [`EntryList`], which may come in any order and more than once.
///
/// ```
/// use opgen::bucket::{BucketEntry, EntryList};
///
/// let mut builder = EntryList::builder();
/// builder.put("b", b"1", 1);
/// builder.put("a", b"2", 2);
/// builder.put("b", b"3", 3);
/// builder.remove("a");
/// assert_eq!(builder.build(), [BucketEntry::new("b", "3", 3)].into_iter().collect());
/// ```
#[derive(Debug, Default)]
pub struct EntryListBuilder {
    list: EntryList,
}

/// The iterator of the entries of an [`EntryList`], in the order of their keys.
#[derive(Debug)]
pub struct EntryListIntoIter {
    list: EntryList,
    /// The indexes of the entries that were not returned yet.
    remaining: Range<usize>,
}

/// The place of an entry in the blocks. The value follows the key.
#[derive(Clone, Copy)]
struct Record {
    block: usize,
    start: usize,
    key_size: usize,
    /// `None` if the key was removed.
    value_size: Option<usize>,
    revision: u64,
}

impl EntryList {
    /// Returns a builder without entries.
    #[must_use]
    pub fn builder() -> EntryListBuilder {
        EntryListBuilder::default()
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the keys in their order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.records.iter().map(|record| self.key(record))
    }

    /// Returns the highest revision of an entry; `None` if there is no entry.
    #[must_use]
    pub fn highest_revision(&self) -> Option<u64> {
        self.revisions().max()
    }

    /// Returns a copy of the entry with a key; `None` if there is none.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<BucketEntry> {
        let index = self.records.binary_search_by(|record| self.key(record).cmp(key)).ok()?;
        self.records.get(index).map(|record| self.entry(record))
    }

    /// Returns copies of the entries in the order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = BucketEntry> + FusedIterator {
        self.records.iter().map(|record| self.entry(record))
    }

    pub(crate) fn revisions(&self) -> impl Iterator<Item = u64> {
        self.records.iter().map(|record| record.revision)
    }

    fn key(&self, record: &Record) -> &str {
        // A key is written as text.
        str::from_utf8(self.bytes(record, 0, record.key_size)).unwrap_or_default()
    }

    /// Returns a copy of the entry of a record.
    fn entry(&self, record: &Record) -> BucketEntry {
        let value = self.bytes(record, record.key_size, record.value_size.unwrap_or_default());
        BucketEntry::new(self.key(record), value, record.revision)
    }

    /// Returns `size` bytes of the record from `offset` on: the key comes first, and the value follows.
    fn bytes(&self, record: &Record, offset: usize, size: usize) -> &[u8] {
        let start = record.start + offset;
        self.blocks.get(record.block).and_then(|block| block.get(start..start + size)).unwrap_or_default()
    }
}

impl EntryListBuilder {
    /// Adds an entry, in place of an earlier one with this key.
    pub fn put(&mut self, key: &str, value: &[u8], revision: u64) {
        self.push(key, Some(value), revision);
    }

    /// Removes the entry with a key, if there is one. A later [`put`](Self::put) adds it again.
    pub fn remove(&mut self, key: &str) {
        self.push(key, None, 0);
    }

    /// Returns the list of the entries that were added and not removed.
    #[must_use]
    pub fn build(self) -> EntryList {
        let Self { mut list } = self;
        let mut records = std::mem::take(&mut list.records);
        // Of several records of a key, the last one sorts first, and `dedup_by` keeps it.
        let place = |record: &Record| Reverse((record.block, record.start));
        records.sort_unstable_by(|a, b| list.key(a).cmp(list.key(b)).then_with(|| place(a).cmp(&place(b))));
        records.dedup_by(|earlier, last| list.key(earlier) == list.key(last));
        records.retain(|record| record.value_size.is_some());
        list.records = records;
        list
    }

    /// Adds a record of a key: its value, or its removal (`None`). Appends the key and the value to the last block of memory, or to a new
    /// block if they don't fit into it: a block never grows, so that its bytes are not copied.
    fn push(&mut self, key: &str, value: Option<&[u8]>, revision: u64) {
        let size = key.len() + value.map_or(0, <[u8]>::len);
        let EntryList { blocks, records } = &mut self.list;
        if blocks.last().is_none_or(|block| block.capacity() - block.len() < size) {
            let usual_size = if blocks.is_empty() { FIRST_BLOCK_SIZE } else { BLOCK_SIZE };
            blocks.push(Vec::with_capacity(size.max(usual_size)));
        }
        let Some((block, bytes)) = blocks.iter_mut().enumerate().next_back() else { return };
        let start = bytes.len();
        bytes.extend_from_slice(key.as_bytes());
        bytes.extend_from_slice(value.unwrap_or_default());
        records.push(Record { block, start, key_size: key.len(), value_size: value.map(<[u8]>::len), revision });
    }
}

impl FromIterator<BucketEntry> for EntryList {
    /// Collects entries in any order. Of several entries with one key, the last one stays.
    fn from_iter<I: IntoIterator<Item = BucketEntry>>(entries: I) -> Self {
        let mut builder = Self::builder();
        entries.into_iter().for_each(|entry| builder.put(&entry.key, &entry.value, entry.revision));
        builder.build()
    }
}

impl IntoIterator for EntryList {
    type Item = BucketEntry;
    type IntoIter = EntryListIntoIter;

    /// Returns the entries in the order of their keys. Each is copied from the blocks of memory when the iterator comes to it.
    fn into_iter(self) -> EntryListIntoIter {
        let remaining = 0..self.len();
        EntryListIntoIter { list: self, remaining }
    }
}

impl Iterator for EntryListIntoIter {
    type Item = BucketEntry;

    fn next(&mut self) -> Option<BucketEntry> {
        let record = self.list.records.get(self.remaining.next()?)?;
        Some(self.list.entry(record))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.remaining.size_hint()
    }
}

impl PartialEq for EntryList {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for EntryList {}

impl fmt::Debug for EntryList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str, value: &str, revision: u64) -> BucketEntry {
        BucketEntry::new(key, value, revision)
    }

    #[test]
    fn the_last_entry_of_a_key_is_listed_unless_the_key_was_removed_later() {
        let mut builder = EntryList::builder();
        builder.put("c", b"1", 1);
        builder.put("a", b"2", 2);
        builder.put("b", b"3", 3);
        builder.remove("b");
        builder.put("a", b"", 4);
        builder.remove("d");
        builder.put("d", b"5", 5);
        let list = builder.build();
        let expected = [entry("a", "", 4), entry("c", "1", 1), entry("d", "5", 5)];
        assert_eq!(list.iter().collect::<Vec<_>>(), expected);
        assert_eq!(list.keys().collect::<Vec<_>>(), ["a", "c", "d"]);
        assert_eq!((list.len(), list.highest_revision(), list.is_empty()), (3, Some(5), false));
        assert_eq!((list.get("a"), list.get("b")), (Some(entry("a", "", 4)), None));
        assert_eq!(list, expected.clone().into_iter().collect());
        assert_eq!(list.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn entries_of_any_size_are_listed() {
        let sizes = [0, 1, FIRST_BLOCK_SIZE - 2, 2, 2 * BLOCK_SIZE, 3, FIRST_BLOCK_SIZE];
        let entries =
            sizes.iter().zip(1..).map(|(size, revision)| entry(&format!("k{revision}"), &"x".repeat(*size), revision));
        let list: EntryList = entries.clone().collect();
        assert!(list.iter().eq(entries));
        assert!(EntryList::default().is_empty() && EntryList::default().highest_revision().is_none());
    }
}
