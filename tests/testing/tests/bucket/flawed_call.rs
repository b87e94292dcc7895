//! The calls of a bucket in memory with planted mistakes.

use futures::future::pending;
use opgen::bucket::{Bucket as _, BucketEntry, BucketError, EntryList, Expected};
use tokio::task::yield_now;

use crate::{flawed_bucket::FlawedBucket, mistake::Mistake, notes::Notes};

/// A revision that no entry has.
const NONE: Expected = Expected::Revision(u64::MAX);

/// How often a call lets other threads run before it goes on without another call in between.
const TURNS: usize = 1000;

/// Blocks the thread of the caller.
fn block_for_ever() {
    loop {
        std::thread::park();
    }
}

impl FlawedBucket {
    /// Does what a call does before its work.
    async fn begin(&self) {
        let is_stuck = {
            let notes = self.notes.lock();
            notes.is_locked
                || (self.mistake == Mistake::UnreadWatchBlocksWrites && notes.unread_watches > 0 && notes.last > 100)
        };
        if is_stuck {
            pending::<()>().await;
        }
    }

    /// Waits between the check and the write of a key until another call has changed the entry, or waits here after its check as well.
    async fn await_another_call(&self, key: &str) {
        let number = {
            let mut notes = self.notes.lock();
            notes.waiting_calls += 1;
            notes.waiting_calls
        };
        let before = self.current(key).await;
        for _ in 0..TURNS {
            let is_joined = self.notes.lock().waiting_calls > number;
            if is_joined || self.current(key).await != before {
                return;
            }
            std::thread::yield_now();
            yield_now().await;
        }
    }

    /// Returns the key under which the store keeps a key.
    fn stored(&self, key: &str) -> String {
        match self.mistake {
            Mistake::LowercasesKeys => key.to_lowercase(),
            Mistake::SlashIsDot => key.replace('/', "."),
            _ => key.to_owned(),
        }
    }

    /// Refuses a valid key.
    fn refuse(&self, key: &str) -> Result<(), BucketError> {
        let is_refused = match self.mistake {
            Mistake::RefusesSlash => key.contains('/'),
            Mistake::RefusesLongKeys => key.len() > 255,
            Mistake::RefusesUnderscore => key.starts_with('_'),
            _ => false,
        };
        if is_refused { Err(BucketError::invalid_key(key)) } else { Ok(()) }
    }

    /// Returns whether an invalid key is accepted.
    fn accepts(&self, key: &str) -> bool {
        let has_dots = key.split('.').any(str::is_empty);
        match self.mistake {
            Mistake::AcceptsEmptyKey => key.is_empty(),
            Mistake::AcceptsDots => has_dots,
            Mistake::AcceptsAnyCharacter => !key.is_empty() && !has_dots && key.len() < 100,
            Mistake::AcceptsLongKeys => key.len() > 1024,
            _ => false,
        }
    }

    async fn current(&self, key: &str) -> Option<BucketEntry> {
        self.memory.get(key).await.ok().flatten()
    }

    async fn all(&self) -> Vec<BucketEntry> {
        self.memory.list().await.unwrap_or_default().into_iter().collect()
    }

    pub(crate) async fn read(&self, key: &str) -> Result<Option<BucketEntry>, BucketError> {
        self.begin().await;
        self.refuse(key)?;
        let key = &self.stored(key);
        match self.mistake {
            Mistake::GetNeverEnds => pending::<()>().await,
            Mistake::GetBlocksThread => block_for_ever(),
            Mistake::DroppedGetKeepsLock => {
                self.notes.lock().is_locked = true;
                yield_now().await;
                self.notes.lock().is_locked = false;
            }
            _ => {}
        }
        let found = self.memory.get(key).await;
        let all = if self.mistake == Mistake::KeyIsPrefix { self.all().await } else { Vec::new() };
        let mut notes = self.notes.lock();
        notes.reads += 1;
        let entry = found.map_err(|error| self.error(error, &[]))?;
        self.is_available(&notes)?;
        Ok(match (self.mistake, entry) {
            (Mistake::KeyIsPrefix, None) => all.into_iter().find(|entry| entry.key.starts_with(key.as_str())),
            (Mistake::ReturnsEmptyForNone, None) => Some(BucketEntry::new(key.as_str(), "", 1)),
            (Mistake::ShowsDeletedEntries, None) => notes.lost(key).cloned(),
            (Mistake::GetReturnsLastRevision, Some(mut entry)) => {
                entry.revision = notes.last;
                Some(entry)
            }
            (Mistake::GoesBack, Some(entry)) if notes.reads.is_multiple_of(3) => {
                let before = notes.history.iter().rev().filter(|before| before.key == *key).nth(1);
                Some(before.cloned().unwrap_or(entry))
            }
            (Mistake::CachesGets, entry) => {
                notes.cached_gets.entry((self.client, key.clone())).or_insert(entry).clone()
            }
            (_, entry) => entry,
        })
    }

    pub(crate) async fn read_all(&self) -> Result<EntryList, BucketError> {
        self.begin().await;
        let mut entries = self.all().await;
        let mut notes = self.notes.lock();
        notes.reads += 1;
        self.is_available(&notes)?;
        match self.mistake {
            Mistake::CachesLists => entries = notes.cached_lists.entry(self.client).or_insert(entries).clone(),
            Mistake::ListsPlaceholder if entries.is_empty() => entries.push(BucketEntry::new("_bucket", "", 1)),
            Mistake::ListsLowerCaseKeys => entries.iter_mut().for_each(|entry| entry.key.make_ascii_lowercase()),
            // An entry replaces those before it with the same key.
            Mistake::ListsFirstValues => entries.extend(notes.history.iter().rev().cloned()),
            Mistake::ListsRemovedKeys => entries
                .extend(notes.removals.iter().map(|(key, revision)| BucketEntry::new(key.as_str(), "", *revision))),
            Mistake::ListsThousand => entries.truncate(1000),
            Mistake::SkipsEntrySometimes if notes.reads.is_multiple_of(3) => drop(entries.pop()),
            Mistake::ListRevisionOffByOne => entries.iter_mut().for_each(|entry| entry.revision += 1),
            _ => {}
        }
        Ok(entries.into_iter().collect())
    }

    fn is_available(&self, notes: &Notes) -> Result<(), BucketError> {
        if self.mistake == Mistake::UnavailableAfterInterruption && notes.interruptions > 0 {
            return Err(BucketError::unavailable("test", "the connection is closed"));
        }
        Ok(())
    }

    /// Returns the value that the store keeps.
    async fn stored_value(&self, key: &str, mut value: Vec<u8>) -> Vec<u8> {
        match self.mistake {
            Mistake::LossyText => String::from_utf8_lossy(&value).into_owned().into_bytes(),
            Mistake::TrimsText => value.trim_ascii().to_vec(),
            Mistake::CutsLargeValues => {
                value.truncate(64 * 1024);
                value
            }
            Mistake::KeepsOldEnd => {
                let old = self.current(key).await.map(|entry| entry.value).unwrap_or_default();
                value.extend(old.into_iter().skip(value.len()));
                value
            }
            _ => value,
        }
    }

    /// Returns the condition that is checked in place of another one.
    async fn condition(&self, key: &str, expected: Expected) -> Expected {
        use Mistake as M;
        let current = self.current(key).await.map(|entry| entry.revision);
        let all = match self.mistake {
            M::AcceptsRevisionOfAnyKey | M::HoldsTenKeys => self.all().await,
            _ => Vec::new(),
        };
        let is_of_any = |revision: u64| all.iter().any(|entry| entry.revision == revision);
        let notes = self.notes.lock();
        let is_removed = notes.removals.contains_key(key);
        match (self.mistake, expected, current) {
            (M::RefusesCreation, Expected::Absent, _) => NONE,
            (M::RefusesReplacement, Expected::Revision(_), _) => NONE,
            (M::AbsentOverwrites, Expected::Absent, Some(current)) => Expected::Revision(current),
            (M::AbsentConflictsAfterRemoval, Expected::Absent, None) if is_removed => NONE,
            (M::AbsentConflictsAfterDeletion, Expected::Absent, None) if notes.deleted.contains_key(key) => NONE,
            (M::AbsentConflictsAfterPurge, Expected::Absent, None) if notes.purged.contains_key(key) => NONE,
            (M::AbsentConflictsAfterForgotten, Expected::Absent, None) if is_removed && notes.forgets > 0 => NONE,
            (M::HoldsTenKeys, Expected::Absent, None) if all.len() >= 10 => NONE,
            (M::IgnoresRevision, Expected::Revision(_), Some(current)) => Expected::Revision(current),
            (M::AcceptsLaterRevision, Expected::Revision(later), Some(current)) if later > current => {
                Expected::Revision(current)
            }
            (M::AcceptsRevisionOfAnyKey, Expected::Revision(any), Some(current)) if is_of_any(any) => {
                Expected::Revision(current)
            }
            (M::ZeroMeansAbsent, Expected::Revision(0), None) => Expected::Absent,
            (M::AcceptsRevisionOfRemoval, Expected::Revision(removal), None)
                if notes.removals.get(key) == Some(&removal) =>
            {
                Expected::Absent
            }
            (M::AcceptsRevisionOfDeletedEntry, Expected::Revision(revision), None)
                if notes.lost(key).is_some_and(|entry| entry.revision == revision) =>
            {
                Expected::Absent
            }
            (M::AcceptsRevisionBeforeForeignWrite, Expected::Revision(_), Some(current))
                if notes.foreign.contains(&current) =>
            {
                Expected::Revision(current)
            }
            (M::ConditionOfWholeBucket, Expected::Revision(revision), _) if revision != notes.last => NONE,
            _ => expected,
        }
    }

    pub(crate) async fn write(&self, key: &str, value: Vec<u8>, expected: Expected) -> Result<u64, BucketError> {
        self.begin().await;
        self.refuse(key)?;
        assert!(self.mistake != Mistake::PutPanics, "a planted mistake");
        if self.accepts(key) {
            return Ok(self.memory.put_raw(key, value));
        }
        let key = &self.stored(key);
        let value = self.stored_value(key, value).await;
        let condition = self.condition(key, expected).await;
        let before = self.current(key).await;
        let is_met = match condition {
            Expected::Absent => before.is_none(),
            Expected::Revision(revision) => before.as_ref().is_some_and(|entry| entry.revision == revision),
            _ => false,
        };
        match (self.mistake, before) {
            (Mistake::SkipsEqualValues, Some(before)) if is_met && before.value == value => return Ok(before.revision),
            (Mistake::ReadsThenWrites, _) if is_met => {
                self.await_another_call(key).await;
                return Ok(self.memory.put_raw(key, value));
            }
            (Mistake::WritesInSteps, _) if is_met => {
                self.memory.put_raw(key, value.get(..value.len() / 2).unwrap_or_default());
                yield_now().await;
                return Ok(self.memory.put_raw(key, value));
            }
            _ => {}
        }
        let written = self.memory.put(key, value.clone(), condition).await;
        if written.is_ok() && self.mistake == Mistake::EmptyValueRemoves && value.is_empty() {
            self.memory.delete_raw(key);
        }
        let revision = written.map_err(|error| self.error(error, &value))?;
        self.note(revision);
        self.notes.lock().history.push(BucketEntry::new(key.as_str(), value, revision));
        Ok(self.returned(revision))
    }

    pub(crate) async fn erase(&self, key: &str, revision: u64) -> Result<u64, BucketError> {
        self.begin().await;
        self.refuse(key)?;
        let key = &self.stored(key);
        let current = self.current(key).await.map(|entry| entry.revision);
        let is_met = current == Some(revision);
        let removals = self.notes.lock().removal_count;
        match (self.mistake, current) {
            (Mistake::RemoveHasNoEffect, Some(_)) if is_met => return Ok(revision + 1),
            (Mistake::RemoveIgnoresRevision, Some(_)) => return Ok(self.memory.delete_raw(key)),
            (Mistake::RemovesTenTimesOnly, _) if removals >= 10 => {
                return Err(BucketError::conflict(key.as_str()));
            }
            (Mistake::RemovesKeysWithPrefix, Some(_)) if is_met => {
                for other in self.all().await.iter().filter(|other| other.key.starts_with(key.as_str())) {
                    self.memory.delete_raw(&other.key);
                }
                return Ok(self.memory.delete_raw(key));
            }
            (Mistake::ReadsThenRemoves, Some(_)) if is_met => {
                self.await_another_call(key).await;
                return Ok(self.memory.delete_raw(key));
            }
            (Mistake::RemovesInSteps, Some(_)) if is_met => {
                self.memory.put_raw(key, "");
                yield_now().await;
                return Ok(self.memory.delete_raw(key));
            }
            (Mistake::RemovesUnwrittenWithZero, None) if revision == 0 => return Ok(self.memory.delete_raw(key)),
            _ => {}
        }
        let (removal, lost) = {
            let notes = self.notes.lock();
            (notes.removals.get(key).copied(), notes.lost(key).map(|entry| entry.revision))
        };
        match (self.mistake, removal) {
            (Mistake::RemovesTwice, Some(removal)) if current.is_none() => return Ok(removal),
            (Mistake::RemovesDeletedEntries, _) if current.is_none() && lost == Some(revision) => {
                return Ok(revision + 1);
            }
            _ => {}
        }
        let removal = self.memory.remove(key, revision).await.map_err(|error| self.error(error, &[]))?;
        self.note(removal);
        let mut notes = self.notes.lock();
        notes.removal_count += 1;
        notes.removals.insert(key.clone(), removal);
        Ok(if self.mistake == Mistake::RemovalReturnsEntryRevision { revision } else { removal })
    }

    /// Notes a write of this client.
    fn note(&self, revision: u64) {
        let mut notes = self.notes.lock();
        notes.last = notes.last.max(revision);
        notes.writers.insert(revision, self.client);
        let client = self.client;
        notes.cached_lists.remove(&client);
        notes.cached_gets.retain(|(of, _), _| *of != client);
    }

    /// Returns the revision that `put` returns.
    fn returned(&self, revision: u64) -> u64 {
        let notes = self.notes.lock();
        match self.mistake {
            Mistake::StartsAtZero => revision - 1,
            Mistake::HalvesRevisions => (revision / 2).max(1),
            Mistake::RevisionsPerClient => revision.saturating_sub(self.client),
            Mistake::PutReturnsNextRevision => revision + 1,
            Mistake::RevisionsInPairs => revision & !1,
            Mistake::ForgetsRevisions if notes.forgets > 0 => 1,
            Mistake::RevisionsRestart if notes.restarts > 0 => 1,
            _ => revision,
        }
    }

    /// Returns the error that a call returns.
    fn error(&self, error: BucketError, value: &[u8]) -> BucketError {
        match (self.mistake, &error) {
            (Mistake::ConflictIsWritten, BucketError::Conflict { .. }) => {
                self.memory.put_raw("_conflict", "");
            }
            (Mistake::WritesBeforeKeyCheck, BucketError::InvalidKey { .. }) => {
                self.memory.put_raw("a.b", "other");
            }
            (Mistake::ConflictWithoutKey, BucketError::Conflict { .. }) => return BucketError::conflict(""),
            (Mistake::InvalidKeyWithoutKey, BucketError::InvalidKey { .. }) => return BucketError::invalid_key(""),
            (Mistake::ErrorOfTwoLines, _) => return BucketError::unavailable("test", "a\nb"),
            (Mistake::ErrorHasValue, _) => {
                return BucketError::unavailable("test", String::from_utf8_lossy(value).into_owned());
            }
            _ => {}
        }
        error
    }
}
