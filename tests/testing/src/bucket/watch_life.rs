//! Checks several watches of one client, watches that are read late or dropped, and watches during writes.

use opgen::bucket::{BucketEntry, Expected};
use tokio::task::yield_now;

use super::{
    client::Client,
    deadline::{CheckResult, Obstacle, expect_equal},
    follower::Follower,
    statement::{CheckRun, Statement},
    thread::{on_thread, on_threads},
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(83, "Each of several watches of one client delivers all changes", |run| {
        Box::pin(read_several_watches(run))
    }),
    Statement::new(84, "A dropped watch does not disturb others, nor the calls of its client", |run| {
        Box::pin(drop_watch(run))
    }),
    Statement::new(85, "A watch that is read late delivers the last state", |run| Box::pin(read_watch_late(run))),
    Statement::new(86, "A watch that is never read does not hold up writes or other watches", |run| {
        Box::pin(leave_watch_unread(run))
    }),
    Statement::new(87, "No write between the list of a watch and its changes is lost", |run| {
        Box::pin(write_during_list(run))
    }),
    Statement::new(88, "No removal between the list of a watch and its changes is lost", |run| {
        Box::pin(remove_during_list(run))
    }),
    Statement::new(89, "A watch during the writes of many clients ends with their last state", |run| {
        Box::pin(watch_many_writers(run))
    }),
    Statement::new(90, "A watch goes on in another thread after the client that made it is dropped", |run| {
        Box::pin(outlive_client(run))
    }),
];

/// Checks statement 83: Each of several watches of one client delivers all changes.
async fn read_several_watches(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let listed = client.create("listed", "value").await?;
    let mut watches = vec![client.follow(), client.follow()];
    for watch in &mut watches {
        watch.list().await?;
        expect_equal("the revision in the list", watch.revision("listed"), Some(listed))?;
    }
    let removal = client.remove("listed", listed).await?;
    watches.push(client.follow());
    let created = client.create("created", "value").await?;
    for watch in &mut watches {
        watch.until_revision("created", Some(created)).await?;
        let expected = vec![BucketEntry::new("created", "value", created)];
        expect_equal(&format!("the entries after removal {removal}"), watch.entries(), expected)?;
    }
    Ok(())
}

/// Checks statement 84: A dropped watch does not disturb others, nor the calls of its client.
async fn drop_watch(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    client.fill("key-", 20).await?;
    let mut watch = client.follow();
    watch.list().await?;
    // Each round starts and drops another watch, after none of the events of its list at first and after 22 of them at last.
    for reads in 0..25 {
        let mut other = client.follow();
        for _ in 0..reads.min(22) {
            drop(other.next("an event of the list").await?);
        }
        drop(other);
        let key = format!("next-{reads}");
        let revision = client.create(&key, "value").await?;
        watch.until_revision(&key, Some(revision)).await?;
    }
    // A watch that is never polled.
    drop(client.bucket.watch());
    watch.until_equal(&client.list().await?).await
}

/// Checks statement 85: A watch that is read late delivers the last state.
async fn read_watch_late(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut revisions = Vec::new();
    for entry in client.fill("key-", 10).await? {
        revisions.push((entry.key, entry.revision));
    }
    let mut watch = client.follow();
    watch.list().await?;
    let mut unstarted = client.follow();
    for round in 0..100 {
        for (key, revision) in &mut revisions {
            *revision = other.replace(key, format!("round {round}"), *revision).await?;
        }
    }
    if let Some((key, revision)) = revisions.pop() {
        other.remove(&key, revision).await?;
    }
    let expected = client.list().await?;
    watch.until_equal(&expected).await?;
    unstarted.until_equal(&expected).await
}

/// Checks statement 86: A watch that is never read does not hold up writes or other watches.
async fn leave_watch_unread(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    client.create("a", "value").await?;
    // During the writes one watch is not read at all, and one has been read only up to the end of its list.
    let mut unread = client.follow();
    let mut listed = client.follow();
    listed.list().await?;
    let mut watch = client.follow();
    watch.list().await?;
    let value = vec![b'x'; 16 * 1024];
    let mut revision = client.create("b", value.clone()).await?;
    for _ in 0..500 {
        revision = client.replace("b", value.clone(), revision).await?;
    }
    watch.until_revision("b", Some(revision)).await?;
    unread.until_revision("b", Some(revision)).await?;
    listed.until_revision("b", Some(revision)).await
}

/// Starts a watch, and reads up to `reads` items of its first list while the future `work` changes the bucket. Expects that the watch has
/// the entries of `list` after that.
async fn expect_state_after(client: &Client, reads: usize, work: impl Future<Output = CheckResult>) -> CheckResult {
    let follow = async {
        let mut watch = client.follow();
        for _ in 0..reads {
            // The list is complete: it is shorter than expected if entries were removed before it.
            if watch.has_listed() {
                break;
            }
            drop(watch.next("`ListStarted`, entries and `ListEnded`").await?);
            yield_now().await;
        }
        Ok::<Follower, Obstacle>(watch)
    };
    let (watch, worked) = futures::join!(follow, work);
    worked?;
    watch?.until_equal(&client.list().await?).await
}

/// Checks statement 87: No write between the list of a watch and its changes is lost.
async fn write_during_list(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    for round in 0..50 {
        let key = format!("key-{}", round % 5);
        // The number of items that are read meanwhile differs from round to round. Round N begins with N entries, 5 at most, so the list
        // has at least two more items than are read: `ListStarted`, the entries and `ListEnded`.
        let reads = round.min(5).min(round % 7);
        let work = on_thread(run.deadline, write_rounds(other.clone(), key));
        expect_state_after(&client, reads, work).await?;
    }
    Ok(())
}

/// Writes a key five times, each time with the revision that it has then.
async fn write_rounds(client: Client, key: String) -> CheckResult {
    for round in 0..5 {
        let entry = client.get(&key).await?;
        match entry {
            Some(entry) => client.replace(&key, round.to_string(), entry.revision).await?,
            None => client.create(&key, "value").await?,
        };
    }
    Ok(())
}

/// Checks statement 88: No removal between the list of a watch and its changes is lost.
async fn remove_during_list(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    for round in 0..30 {
        let entries = client.fill(&format!("round-{round}."), 4).await?;
        let work = on_thread(run.deadline, remove_all(other.clone(), entries));
        expect_state_after(&client, round % 4, work).await?;
    }
    expect_equal("the number of entries", client.list().await?.len(), 0)
}

/// Removes these entries, one after the other.
async fn remove_all(client: Client, entries: Vec<BucketEntry>) -> CheckResult {
    for entry in entries {
        client.remove(&entry.key, entry.revision).await?;
    }
    Ok(())
}

/// Checks statement 89: A watch during the writes of many clients ends with their last state.
async fn watch_many_writers(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut early = client.follow();
    early.list().await?;
    let writers = on_threads(run.deadline, 4, |thread| {
        change_randomly(if thread % 2 == 0 { client.clone() } else { other.clone() }, thread)
    });
    let start_watches = async {
        let mut watches = Vec::new();
        for _ in 0..8 {
            let mut watch = client.follow();
            watch.list().await?;
            watches.push(watch);
            yield_now().await;
        }
        Ok::<Vec<Follower>, Obstacle>(watches)
    };
    let (written, watches) = futures::join!(writers, start_watches);
    written?;
    let expected = client.list().await?;
    early.until_equal(&expected).await?;
    for mut watch in watches? {
        watch.until_equal(&expected).await?;
    }
    Ok(())
}

/// Writes or removes one of six keys at random, 50 times. Other threads change the same keys, so the results, such as conflicts, are
/// ignored. At the end, creates a key of its own.
async fn change_randomly(client: Client, thread: usize) -> CheckResult {
    let mut random = fastrand::Rng::with_seed(thread as u64);
    for round in 0..50 {
        let key = format!("key-{}", random.u8(..6));
        match client.get(&key).await? {
            Some(entry) if random.bool() => drop(client.try_remove(&key, entry.revision).await?),
            Some(entry) => {
                let expected = Expected::Revision(entry.revision);
                drop(client.try_put(&key, format!("{thread} {round}"), expected).await?);
            }
            None => drop(client.try_put(&key, "created", Expected::Absent).await?),
        }
    }
    client.create(&format!("last-{thread}"), "value").await.map(drop)
}

/// Checks statement 90: A watch goes on in another thread after the client that made it is dropped.
async fn outlive_client(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let listed = client.create("listed", "value").await?;
    let mut watch = client.follow();
    watch.list().await?;
    drop(client);
    let created = other.create("created", "value").await?;
    let expected = vec![BucketEntry::new("created", "value", created), BucketEntry::new("listed", "value", listed)];
    on_thread(run.deadline, expect_entries(watch, expected)).await
}

async fn expect_entries(mut watch: Follower, expected: Vec<BucketEntry>) -> CheckResult {
    watch.until_equal(&expected).await
}
