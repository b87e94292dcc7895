//! The keys that a watch has seen, so that it notices keys that went without a message.

use super::{
    consumer::KeyChange,
    jetstream::{JetStreamFailure, StreamApi},
};
use std::collections::HashSet;

/// The keys of a bucket with an entry, and those with a tombstone.
///
/// The server removes messages without telling a consumer: when a stream is purged, and when they reach the maximum age of a bucket
/// without markers. So the number of keys is compared from time to time, and the names only if it differs.
#[derive(Debug, Default)]
pub(super) struct TrackedKeys {
    live: HashSet<String>,
    deleted: HashSet<String>,
}

/// The result of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LostKeys {
    /// The keys that have neither an entry nor a tombstone anymore, in their order.
    pub(super) keys: Vec<String>,
    /// The last revision of the bucket at the time of the comparison.
    pub(super) revision: u64,
}

impl TrackedKeys {
    pub(super) fn handle(&mut self, change: &KeyChange) {
        let (into, from) = match change.value {
            Some(_) => (&mut self.live, &mut self.deleted),
            None => (&mut self.deleted, &mut self.live),
        };
        from.remove(&change.key);
        if !into.contains(&change.key) {
            into.insert(change.key.clone());
        }
    }

    /// Whether the key has an entry.
    pub(super) fn is_live(&self, key: &str) -> bool {
        self.live.contains(key)
    }

    /// Compares the keys with those of the stream. Returns `None` if there are other changes underway, after which a comparison says
    /// more. `reached` is the revision up to which all changes were [handled](Self::handle).
    pub(super) async fn compare(
        &mut self,
        api: &StreamApi,
        prefix: &str,
        reached: u64,
    ) -> Result<Option<LostKeys>, JetStreamFailure> {
        let report = api.report().await?;
        let revision = report.state.last_revision;
        if revision != reached {
            return Ok(None);
        }
        if usize::try_from(report.state.subject_count).is_ok_and(|count| count == self.live.len() + self.deleted.len())
        {
            return Ok(Some(LostKeys { keys: Vec::new(), revision }));
        }
        let existing = existing(api, prefix).await?;
        Ok(Some(LostKeys { keys: self.remove_except(&existing), revision }))
    }

    fn remove_except(&mut self, existing: &HashSet<String>) -> Vec<String> {
        self.deleted.retain(|key| existing.contains(key));
        let mut lost: Vec<_> = self.live.extract_if(|key| !existing.contains(key)).collect();
        lost.sort_unstable();
        lost
    }
}

/// Reads the names of all keys, page by page.
async fn existing(api: &StreamApi, prefix: &str) -> Result<HashSet<String>, JetStreamFailure> {
    let mut keys = HashSet::new();
    let mut offset = 0;
    loop {
        let page = api.subjects(offset).await?;
        let subjects = page.state.subjects.unwrap_or_default();
        let count = u64::try_from(subjects.len()).unwrap_or(u64::MAX);
        keys.extend(subjects.into_keys().filter_map(|subject| Some(subject.strip_prefix(prefix)?.to_owned())));
        offset += count;
        if count == 0 || offset >= page.total {
            return Ok(keys);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(key: &str, value: Option<&[u8]>) -> KeyChange {
        KeyChange { key: key.to_owned(), revision: 1, value: value.map(<[u8]>::to_vec) }
    }

    #[test]
    fn only_live_keys_that_the_stream_does_not_have_are_lost() {
        let mut tracked = TrackedKeys::default();
        for key in ["c", "a", "b", "kept"] {
            tracked.handle(&change(key, Some(b"1")));
        }
        tracked.handle(&change("b", None));
        assert!(tracked.is_live("a") && !tracked.is_live("b"));
        assert_eq!(tracked.remove_except(&HashSet::from(["kept".to_owned()])), ["a", "c"]);
        assert!(tracked.is_live("kept") && !tracked.is_live("a"));
        assert_eq!(tracked.live.len() + tracked.deleted.len(), 1);
    }
}
