//! Watches of a bucket in memory with planted mistakes.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
};

use futures::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};
use opgen::bucket::{Bucket as _, BucketEntry, BucketError, BucketEvent};

use crate::{flawed_bucket::FlawedBucket, mistake::Mistake, notes::SharedNotes};

type WatchItem = Result<BucketEvent, BucketError>;

/// A watch with a mistake.
struct FlawedWatch {
    mistake: Mistake,
    memory: BoxStream<'static, WatchItem>,
    client: u64,
    /// The life of the client.
    life: Weak<()>,
    notes: SharedNotes,
    /// The items to deliver before those of the bucket.
    queue: VecDeque<WatchItem>,
    /// Whether an item was waited for.
    has_waited: bool,
    is_read: bool,
    is_ended: bool,
    /// The numbers of disturbances when the watch was made.
    interruptions: usize,
    restarts: usize,
    dropped_watches: usize,
    /// The number of watches that were made before.
    number: usize,
    errors: usize,
    lists: usize,
    is_in_list: bool,
    listed: Vec<BucketEntry>,
    known: BTreeMap<String, BucketEntry>,
    removed: BTreeSet<String>,
    changes: usize,
    last: u64,
    /// Up to which revision changes are lost.
    lost_until: u64,
    held: Option<BucketEvent>,
}

/// Returns a watch of a bucket.
pub(crate) fn watch(bucket: &FlawedBucket) -> BoxStream<'static, WatchItem> {
    if bucket.mistake == Mistake::ListIsEndless {
        return stream::repeat(Ok(BucketEvent::ListStarted)).boxed();
    }
    let mut notes = bucket.notes.lock();
    notes.unread_watches += 1;
    notes.watches += 1;
    let watch = FlawedWatch {
        mistake: bucket.mistake,
        memory: bucket.memory.watch(),
        client: bucket.client,
        life: Arc::downgrade(&bucket.life),
        notes: bucket.notes.clone(),
        queue: VecDeque::new(),
        has_waited: false,
        is_read: false,
        is_ended: false,
        interruptions: notes.interruptions,
        restarts: notes.restarts,
        dropped_watches: notes.dropped_watches,
        number: notes.watches - 1,
        errors: 0,
        lists: 0,
        is_in_list: false,
        listed: Vec::new(),
        known: BTreeMap::new(),
        removed: BTreeSet::new(),
        changes: 0,
        last: 0,
        lost_until: 0,
        held: None,
    };
    drop(notes);
    watch.boxed()
}

impl Stream for FlawedWatch {
    type Item = WatchItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<WatchItem>> {
        let this = &mut *self;
        if !this.is_read {
            this.is_read = true;
            this.notes.lock().unread_watches -= 1;
        }
        loop {
            if let Some(item) = this.queue.pop_front() {
                return Poll::Ready(Some(item));
            }
            if this.is_ended {
                return Poll::Ready(None);
            }
            let Poll::Ready(item) = this.memory.poll_next_unpin(cx) else {
                this.has_waited = true;
                return Poll::Pending;
            };
            let is_lost = this.has_waited && this.mistake == Mistake::DroppedWaitLosesEvent;
            this.has_waited = false;
            if let Some(item) = item
                && !is_lost
            {
                this.add(item);
            }
        }
    }
}

impl Drop for FlawedWatch {
    fn drop(&mut self) {
        let mut notes = self.notes.lock();
        notes.dropped_watches += 1;
        if !self.is_read {
            notes.unread_watches -= 1;
        }
    }
}

impl FlawedWatch {
    /// Adds an item of the bucket to the queue, as the mistake has it.
    fn add(&mut self, item: WatchItem) {
        if self.is_stopped() {
            return;
        }
        match item {
            Err(error) => self.add_error(error),
            Ok(BucketEvent::ListStarted) => {
                self.is_in_list = true;
                self.listed.clear();
                if self.mistake != Mistake::NoListStarted && !self.skips_list() {
                    self.queue.push_back(Ok(BucketEvent::ListStarted));
                }
            }
            Ok(BucketEvent::ListEnded) => self.end_list(),
            Ok(BucketEvent::Put(entry)) if self.is_in_list => self.listed.push(entry),
            Ok(change) => self.add_change(change),
        }
    }

    fn is_stopped(&self) -> bool {
        let notes = self.notes.lock();
        match self.mistake {
            Mistake::StopsWithClient => self.life.strong_count() == 0,
            Mistake::DroppedWatchStopsOthers => notes.dropped_watches > self.dropped_watches,
            Mistake::StopsAtRestart => notes.restarts > self.restarts,
            Mistake::StopsIfInterruptedInList => self.lists == 0 && notes.interruptions > self.interruptions,
            Mistake::SecondWatchStops => self.number > 0 && self.lists > 0,
            _ => false,
        }
    }

    fn skips_list(&self) -> bool {
        self.mistake == Mistake::SkipsListAfterInterruption && self.lists > 0
    }

    fn add_error(&mut self, error: BucketError) {
        self.errors += 1;
        self.queue.push_back(Err(error));
        self.is_ended = match self.mistake {
            Mistake::EndsAtInterruption => true,
            Mistake::EndsAfterThreeInterruptions => self.errors >= 3,
            _ => false,
        };
    }

    /// Delivers the entries of a list, and its end.
    fn end_list(&mut self) {
        self.is_in_list = false;
        let listed = std::mem::take(&mut self.listed);
        let skips_list = self.skips_list();
        self.lists += 1;
        if skips_list {
            return;
        }
        let (entries, late) = self.flawed_list(listed.clone());
        let is_end_lost = self.mistake == Mistake::NoListEndedIfEmpty && entries.is_empty();
        self.queue.extend(entries.into_iter().map(|entry| Ok(BucketEvent::Put(entry))));
        if !is_end_lost {
            self.queue.push_back(Ok(BucketEvent::ListEnded));
        }
        self.queue.extend(late.into_iter().map(Ok));
        self.known.extend(listed.into_iter().map(|entry| (entry.key.clone(), entry)));
    }

    /// Returns the entries of a list as the mistake has them, and the events after its end.
    fn flawed_list(&mut self, mut entries: Vec<BucketEntry>) -> (Vec<BucketEntry>, Vec<BucketEvent>) {
        let notes = self.notes.lock();
        let mut late = Vec::new();
        match self.mistake {
            Mistake::WatchListsTwice => entries = entries.iter().chain(&entries).cloned().collect(),
            Mistake::WatchListsFirstValues => {
                let first = |entry: &BucketEntry| notes.history.iter().find(|first| first.key == entry.key).cloned();
                entries = entries.iter().filter_map(first).collect();
            }
            Mistake::WatchListsRemovedKeys => {
                entries
                    .extend(notes.removals.iter().map(|(key, revision)| BucketEntry::new(key.as_str(), "", *revision)));
            }
            Mistake::WatchListsLastWriteLate => {
                let last = entries.iter().map(|entry| entry.revision).max();
                let (last, others) = entries.into_iter().partition::<Vec<_>, _>(|entry| Some(entry.revision) == last);
                late.extend(last.into_iter().map(BucketEvent::Put));
                entries = others;
            }
            Mistake::WatchListsThousand => entries.truncate(1000),
            Mistake::WatchRevisionOffByOne => entries.iter_mut().for_each(|entry| entry.revision += 1),
            Mistake::InventsRemoval => late.push(BucketEvent::Removed { key: "none".to_owned(), revision: 1 }),
            Mistake::KeepsEntriesOfOldList => {
                let known = self.known.values().filter(|known| entries.iter().all(|entry| entry.key != known.key));
                let known: Vec<BucketEntry> = known.cloned().collect();
                entries.extend(known);
            }
            Mistake::RelistsOldEntries => {
                let old = |entry: BucketEntry| self.known.get(&entry.key).cloned().unwrap_or(entry);
                entries = entries.into_iter().map(old).collect();
            }
            _ => {}
        }
        // The changes since the list was read.
        self.lost_until = notes.last;
        (entries, late)
    }

    fn add_change(&mut self, mut change: BucketEvent) {
        let revision = match &mut change {
            BucketEvent::Put(entry) => {
                entry.revision += u64::from(self.mistake == Mistake::WatchRevisionOffByOne);
                entry.revision
            }
            BucketEvent::Removed { revision, .. } => *revision,
            _ => 0,
        };
        self.changes += 1;
        let is_hidden = self.hides(&change, revision);
        self.last = revision;
        if let BucketEvent::Removed { key, .. } = &change {
            self.removed.insert(key.clone());
        }
        if is_hidden {
            return;
        }
        if self.mistake != Mistake::SwapsChanges {
            self.queue.push_back(Ok(change));
        } else if let Some(held) = self.held.take() {
            self.queue.extend([Ok(change), Ok(held)]);
        } else {
            self.held = Some(change);
        }
    }

    /// Returns whether a change is lost.
    fn hides(&self, change: &BucketEvent, revision: u64) -> bool {
        let notes = self.notes.lock();
        let is_own = notes.writers.get(&revision) == Some(&self.client);
        let is_foreign = notes.foreign.contains(&revision);
        let is_removal = matches!(change, BucketEvent::Removed { .. });
        match self.mistake {
            Mistake::HidesWritesOfOthers => !is_own,
            Mistake::HidesOwnWrites => is_own,
            Mistake::HidesRemovals => is_removal,
            Mistake::HidesForeignRemovals => is_removal && is_foreign,
            Mistake::HidesForeignWrites => !is_removal && is_foreign,
            Mistake::HidesRecreations => {
                matches!(change, BucketEvent::Put(entry) if self.removed.contains(&entry.key))
            }
            Mistake::LosesChangesAfterMany => revision > self.last + 50,
            Mistake::LosesChangesDuringList => revision <= self.lost_until,
            Mistake::LosesRemovalsDuringList => is_removal && revision <= self.lost_until,
            Mistake::DeliversEachThirdChange => !self.changes.is_multiple_of(3),
            _ => false,
        }
    }
}
