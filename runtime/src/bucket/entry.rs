//! `BucketEntry`: a key of a key-value bucket with its current value and revision.

/// A live entry of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketEntry {
    /// The key. It has one to 1,024 characters of `-/_=.a-zA-Z0-9`, and no dot at its start or end or beside another dot.
    pub key: String,
    /// The value.
    pub value: Vec<u8>,
    /// The revision of the write that made this value. Revisions are positive and increase over all keys of a bucket.
    pub revision: u64,
}

impl BucketEntry {
    /// Returns an entry.
    #[must_use]
    pub fn new(key: impl Into<String>, value: impl Into<Vec<u8>>, revision: u64) -> Self {
        Self { key: key.into(), value: value.into(), revision }
    }
}
