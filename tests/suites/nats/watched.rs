//! Follows a watch, and keeps the entries that its events show.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::StreamExt as _;
use opgen::bucket::{Bucket, BucketError, BucketEvent};
use opgen_tests::wait;
use tokio::task::AbortHandle;

use crate::case::answered;

/// The entries of a bucket: values by keys.
pub(crate) type Entries = BTreeMap<String, Vec<u8>>;

/// A watch that is followed in the background, until this is dropped.
pub(crate) struct Watched {
    state: Arc<Mutex<WatchState>>,
    task: AbortHandle,
}

#[derive(Default)]
struct WatchState {
    entries: Entries,
    /// The keys of a list that is not complete.
    listed: Option<BTreeSet<String>>,
    lists: usize,
    errors: Vec<BucketError>,
    /// The events that came in a wrong order.
    violations: Vec<String>,
}

impl Watched {
    pub(crate) fn follow(bucket: &dyn Bucket) -> Self {
        let state = Arc::new(Mutex::new(WatchState::default()));
        let (mut events, followed) = (bucket.watch(), Arc::clone(&state));
        let task = tokio::spawn(async move {
            while let Some(event) = events.next().await {
                followed.lock().unwrap_or_else(PoisonError::into_inner).handle(event);
            }
            let violation = "the watch ended".to_owned();
            followed.lock().unwrap_or_else(PoisonError::into_inner).violations.push(violation);
        });
        Self { state, task: task.abort_handle() }
    }

    /// Reads the state, after a check that the events came in the right order.
    fn read<T>(&self, read: impl FnOnce(&WatchState) -> T) -> T {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(state.violations.is_empty(), "{:#?}", state.violations);
        read(&state)
    }

    pub(crate) fn entries(&self) -> Entries {
        self.read(|state| state.entries.clone())
    }

    /// Returns how many lists are complete.
    pub(crate) fn lists(&self) -> usize {
        self.read(|state| state.lists)
    }

    pub(crate) fn errors(&self) -> Vec<BucketError> {
        self.read(|state| state.errors.clone())
    }

    /// Waits until a list is complete.
    pub(crate) async fn until_listed(&self, lists: usize) {
        wait::until(format!("{lists} lists are complete"), Duration::from_secs(60), async || {
            let seen = self.lists();
            if seen >= lists { Ok(()) } else { Err(format!("{seen} lists, errors: {:?}", self.errors())) }
        })
        .await;
    }

    /// Waits until the events of the watch show exactly these entries.
    pub(crate) async fn until_equal(&self, entries: &Entries) {
        wait::until("the watch has delivered all changes", Duration::from_secs(60), async || {
            let seen = self.entries();
            if seen == *entries {
                return Ok(());
            }
            let missing: Vec<_> =
                entries.iter().filter(|(key, value)| seen.get(*key) != Some(*value)).take(5).collect();
            let extra: Vec<_> = seen.keys().filter(|key| !entries.contains_key(*key)).take(5).collect();
            Err(format!("missing: {missing:?}; no longer in the bucket: {extra:?}; errors: {:?}", self.errors()))
        })
        .await;
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl WatchState {
    fn handle(&mut self, event: Result<BucketEvent, BucketError>) {
        match event {
            Ok(BucketEvent::ListStarted) => self.listed = Some(BTreeSet::new()),
            Ok(BucketEvent::Put(entry)) => {
                if let Some(listed) = &mut self.listed {
                    listed.insert(entry.key.clone());
                } else if self.lists == 0 {
                    self.violations.push(format!("{} is put before a list", entry.key));
                }
                self.entries.insert(entry.key, entry.value);
            }
            Ok(BucketEvent::ListEnded) => match self.listed.take() {
                Some(listed) => {
                    self.entries.retain(|key, _| listed.contains(key));
                    self.lists += 1;
                }
                None => self.violations.push("a list ended that was not started".to_owned()),
            },
            Ok(BucketEvent::Removed { key, .. }) => {
                if self.listed.is_some() {
                    self.violations.push(format!("{key} is removed within a list"));
                }
                self.entries.remove(&key);
            }
            Ok(event) => self.violations.push(format!("an unknown event: {event:?}")),
            Err(error) => self.errors.push(error),
        }
    }
}

/// Returns the entries of a bucket.
pub(crate) async fn listed(bucket: &dyn Bucket) -> Entries {
    let entries = answered("a list", async || bucket.list().await).await;
    entries.into_iter().map(|entry| (entry.key, entry.value)).collect()
}
