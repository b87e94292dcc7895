//! What webhooks have converted: what is written and shown right away asks for it without waiting.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use tokio::sync::{Notify, futures::Notified};

use crate::store::Stored;

/// How many objects are remembered before all are forgotten.
const MOST: usize = 4096;

/// An object in another version, or why it can't be had.
pub(crate) type Outcome = Result<Value, String>;

/// Objects in the version of a kind, by their key and the version of the store in which they were written.
#[derive(Debug, Default)]
pub(crate) struct Converted {
    held: Mutex<BTreeMap<(String, u64), Outcome>>,
    news: Notify,
}

impl Converted {
    /// The object as it was converted before.
    pub(crate) fn get(&self, stored: &Stored) -> Option<Outcome> {
        self.held().get(&(stored.key(), stored.version)).cloned()
    }

    pub(super) fn has(&self, stored: &Stored) -> bool {
        self.held().contains_key(&(stored.key(), stored.version))
    }

    /// Remembers all of them, at least until the next time.
    pub(super) fn put<'a>(&self, converted: impl Iterator<Item = (&'a Stored, Outcome)>) {
        let mut held = self.held();
        if held.len() > MOST {
            held.clear();
        }
        held.extend(converted.map(|(stored, object)| ((stored.key(), stored.version), object)));
        drop(held);
        self.news.notify_waiters();
    }

    /// Ends when something was converted after this was called.
    pub(crate) fn news(&self) -> Notified<'_> {
        self.news.notified()
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<(String, u64), Outcome>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
