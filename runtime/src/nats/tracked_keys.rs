//! `TrackedKeys`: the keys that a watch of a bucket has seen. A comparison with the keys in the stream finds those that the server has
//! removed without a message.

use super::{
    consumer::KeyChange,
    jetstream::{JetStreamFailure, StreamApi, StreamReport},
};
use std::collections::HashSet;

/// The keys of a bucket with an entry, and those with a tombstone.
///
/// The server removes messages without telling a consumer: when a stream is purged, and when they reach the maximum age of a bucket
/// without markers. So the number of keys is compared from time to time, and the names only if it differs.
#[derive(Debug, Default)]
pub(super) struct TrackedKeys {
    live: HashSet<Box<str>>,
    deleted: HashSet<Box<str>>,
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
    /// Records a change of a key: it has an entry if the change has a value, and a tombstone (the message of a deletion) otherwise.
    pub(super) fn handle(&mut self, change: &KeyChange) {
        let (new_set, old_set) = match change.value {
            Some(_) => (&mut self.live, &mut self.deleted),
            None => (&mut self.deleted, &mut self.live),
        };
        old_set.remove(change.key.as_str());
        // A known key is not allocated again.
        if !new_set.contains(change.key.as_str()) {
            new_set.insert(change.key.as_str().into());
        }
    }

    /// Returns whether the key has an entry.
    pub(super) fn is_live(&self, key: &str) -> bool {
        self.live.contains(key)
    }

    /// Compares the tracked keys with those in the stream. Removes and returns the keys that the stream no longer has: the server has
    /// removed them without a message. `reached` is the revision up to which all changes were [handled](Self::handle). Returns `None` if
    /// the stream has later changes, so that the comparison has to be repeated.
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
        let Some(existing) = existing_keys(api, prefix).await? else { return Ok(None) };
        Ok(Some(LostKeys { keys: self.remove_except(&existing), revision }))
    }

    /// Removes the keys that are not in `existing`, and returns those of them that had an entry, in their order.
    fn remove_except(&mut self, existing: &HashSet<String>) -> Vec<String> {
        self.deleted.retain(|key| existing.contains(&**key));
        let lost = self.live.extract_if(|key| !existing.contains(&**key));
        let mut lost: Vec<_> = lost.map(String::from).collect();
        lost.sort_unstable();
        lost
    }
}

/// Reads the names of all keys, page by page. Returns `None` if they have changed between two pages.
async fn existing_keys(api: &StreamApi, prefix: &str) -> Result<Option<HashSet<String>>, JetStreamFailure> {
    let mut pages = KeyPages::default();
    loop {
        let page = api.subjects(pages.offset).await?;
        match pages.add(page, prefix) {
            Some(true) => return Ok(Some(pages.keys)),
            Some(false) => {}
            None => return Ok(None),
        }
    }
}

/// The pages of the names of all keys that have been read so far.
#[derive(Debug, Default)]
struct KeyPages {
    keys: HashSet<String>,
    /// How many names were read; the next page begins after them.
    offset: u64,
    /// The number of keys and the last revision of the bucket at the first page.
    first_page_state: Option<(u64, u64)>,
}

impl KeyPages {
    /// Adds a page of subjects, and returns whether it is the last page. Returns `None` if the bucket has changed since the first page: the
    /// offset of this page may then be wrong, and keys that it skips would seem to be removed.
    fn add(&mut self, page: StreamReport, prefix: &str) -> Option<bool> {
        let (total, revision) = (page.total, page.state.last_revision);
        if *self.first_page_state.get_or_insert((total, revision)) != (total, revision) {
            return None;
        }
        let subjects = page.state.subjects.unwrap_or_default();
        let count = u64::try_from(subjects.len()).unwrap_or(u64::MAX);
        self.keys.extend(subjects.into_keys().filter_map(|subject| Some(subject.strip_prefix(prefix)?.to_owned())));
        self.offset = self.offset.saturating_add(count);
        Some(count == 0 || self.offset >= total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nats::jetstream::{StreamConfig, StreamState};

    /// Returns a change of a key to a value, or its deletion.
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

    /// Returns a page with these keys of a stream that has `total` keys and this last revision.
    fn page(keys: &[&str], total: u64, last_revision: u64) -> StreamReport {
        let subjects = keys.iter().map(|key| (format!("$KV.things.{key}"), 1)).collect();
        let state = StreamState { messages: total, last_revision, subject_count: total, subjects: Some(subjects) };
        StreamReport { config: StreamConfig::default(), state, total }
    }

    #[test]
    fn names_are_complete_only_if_no_key_comes_or_goes_between_two_pages() {
        let read = |second: StreamReport| {
            let mut pages = KeyPages::default();
            assert_eq!(pages.add(page(&["a", "b"], 3, 9), "$KV.things."), Some(false));
            assert_eq!(pages.offset, 2);
            pages.add(second, "$KV.things.").map(|is_last| (is_last, pages.keys.len()))
        };
        assert_eq!(read(page(&["c"], 3, 9)), Some((true, 3)));
        // `a` has expired, so that the second page begins after `c`.
        assert_eq!(read(page(&[], 2, 9)), None);
        assert_eq!(read(page(&["d"], 3, 10)), None);
    }
}
