//! Observes when the statuses of entries are written.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_nats::jetstream::kv::Store;
use futures::StreamExt;
use opgen_tests::wait;
use tokio::time::Instant;

/// When the first status of each key was seen.
#[derive(Clone, Default)]
pub(crate) struct Statuses(Arc<Mutex<HashMap<String, Instant>>>);

impl Statuses {
    /// Follows the changes of a bucket from now on.
    pub(crate) async fn follow(store: &Store) -> Self {
        let (seen, mut changes) = (Self::default(), store.watch_all().await.unwrap());
        let into = seen.clone();
        tokio::spawn(async move {
            while let Some(Ok(entry)) = changes.next().await {
                if has_status(&entry.value) {
                    into.0.lock().unwrap().entry(entry.key).or_insert_with(Instant::now);
                }
            }
        });
        seen
    }

    /// Waits until this number of keys have a status, and returns the times of the first and the last one.
    pub(crate) async fn of_all(&self, keys: usize, deadline: Duration) -> (Instant, Instant) {
        wait::until(format!("{keys} entries have a status"), deadline, async || match self.0.lock().unwrap().len() {
            seen if seen >= keys => Ok(()),
            seen => Err(format!("{seen} have one")),
        })
        .await;
        let seen = self.0.lock().unwrap();
        (*seen.values().min().unwrap(), *seen.values().max().unwrap())
    }

    /// Waits until a key has a status, and returns the time when it was seen.
    pub(crate) async fn of(&self, key: &str, deadline: Duration) -> Instant {
        let seen = async || self.0.lock().unwrap().get(key).copied().ok_or_else(|| "it has none".to_owned());
        wait::until(format!("{key} has a status"), deadline, seen).await
    }
}

/// Whether a value has a status. No other part of it has this text.
fn has_status(value: &[u8]) -> bool {
    const FIELD: &[u8] = b"\"status\":{";
    value.windows(FIELD.len()).any(|part| part == FIELD)
}
