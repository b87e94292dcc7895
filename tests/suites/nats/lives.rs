//! Whole lives of an operator without Kubernetes on one server, beside a client that knows nothing but specs.

use std::time::Duration;

use opgen::{
    bucket::{Bucket as _, BucketDefinition},
    nats::{NatsBucket, NatsBuckets, NatsConnection},
};
use opgen_tests::{NatsServer, NatsServerOptions, nats::ForeignClient, wait};
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    barrel::{BARRELS, CONFIG_MAPS, OperatorRun, PassCounts, TAPS, bare, operator},
    case::{connect, open, options},
};

/// The time in which an operator without objects is ready. It takes some milliseconds; other cases run at the same time.
const START: Duration = Duration::from_secs(5);

/// A server with the buckets of the operator, and the clients of each.
struct Cellar {
    connection: NatsConnection,
    barrels: NatsBucket,
    taps: NatsBucket,
    config_maps: NatsBucket,
    foreign_barrels: ForeignClient,
    foreign_taps: ForeignClient,
    foreign_config_maps: ForeignClient,
    passes: PassCounts,
    /// The last, so that the clients end first.
    _server: NatsServer,
}

impl Cellar {
    async fn start() -> Self {
        let server = NatsServer::start(&NatsServerOptions::default()).await;
        let connection = connect(options([server.url()])).await;
        let opened = async |name: &'static str| open(&connection, &BucketDefinition::new(name)).await;
        let (barrels, taps, config_maps) = (opened(BARRELS).await, opened(TAPS).await, opened(CONFIG_MAPS).await);
        let foreign = async |name: &str| ForeignClient::connect(&[server.url()], name).await;
        Self {
            barrels,
            taps,
            config_maps,
            foreign_barrels: foreign(BARRELS).await,
            foreign_taps: foreign(TAPS).await,
            foreign_config_maps: foreign(CONFIG_MAPS).await,
            passes: PassCounts::default(),
            connection,
            _server: server,
        }
    }

    fn run(&self) -> OperatorRun {
        let buckets = NatsBuckets::new(self.connection.clone()).create_missing(true);
        OperatorRun::start(operator(buckets, &self.passes))
    }

    async fn put(&self, name: &str, text: &str) {
        self.foreign_barrels.put(&key(name), &bare(text)).await;
    }

    async fn delete(&self, name: &str) {
        self.foreign_barrels.delete(&key(name)).await;
    }

    async fn purge(&self, name: &str) {
        self.foreign_barrels.purge(&key(name)).await;
    }

    /// Waits until a barrel and its children have a text, and the status says so. Returns the barrel.
    async fn until_served(&self, name: &str, text: &str) -> Value {
        wait::until(format!("{name} and its children have the text {text}"), wait::PATIENCE, async || {
            let barrel = object(&self.barrels, name).await?;
            let (tap, config) = (object(&self.taps, name).await?, object(&self.config_maps, name).await?);
            let conditions = barrel["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let is_available =
                conditions.iter().any(|condition| condition["type"] == "Available" && condition["status"] == "True");
            let is_observed = barrel["status"]["observedGeneration"] == barrel["metadata"]["generation"];
            let texts = [&barrel["spec"]["text"], &tap["spec"]["text"], &config["data"]["text"]];
            if is_available && is_observed && texts.iter().all(|found| **found == *text) {
                Ok(barrel)
            } else {
                Err(format!("{barrel}, {tap}, {config}"))
            }
        })
        .await
    }

    /// Waits until no bucket has an entry or a claim of these barrels.
    async fn until_gone(&self, names: &[&str]) {
        wait::until(format!("{names:?} are gone"), wait::PATIENCE, async || {
            for bucket in [&self.barrels, &self.taps, &self.config_maps] {
                let entries = bucket.list().await.map_err(|error| error.to_string())?;
                let left = entries.iter().find(|entry| names.iter().any(|name| entry.key.ends_with(&key(name))));
                if let Some(entry) = left {
                    return Err(format!("{} in {}", entry.key, bucket.name()));
                }
            }
            Ok(())
        })
        .await;
    }

    fn foreign(&self) -> [&ForeignClient; 3] {
        [&self.foreign_barrels, &self.foreign_taps, &self.foreign_config_maps]
    }
}

fn key(name: &str) -> String {
    format!("default.{name}")
}

/// Returns the object of a name.
///
/// # Errors
/// Fails if there is none, or no answer.
async fn object(bucket: &NatsBucket, name: &str) -> Result<Value, String> {
    let entry = bucket.get(&key(name)).await.map_err(|error| error.to_string())?;
    let entry = entry.ok_or_else(|| format!("no {name} in {}", bucket.name()))?;
    serde_json::from_slice(&entry.value).map_err(|error| error.to_string())
}

/// The children and the status follow each entry, until another client deletes or purges it, while the operator runs or not.
pub(crate) async fn whole_life() {
    let cellar = Cellar::start().await;
    let running = cellar.run();
    running.until_ready().await;
    for name in ["edited", "deleted", "purged", "deleted-later", "purged-later"] {
        cellar.put(name, "a").await;
    }
    for name in ["edited", "deleted", "purged", "deleted-later", "purged-later"] {
        cellar.until_served(name, "a").await;
    }
    let before = cellar.until_served("edited", "a").await;
    cellar.put("edited", "b").await;
    let after = cellar.until_served("edited", "b").await;
    assert!(before["metadata"]["uid"].is_string(), "{before}");
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"], "a bare spec is an edit");
    cellar.delete("deleted").await;
    cellar.purge("purged").await;
    cellar.until_gone(&["deleted", "purged"]).await;
    running.end().await;

    cellar.put("edited", "c").await;
    cellar.put("created", "a").await;
    cellar.delete("deleted-later").await;
    cellar.purge("purged-later").await;
    let running = cellar.run();
    cellar.until_served("edited", "c").await;
    cellar.until_served("created", "a").await;
    cellar.until_gone(&["deleted-later", "purged-later"]).await;
    // A key that was in use before.
    cellar.put("purged", "d").await;
    cellar.until_served("purged", "d").await;
    running.end().await;
}

/// A restart is a pass over each entry, and no write.
pub(crate) async fn restart() {
    const NAMES: [&str; 3] = ["one", "two", "three"];
    let cellar = Cellar::start().await;
    let running = cellar.run();
    for name in NAMES {
        cellar.put(name, "a").await;
    }
    for name in NAMES {
        cellar.until_served(name, "a").await;
    }
    running.end().await;

    let mut revisions = Vec::new();
    for foreign in cellar.foreign() {
        revisions.push(foreign.last_revision().await);
    }
    let passes = NAMES.map(|name| cellar.passes.of(name));
    let running = cellar.run();
    wait::until("a pass over each barrel", wait::PATIENCE, async || {
        let now = NAMES.map(|name| cellar.passes.of(name));
        if now.iter().zip(passes).all(|(now, before)| *now > before) { Ok(()) } else { Err(format!("{now:?}")) }
    })
    .await;
    // The writes of those passes would be before those for another barrel.
    cellar.put("last", "a").await;
    cellar.until_served("last", "a").await;
    running.end().await;
    for (foreign, revision) in cellar.foreign().into_iter().zip(revisions) {
        let messages = foreign.messages(">", revision).await;
        let written: Vec<_> = messages.iter().map(|message| &message.key).collect();
        assert!(!written.is_empty() && written.iter().all(|written| written.ends_with(&key("last"))), "{written:?}");
    }
}

/// Without objects, an operator is ready as soon as its buckets are open and listed.
#[allow(clippy::print_stdout, reason = "a measurement")]
pub(crate) async fn empty_start() {
    let cellar = Cellar::start().await;
    // The first start creates the buckets.
    let running = cellar.run();
    running.until_ready().await;
    running.end().await;
    let start = Instant::now();
    let running = cellar.run();
    running.until_ready().await;
    let elapsed = start.elapsed();
    println!("an operator without Kubernetes and without objects is ready after {elapsed:?}");
    assert!(elapsed < START, "ready after {elapsed:?}");
    running.end().await;
}

/// Claims and marks are enough: no message tells of the keys that were deleted while no operator ran.
pub(crate) async fn compaction() {
    let cellar = Cellar::start().await;
    let running = cellar.run();
    for name in ["kept", "deleted", "purged", "forgotten", "again", "repaired"] {
        cellar.put(name, "a").await;
    }
    for name in ["kept", "deleted", "purged", "forgotten", "again", "repaired"] {
        cellar.until_served(name, "a").await;
    }
    running.end().await;

    cellar.delete("deleted").await;
    cellar.purge("purged").await;
    cellar.delete("again").await;
    cellar.foreign_taps.delete(&key("repaired")).await;
    for foreign in cellar.foreign() {
        foreign.delete_tombstones().await;
    }
    cellar.foreign_barrels.purge_stream(&key("forgotten")).await;
    cellar.put("again", "b").await;
    for name in ["deleted", "purged", "forgotten", "again"] {
        let messages = cellar.foreign_barrels.messages(&key(name), 0).await;
        assert_eq!(messages.len(), usize::from(name == "again"), "{name}: {messages:?}");
    }

    let running = cellar.run();
    cellar.until_gone(&["deleted", "purged", "forgotten"]).await;
    cellar.until_served("kept", "a").await;
    cellar.until_served("repaired", "a").await;
    cellar.until_served("again", "b").await;
    running.end().await;
}

/// An entry that reaches the maximum age of its bucket is torn down by its nodes: its claim stays until then.
pub(crate) async fn maximum_age() {
    let server = NatsServer::start(&NatsServerOptions::default()).await;
    let connection = connect(options([server.url()])).await;
    let barrels = open(&connection, &BucketDefinition::new(BARRELS).max_age(Duration::from_secs(3))).await;
    let (buckets, passes) = (NatsBuckets::new(connection.clone()).create_missing(true), PassCounts::default());
    let running = OperatorRun::start(operator(buckets, &passes));
    running.until_ready().await;
    let taps = open(&connection, &BucketDefinition::new(TAPS)).await;
    let foreign = ForeignClient::connect(&[server.url()], BARRELS).await;
    foreign.put(&key("short"), &bare("a")).await;
    wait::until("a teardown", wait::PATIENCE, async || match passes.teardowns_of("short") {
        0 => Err(format!("{} passes", passes.of("short"))),
        _ => Ok(()),
    })
    .await;
    for bucket in [&barrels, &taps] {
        wait::until(format!("{} is empty", bucket.name()), wait::PATIENCE, async || {
            let entries = bucket.list().await.map_err(|error| error.to_string())?;
            if entries.is_empty() { Ok(()) } else { Err(format!("{} entries", entries.len())) }
        })
        .await;
    }
    running.end().await;
}
