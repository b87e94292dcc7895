//! `Follower`: follows a watch, checks the rules for the order of its events, and keeps the entries that the watch has delivered.

use std::collections::{BTreeMap, VecDeque};

use futures::{FutureExt as _, StreamExt as _, stream::BoxStream};
use opgen::bucket::{BucketEntry, BucketError, BucketEvent};
use tokio::time::Duration;

use super::deadline::{CheckResult, Deadline, expect, failed};

/// An item of a watch.
pub(super) type WatchItem = Result<BucketEvent, BucketError>;

/// The number of the latest items that messages show.
const SHOWN: usize = 8;

/// A watch with the entries that it has delivered.
pub(super) struct Follower {
    stream: BoxStream<'static, WatchItem>,
    deadline: Deadline,
    /// The entries according to the last complete list and the changes since.
    entries: BTreeMap<String, BucketEntry>,
    /// The entries of the list in progress; `None` outside a list.
    partial_list: Option<BTreeMap<String, BucketEntry>>,
    /// The number of complete lists.
    lists: usize,
    /// The revision of the last change since the last list.
    last_change: u64,
    latest: VecDeque<String>,
}

impl Follower {
    pub(super) fn new(stream: BoxStream<'static, WatchItem>, deadline: Deadline) -> Self {
        let (entries, latest) = (BTreeMap::new(), VecDeque::new());
        Self { stream, deadline, entries, partial_list: None, lists: 0, last_change: 0, latest }
    }

    /// Waits for the next item of the watch, records it, and returns it. Fails at the deadline, at the end of the watch, or if the item
    /// breaks a rule for the order of events. `expected` names the awaited item in the message.
    pub(super) async fn next(&mut self, expected: &str) -> CheckResult<WatchItem> {
        // A watch that always has an item ready never waits, so the deadline is checked here as well.
        let is_over = self.deadline.is_over();
        match self.deadline.wait(self.stream.next()).await {
            _ if is_over => failed(format!("expected {expected} before the deadline {}", self.summary())),
            Some(Some(item)) => {
                self.add(&item)?;
                Ok(item)
            }
            Some(None) => failed(format!("expected {expected}; the watch ended {}", self.summary())),
            None => failed(format!("expected {expected}; no more came until the deadline {}", self.summary())),
        }
    }

    /// Polls the watch once, and drops the wait for the next item. Records the item if there is one already.
    pub(super) fn poll_once(&mut self) -> CheckResult {
        match self.stream.next().now_or_never() {
            Some(Some(item)) => self.add(&item),
            Some(None) => {
                failed(format!("expected the watch to wait for the next change; it ended {}", self.summary()))
            }
            None => Ok(()),
        }
    }

    /// Returns the next event. An error is a violation.
    pub(super) async fn event(&mut self, expected: &str) -> CheckResult<BucketEvent> {
        match self.next(expected).await? {
            Ok(event) => Ok(event),
            Err(error) => failed(format!("expected {expected}; the watch delivered the error {error:?}")),
        }
    }

    /// Reads the watch up to the end of the next list (`ListEnded`), and returns the entries of that list in the order of their keys.
    /// Errors that the watch delivers are ignored.
    pub(super) async fn list(&mut self) -> CheckResult<Vec<BucketEntry>> {
        let lists = self.lists;
        while self.lists == lists {
            drop(self.next("`ListEnded`").await?);
        }
        Ok(self.entries())
    }

    /// Reads the watch until its last complete list and the changes since then have these entries and no others.
    pub(super) async fn until_equal(&mut self, expected: &[BucketEntry]) -> CheckResult {
        let of_list = || format!("the watch to show the entries of a list, {}", keys(expected));
        self.follow_until(of_list, |follower| follower.is_equal(expected)).await
    }

    /// Reads the watch until its last complete list and the changes since then have a key with this revision, or with `None` not the key.
    pub(super) async fn until_revision(&mut self, key: &str, revision: Option<u64>) -> CheckResult {
        let what = || format!("the watch to show key {key:?} at revision {revision:?} (`None`: without an entry)");
        self.follow_until(what, |follower| {
            follower.lists > 0 && follower.partial_list.is_none() && follower.revision(key) == revision
        })
        .await
    }

    /// Reads the watch until the condition `is_done` holds. `what` describes the condition in the message of a failure.
    async fn follow_until(&mut self, what: impl Fn() -> String, is_done: impl Fn(&Self) -> bool) -> CheckResult {
        while !is_done(self) {
            let expected = what();
            drop(self.next(&expected).await?);
        }
        Ok(())
    }

    /// Waits for the duration `time`, and fails if the watch delivers something or ends in that time.
    pub(super) async fn expect_silence(&mut self, time: Duration) -> CheckResult {
        match tokio::time::timeout(time, self.stream.next()).await {
            Err(_) => Ok(()),
            Ok(None) => failed("expected the watch to wait for the next change; it ended"),
            Ok(Some(item)) => {
                failed(format!("expected no event without a change; the watch delivered {}", item_text(&item)))
            }
        }
    }

    /// Returns the entries that the watch has delivered, in the order of their keys.
    pub(super) fn entries(&self) -> Vec<BucketEntry> {
        self.entries.values().cloned().collect()
    }

    /// Returns the revision of a key that the watch has delivered.
    pub(super) fn revision(&self, key: &str) -> Option<u64> {
        self.entries.get(key).map(|entry| entry.revision)
    }

    /// Returns whether the watch has delivered a complete list.
    pub(super) fn has_listed(&self) -> bool {
        self.lists > 0
    }

    /// Returns whether a complete list and its changes have these entries and no others.
    fn is_equal(&self, expected: &[BucketEntry]) -> bool {
        let has_list = self.lists > 0 && self.partial_list.is_none();
        has_list && self.entries.len() == expected.len() && self.entries.values().eq(expected)
    }

    /// Records an item of the watch in the entries. Fails if it breaks a rule: `ListStarted` comes first, a list has only entries, and the
    /// revisions of changes increase. An error of the watch is allowed at any time.
    fn add(&mut self, item: &WatchItem) -> CheckResult {
        if self.latest.len() == SHOWN {
            self.latest.pop_front();
        }
        self.latest.push_back(item_text(item));
        let Ok(event) = item else { return Ok(()) };
        let has_begun = self.lists > 0 || self.partial_list.is_some() || *event == BucketEvent::ListStarted;
        expect(has_begun, || format!("expected `ListStarted` before all other events; {}", self.summary()))?;
        match event {
            BucketEvent::ListStarted => {
                self.partial_list = Some(BTreeMap::new());
                Ok(())
            }
            BucketEvent::ListEnded => self.end_list(),
            BucketEvent::Put(entry) => self.put(entry),
            BucketEvent::Removed { key, revision } => self.remove(key, *revision),
            // Events of newer releases are not known here.
            _ => Ok(()),
        }
    }

    /// Handles `ListEnded`: replaces the entries by those of the list in progress. Fails if no list is in progress.
    fn end_list(&mut self) -> CheckResult {
        let Some(list) = self.partial_list.take() else {
            return failed(format!("expected `ListEnded` once, after `ListStarted`; {}", self.summary()));
        };
        self.entries = list;
        self.lists += 1;
        self.last_change = 0;
        Ok(())
    }

    /// Handles `Put`: adds the entry to the list in progress, or applies it as a change if there is none. Fails if the revision of the key,
    /// or the revision of a change, does not increase.
    fn put(&mut self, entry: &BucketEntry) -> CheckResult {
        if let Some(list) = &mut self.partial_list {
            let before = list.insert(entry.key.clone(), entry.clone());
            // Another client may write a key while the list is delivered.
            let is_newer = before.is_none_or(|before| before.revision < entry.revision);
            return expect(is_newer, || {
                let (key, summary) = (&entry.key, self.summary());
                format!("expected key {key:?} once in a list, or again with a newer revision; {summary}")
            });
        }
        self.check_revision(&entry.key, entry.revision)?;
        self.entries.insert(entry.key.clone(), entry.clone());
        Ok(())
    }

    /// Handles `Removed`: removes the entry of the key. Fails if a list is in progress, or if the revision does not increase.
    fn remove(&mut self, key: &str, revision: u64) -> CheckResult {
        expect(self.partial_list.is_none(), || format!("expected entries only in a list; {}", self.summary()))?;
        self.check_revision(key, revision)?;
        self.entries.remove(key);
        Ok(())
    }

    /// Fails unless the revision of a change is greater than that of the last change since the list, and than that of the key's entry.
    /// Records the revision as that of the last change.
    fn check_revision(&mut self, key: &str, revision: u64) -> CheckResult {
        let last = self.last_change;
        expect(revision > last, || format!("expected a change after revision {last}; {}", self.summary()))?;
        let known = self.revision(key).unwrap_or_default();
        expect(revision > known, || format!("expected a change of key {key:?} after {known}; {}", self.summary()))?;
        self.last_change = revision;
        Ok(())
    }

    /// Returns the number of complete lists and the latest items, for messages.
    fn summary(&self) -> String {
        let latest: Vec<&str> = self.latest.iter().map(String::as_str).collect();
        let latest = if latest.is_empty() { "nothing".to_owned() } else { latest.join(", ") };
        format!("(seen: {} complete lists; at last {latest})", self.lists)
    }
}

/// Returns a text about an item of a watch for messages, without the value of an entry.
fn item_text(item: &WatchItem) -> String {
    match item {
        Ok(BucketEvent::Put(BucketEntry { key, value, revision, .. })) => {
            format!("Put {key:?} at {revision} with {} bytes", value.len())
        }
        Ok(BucketEvent::Removed { key, revision }) => format!("Removed {key:?} at {revision}"),
        Ok(event) => format!("{event:?}"),
        Err(error) => format!("the error \"{error}\""),
    }
}

/// Returns the keys and revisions of entries for messages.
pub(super) fn keys(entries: &[BucketEntry]) -> String {
    let shown: Vec<String> =
        entries.iter().take(SHOWN).map(|entry| format!("{}@{}", entry.key, entry.revision)).collect();
    let others = if entries.len() > SHOWN { ", …" } else { "" };
    format!("{} entries [{}{others}]", entries.len(), shown.join(", "))
}
