//! A DNS service in the process, which counts its calls, fails and lags as a test sets it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use opgen::{
    external::{ExternalKey, Observed, UpdateOutcome},
    prelude::*,
};
use serde::Serialize;
use tokio::time::Instant;

use crate::operator::gate::Gate;

/// The wanted and the observed state of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Entry {
    pub(super) text: String,
}

/// An entry in the service.
#[derive(Debug)]
struct StoredEntry {
    token: String,
    entry: Entry,
    /// No read shows it earlier.
    visible_at: Instant,
    /// It is deleted at this time.
    gone_at: Option<Instant>,
}

/// Whether a call fails before or after it has done its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    After,
}

#[derive(Debug, Default)]
struct Contents {
    entries: BTreeMap<String, StoredEntry>,
    created: usize,
    calls: Vec<&'static str>,
    lag: Duration,
    deletion_time: Duration,
    failure: Option<(&'static str, Moment)>,
}

impl Contents {
    /// Returns whether this call fails at this moment. It fails once.
    fn fails(&mut self, call: &'static str, moment: Moment) -> bool {
        let fails = self.failure == Some((call, moment));
        if fails {
            self.failure = None;
        }
        fails
    }

    fn find(&self, key: ExternalKey<'_>) -> Option<Observed<Entry>> {
        let now = Instant::now();
        for (id, stored) in &self.entries {
            let is_wanted = match key.id() {
                Some(wanted) => wanted == id,
                None => stored.token == key.token(),
            };
            if is_wanted && stored.visible_at <= now {
                return Some(Observed::new(id.clone(), stored.entry.clone()));
            }
        }
        None
    }
}

/// The service, as one process of the operator reaches it.
#[derive(Clone, Debug, Default)]
pub(super) struct Service {
    contents: Arc<Mutex<Contents>>,
    gate: Arc<Gate>,
}

impl Service {
    /// Returns the same service behind a gate.
    pub(super) fn behind(&self, gate: &Arc<Gate>) -> Self {
        Self { contents: self.contents.clone(), gate: gate.clone() }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call. The gate may stop it before and after its work.
    async fn call<R: Send>(&self, name: &'static str, work: impl FnOnce(&mut Contents) -> R + Send) -> Result<R> {
        self.gate.pass().await;
        let answer = {
            let mut contents = self.contents();
            let now = Instant::now();
            contents.entries.retain(|_, stored| stored.gone_at.is_none_or(|gone| now < gone));
            contents.calls.push(name);
            match contents.fails(name, Moment::Before) {
                true => None,
                false => Some(work(&mut contents)).filter(|_| !contents.fails(name, Moment::After)),
            }
        };
        self.gate.pass().await;
        answer.ok_or_else(|| std::io::Error::other("the service failed").into())
    }

    pub(super) async fn observe(&self, key: ExternalKey<'_>) -> Result<Option<Observed<Entry>>> {
        let name = if key.id().is_some() { "observe by id" } else { "observe by token" };
        self.call(name, |contents| contents.find(key)).await
    }

    /// Creates an entry, whether there is one with the token or not.
    pub(super) async fn create(&self, entry: &Entry, token: &str) -> Result<String> {
        self.call("create", |contents| {
            contents.created += 1;
            let (id, visible_at) = (format!("entry-{}", contents.created), Instant::now() + contents.lag);
            let stored = StoredEntry { token: token.to_owned(), entry: entry.clone(), visible_at, gone_at: None };
            contents.entries.insert(id.clone(), stored);
            id
        })
        .await
    }

    /// Changes an entry; one whose text ends with `/new` has to be created.
    pub(super) async fn update(&self, id: &str, entry: &Entry) -> Result<UpdateOutcome> {
        let outcome = self.call("update", |contents| match contents.entries.get_mut(id) {
            Some(_) if entry.text.ends_with("/new") => Ok(UpdateOutcome::Replace),
            Some(stored) => {
                stored.entry = entry.clone();
                Ok(UpdateOutcome::Updated)
            }
            None => Err(std::io::Error::other("no such entry")),
        });
        Ok(outcome.await??)
    }

    pub(super) async fn delete(&self, id: &str) -> Result<()> {
        self.call("delete", |contents| {
            let gone = Instant::now() + contents.deletion_time;
            if let Some(stored) = contents.entries.get_mut(id) {
                stored.gone_at.get_or_insert(gone);
            }
            let now = Instant::now();
            contents.entries.retain(|_, stored| stored.gone_at.is_none_or(|gone| now < gone));
        })
        .await
    }

    /// Returns the texts of all entries, by their ids.
    pub(super) fn entries(&self) -> BTreeMap<String, String> {
        let contents = self.contents();
        contents.entries.iter().map(|(id, stored)| (id.clone(), stored.entry.text.clone())).collect()
    }

    /// Returns the text of the only entry.
    pub(super) fn only_text(&self) -> Result<String, String> {
        let entries = self.entries();
        match entries.values().collect::<Vec<_>>()[..] {
            [text] => Ok(text.clone()),
            _ => Err(format!("{entries:?}")),
        }
    }

    /// Returns the calls since the last call of this function.
    pub(super) fn take_calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.contents().calls)
    }

    /// Makes the next call with this name fail.
    pub(super) fn fail(&self, call: &'static str, moment: Moment) {
        self.contents().failure = Some((call, moment));
    }

    /// Makes new entries visible only after a time.
    pub(super) fn set_lag(&self, lag: Duration) {
        self.contents().lag = lag;
    }

    /// Makes deletions take a time.
    pub(super) fn set_deletion_time(&self, time: Duration) {
        self.contents().deletion_time = time;
    }

    /// Adds or changes an entry, as another client of the service.
    pub(super) fn put(&self, id: &str, text: &str) {
        let (entry, visible_at) = (Entry { text: text.to_owned() }, Instant::now());
        let mut contents = self.contents();
        match contents.entries.get_mut(id) {
            Some(stored) => stored.entry = entry,
            None => {
                let stored = StoredEntry { token: String::new(), entry, visible_at, gone_at: None };
                contents.entries.insert(id.to_owned(), stored);
            }
        }
    }

    /// Removes all entries, as another client of the service.
    pub(super) fn clear(&self) {
        self.contents().entries.clear();
    }
}
