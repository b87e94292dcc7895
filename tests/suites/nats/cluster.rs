//! Three servers: writes and reads while the leader of the stream changes.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use opgen::{
    bucket::{Bucket as _, BucketDefinition, BucketError, Expected},
    nats::NatsBucket,
};
use opgen_tests::{NatsCluster, nats::ForeignClient, wait};

use crate::{
    case::{BUCKET, answered, connect, open_in_cluster, options},
    watched::{Watched, listed},
};

const WRITERS: usize = 4;

/// How many writes succeed between two disturbances.
const WRITES: usize = 25;

/// The successful writes of a counter: the new value and revision, by the revision that was expected.
#[derive(Debug, Default)]
struct Winners {
    by_expected: BTreeMap<u64, (u64, u64)>,
    /// Writes of the same revision that both succeeded.
    wrong: Vec<String>,
}

impl Winners {
    fn add(&mut self, expected: u64, value: u64, revision: u64) {
        if let Some(other) = self.by_expected.insert(expected, (value, revision)) {
            self.wrong.push(format!("revision {expected} was replaced by {other:?} and by {:?}", (value, revision)));
        }
    }
}

async fn start() -> (NatsCluster, NatsBucket, ForeignClient) {
    let cluster = NatsCluster::start().await;
    let definition = BucketDefinition::new(BUCKET).replicas(3).history(64);
    let bucket = open_in_cluster(&connect(options(cluster.urls())).await, &definition).await;
    let foreign = ForeignClient::connect(&cluster.urls(), BUCKET).await;
    (cluster, bucket, foreign)
}

pub(crate) async fn one_winner() {
    let (mut cluster, bucket, foreign) = start().await;
    bucket.put("counter", b"0".to_vec(), Expected::Absent).await.expect("a creation");
    let watch = Watched::follow(&bucket);
    let (winners, stop) = (Arc::new(Mutex::new(Winners::default())), Arc::new(AtomicBool::new(false)));
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..WRITERS {
        let bucket = open_in_cluster(&connect(options(cluster.urls())).await, &BucketDefinition::new(BUCKET)).await;
        let (winners, stop) = (Arc::clone(&winners), Arc::clone(&stop));
        writers.spawn(async move { count_up(&bucket, &winners, &stop).await });
    }
    for round in 0..6 {
        until_written(&winners).await;
        let leader = leader(&foreign).await;
        if round % 2 == 0 {
            let _ = foreign.step_down().await;
            until_written(&winners).await;
        } else {
            cluster.server(&leader).pause();
            until_written(&winners).await;
            cluster.server(&leader).resume();
            cluster.until_healthy().await;
        }
    }
    stop.store(true, Ordering::Relaxed);
    writers.join_all().await;
    let winners = std::mem::take(&mut *winners.lock().expect("no writer panics"));
    assert!(winners.wrong.is_empty(), "{:#?}", winners.wrong);
    // A server that was paused may answer before it has all that the others have stored.
    let history = wait::until("the server has all revisions", wait::PATIENCE, async || {
        let history = foreign.history("counter").await;
        let gap = history.windows(2).find(|step| step[1].0 != step[0].0 + 1);
        gap.map_or(Ok(()), |step| Err(format!("revision {} comes after {}", step[1].0, step[0].0)))?;
        Ok(history)
    })
    .await;
    assert!(history.len() > 10, "{history:?}");
    let number = |value: &[u8]| String::from_utf8_lossy(value).parse::<u64>().expect("a number");
    for step in history.windows(2) {
        let ((before, old), (after, new)) = (&step[0], &step[1]);
        assert_eq!(number(new), number(old) + 1, "revision {after} replaced a value other than that of {before}");
        // A write that had no answer may have happened.
        if let Some(winner) = winners.by_expected.get(before) {
            assert_eq!(*winner, (number(new), *after), "the winner of revision {before}");
        }
    }
    watch.until_equal(&listed(&bucket).await).await;
}

/// Adds one to the counter again and again, as long as nobody says stop.
async fn count_up(bucket: &NatsBucket, winners: &Mutex<Winners>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let Ok(Some(entry)) = bucket.get("counter").await else { continue };
        let value: u64 = String::from_utf8_lossy(&entry.value).parse().expect("a number");
        let next = (value + 1).to_string().into_bytes();
        match bucket.put("counter", next, Expected::Revision(entry.revision)).await {
            Ok(revision) => winners.lock().expect("no writer panics").add(entry.revision, value + 1, revision),
            Err(BucketError::Conflict { .. } | BucketError::Unavailable { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Writes the key, whose entry has the revision `last`. A write that had no answer may have happened.
async fn write(bucket: &NatsBucket, last: Option<u64>, value: &[u8]) -> u64 {
    let expected = last.map_or(Expected::Absent, Expected::Revision);
    answered("a write", async || match bucket.put("a", value.to_vec(), expected).await {
        Err(conflict @ BucketError::Conflict { .. }) => match bucket.get("a").await? {
            Some(entry) if entry.value == value => Ok(entry.revision),
            _ => Err(conflict),
        },
        written => written,
    })
    .await
}

/// Waits until more writes have succeeded.
async fn until_written(winners: &Mutex<Winners>) {
    let count = || winners.lock().expect("no writer panics").by_expected.len();
    let before = count();
    wait::until("writes succeed", Duration::from_secs(90), async || match count() - before {
        WRITES.. => Ok(()),
        few => Err(format!("{few} writes")),
    })
    .await;
}

async fn leader(foreign: &ForeignClient) -> String {
    wait::until("the stream has a leader", wait::PATIENCE, async || foreign.leader().await).await
}

pub(crate) async fn reads() {
    let (mut cluster, bucket, foreign) = start().await;
    let mut readers = Vec::new();
    for url in cluster.urls() {
        readers.push(open_in_cluster(&connect(options([url])).await, &BucketDefinition::new(BUCKET)).await);
    }
    let mut last = None;
    for number in 0..=60_u32 {
        let value = number.to_string().into_bytes();
        let revision = write(&bucket, last, &value).await;
        last = Some(revision);
        for reader in &readers {
            let entry = answered("a read", async || reader.get("a").await).await.expect("an entry");
            assert_eq!((entry.revision, &entry.value), (revision, &value));
            if number % 10 == 0 {
                assert_eq!(listed(reader).await.get("a"), Some(&value));
            }
        }
    }
    // Two of three servers go on.
    let name = leader(&foreign).await;
    cluster.server(&name).stop();
    wait::until("a write succeeds without the old leader", wait::PATIENCE, async || {
        let entry = bucket.get("a").await.map_err(|error| error.to_string())?.ok_or("no entry")?;
        let written = bucket.put("a", b"after".to_vec(), Expected::Revision(entry.revision)).await;
        written.map(drop).map_err(|error| error.to_string())
    })
    .await;
    cluster.server(&name).start_again();
    cluster.until_healthy().await;
    for reader in &readers {
        wait::until("all servers serve the last write", wait::PATIENCE, async || {
            let entries = reader.list().await.map_err(|error| error.to_string())?;
            let value = entries.into_iter().find(|entry| entry.key == "a").map(|entry| entry.value);
            if value.as_deref() == Some(b"after") { Ok(()) } else { Err(format!("{value:?}")) }
        })
        .await;
    }
}
