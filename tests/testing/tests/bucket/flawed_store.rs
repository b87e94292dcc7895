//! `FlawedSubject`: makes buckets with a planted mistake.

use std::sync::Arc;

use futures::{FutureExt as _, future::BoxFuture};
use opgen::bucket::{Bucket, BucketEntry, MemoryBucket};
use opgen_testing::bucket::{BucketDisturbance, BucketSubject, SubjectBucket};

use crate::{
    flawed_bucket::FlawedBucket,
    mistake::Mistake,
    notes::SharedNotes,
    subject::{self, LIMIT},
};

/// Makes buckets with a mistake.
pub(crate) struct FlawedSubject {
    mistake: Mistake,
    /// The bucket of all stores, if they share one.
    shared: MemoryBucket,
}

struct FlawedStore {
    mistake: Mistake,
    memory: MemoryBucket,
    notes: SharedNotes,
}

impl FlawedSubject {
    pub(crate) fn new(mistake: Mistake) -> Self {
        Self { mistake, shared: MemoryBucket::with_limit("test", LIMIT) }
    }
}

impl BucketSubject for FlawedSubject {
    fn create(&self) -> BoxFuture<'_, Result<Arc<dyn SubjectBucket>, String>> {
        let memory = match self.mistake {
            Mistake::SharesEntries => self.shared.clone(),
            _ => MemoryBucket::with_limit("test", LIMIT),
        };
        let store = FlawedStore { mistake: self.mistake, memory, notes: SharedNotes::default() };
        async move { Ok(Arc::new(store) as Arc<dyn SubjectBucket>) }.boxed()
    }
}

impl FlawedStore {
    async fn entries(&self) -> Vec<BucketEntry> {
        self.memory.list().await.unwrap_or_default().into_iter().collect()
    }

    async fn disturb(&self, disturbance: BucketDisturbance) -> bool {
        let before = self.entries().await;
        let of_key = |key: &String| before.iter().find(|entry| entry.key == *key).cloned();
        let is_done = subject::disturb(&self.memory, &disturbance);
        let after = self.entries().await;
        let mut notes = self.notes.lock();
        match &disturbance {
            BucketDisturbance::Delete { key, .. } => {
                notes.last += 1;
                let last = notes.last;
                notes.foreign.insert(last);
                notes.deleted.extend(of_key(key).map(|entry| (key.clone(), entry)));
            }
            BucketDisturbance::Purge { key, .. } => {
                notes.last += 1;
                let last = notes.last;
                notes.foreign.insert(last);
                notes.purged.extend(of_key(key).map(|entry| (key.clone(), entry)));
            }
            BucketDisturbance::Put { key, .. } => {
                let written = after.iter().find(|entry| entry.key == *key);
                notes.last = written.map_or(notes.last, |entry| entry.revision);
                notes.foreign.extend(written.map(|entry| entry.revision));
            }
            BucketDisturbance::Interrupt => notes.interruptions += 1,
            BucketDisturbance::DropTombstones => notes.forgets += 1,
            BucketDisturbance::Restart => {
                notes.restarts += 1;
                if self.mistake == Mistake::LosesEntriesAtRestart {
                    for entry in &before {
                        self.memory.purge_raw(&entry.key);
                    }
                }
                return true;
            }
            _ => {}
        }
        is_done
    }
}

impl SubjectBucket for FlawedStore {
    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Bucket>, String>> {
        let mut notes = self.notes.lock();
        let client = notes.clients;
        notes.clients += 1;
        let bucket = FlawedBucket::new(self.mistake, self.memory.clone(), client, self.notes.clone());
        async move { Ok(Arc::new(bucket) as Arc<dyn Bucket>) }.boxed()
    }

    fn disturb(&self, disturbance: BucketDisturbance) -> BoxFuture<'_, Result<bool, String>> {
        async move { Ok(self.disturb(disturbance).await) }.boxed()
    }

    fn value_limit(&self) -> Option<usize> {
        Some(if self.mistake == Mistake::AnnouncesSmallLimit { LIMIT / 2 } else { LIMIT })
    }
}
