//! A client that changes barrels all the time, by any server that answers.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use opgen::{
    bucket::{Bucket as _, BucketDefinition, BucketError, Expected},
    nats::NatsBucket,
};
use opgen_tests::{NatsCluster, wait};
use serde_json::Value;

use crate::{
    barrel::{BARRELS, TAPS, bare},
    case::{connect, open_in_cluster, options},
};

/// The barrels that are changed and never deleted.
pub(crate) const LASTING: usize = 3;

/// The number of changes for each barrel that is created to be removed.
const BRIEF_PERIOD: usize = 4;

/// The time that a change may take, with an election of leaders of streams, and one of replicas.
const PATIENCE: Duration = Duration::from_secs(120);

/// The buckets as one server serves them.
#[derive(Clone, Debug)]
struct ServerBuckets {
    barrels: NatsBucket,
    taps: NatsBucket,
}

/// The clients of all servers.
#[derive(Clone, Debug)]
pub(crate) struct BarrelClient(Vec<ServerBuckets>);

impl BarrelClient {
    pub(crate) async fn connect(cluster: &NatsCluster) -> Self {
        let mut servers = Vec::new();
        for url in cluster.urls() {
            let connection = connect(options([url]).request_timeout(Duration::from_secs(1))).await;
            let barrels = open_in_cluster(&connection, &BucketDefinition::new(BARRELS)).await;
            let taps = open_in_cluster(&connection, &BucketDefinition::new(TAPS)).await;
            servers.push(ServerBuckets { barrels, taps });
        }
        Self(servers)
    }

    /// Makes a call by each server in turn, until one answers without an error.
    async fn until<T>(&self, what: String, call: impl AsyncFn(&ServerBuckets) -> Result<T, String>) -> T {
        wait::until(what, PATIENCE, async || {
            let mut errors = Vec::new();
            for buckets in &self.0 {
                match call(buckets).await {
                    Ok(value) => return Ok(value),
                    Err(error) => errors.push(error),
                }
            }
            Err(format!("{errors:?}"))
        })
        .await
    }

    /// Puts a bare spec, as long as the barrel has another text.
    pub(crate) async fn put(&self, name: &str, text: &str) {
        let key = key(name);
        self.until(format!("{key} is put"), async |buckets| {
            let entry = buckets.barrels.get(&key).await.map_err(shown)?;
            if entry.as_ref().is_some_and(|entry| text_of(&entry.value) == text) {
                return Ok(());
            }
            let expected = entry.map_or(Expected::Absent, |entry| Expected::Revision(entry.revision));
            buckets.barrels.put(&key, bare(text), expected).await.map(drop).map_err(shown)
        })
        .await;
    }

    pub(crate) async fn remove(&self, name: &str) {
        let key = key(name);
        self.until(format!("{key} is removed"), async |buckets| {
            match buckets.barrels.get(&key).await.map_err(shown)? {
                None => Ok(()),
                Some(entry) => buckets.barrels.remove(&key, entry.revision).await.map(drop).map_err(shown),
            }
        })
        .await;
    }

    /// Waits until the tap of a barrel has this text.
    pub(crate) async fn until_tap(&self, name: &str, text: &str) {
        let key = key(name);
        self.until(format!("the tap {key} is {text:?}"), async |buckets| {
            let entry = buckets.taps.get(&key).await.map_err(shown)?;
            let found = entry.map(|entry| text_of(&entry.value));
            if found.as_deref() == Some(text) { Ok(()) } else { Err(format!("{found:?}")) }
        })
        .await;
    }
}

fn key(name: &str) -> String {
    format!("default.{name}")
}

fn shown(error: BucketError) -> String {
    error.to_string()
}

fn text_of(value: &[u8]) -> String {
    let object: Value = serde_json::from_slice(value).unwrap_or_default();
    object["spec"]["text"].as_str().unwrap_or_default().to_owned()
}

/// How far the changes are, and whether they shall end.
#[derive(Debug, Default)]
pub(crate) struct EditProgress {
    followed: AtomicUsize,
    is_over: AtomicBool,
}

impl EditProgress {
    /// Returns the number of changes that the operator has followed.
    pub(crate) fn followed(&self) -> usize {
        self.followed.load(Ordering::Relaxed)
    }

    /// Waits until the operator has followed more changes.
    ///
    /// # Errors
    /// Fails if it has not within this time.
    pub(crate) async fn follows_more(&self, changes: usize, limit: Duration) -> Result<(), String> {
        let goal = self.followed() + changes;
        wait::within(limit, async || {
            let followed = self.followed();
            if followed >= goal { Ok(()) } else { Err(format!("{followed} of {goal} changes")) }
        })
        .await
    }

    /// Lets the changes end.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Changes, creates and removes barrels, each after the operator has followed the one before, until the end of the progress. No barrel
/// is left then but the lasting ones.
pub(crate) async fn edit(client: &BarrelClient, progress: &EditProgress) {
    let mut change = 0_usize;
    while !progress.is_over.load(Ordering::Relaxed) {
        change += 1;
        let (name, text) = (lasting(change % LASTING), format!("change {change}"));
        client.put(&name, &text).await;
        if change.is_multiple_of(BRIEF_PERIOD) {
            let number = change / BRIEF_PERIOD;
            client.put(&brief(number), "a").await;
            // Its children exist, or are being created.
            client.remove(&brief(number - 1)).await;
        }
        client.until_tap(&name, &text).await;
        progress.followed.store(change, Ordering::Relaxed);
    }
    client.remove(&brief(change / BRIEF_PERIOD)).await;
}

/// Returns the name of a barrel that is never removed.
pub(crate) fn lasting(number: usize) -> String {
    format!("lasting-{number}")
}

/// Returns the name of a barrel that is removed soon after its creation.
fn brief(number: usize) -> String {
    format!("brief-{number}")
}
