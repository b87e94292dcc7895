//! Checks buckets after interrupted connections, after the store has dropped the tombstones of removed keys, and after restarts of the
//! store.

use opgen::bucket::{BucketEvent, Expected};

use super::{
    client::Client,
    deadline::{CheckResult, expect, expect_equal, failed},
    follower::{Follower, keys},
    statement::{CheckRun, Statement},
    subject::BucketDisturbance::{Delete, DropTombstones, Interrupt, Purge, Restart},
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(91, "A watch goes on by itself after an interruption", |run| Box::pin(continue_watch(run))),
    Statement::new(92, "A write during an interruption is in the watch after it", |run| {
        Box::pin(write_during_interruption(run))
    }),
    Statement::new(93, "A removal during an interruption is known to the watch after it", |run| {
        Box::pin(remove_during_interruption(run))
    }),
    Statement::new(94, "A deletion and a creation during an interruption leave the last state", |run| {
        Box::pin(recreate_during_interruption(run))
    }),
    Statement::new(95, "A watch survives an interruption during its list", |run| Box::pin(interrupt_during_list(run))),
    Statement::new(96, "Each watch survives many interruptions during writes", |run| {
        Box::pin(interrupt_many_times(run))
    }),
    Statement::new(97, "Calls succeed again after an interruption, with the same entries", |run| {
        Box::pin(call_after_interruption(run))
    }),
    Statement::new(98, "A removal that the store has forgotten is known to a watch that was interrupted", |run| {
        Box::pin(watch_after_dropped_tombstone(run))
    }),
    Statement::new(99, "A key whose removal is forgotten has no entry, and can be created but not replaced", |run| {
        Box::pin(create_after_dropped_tombstone(run))
    }),
    Statement::new(100, "Revisions increase after the removals are forgotten", |run| {
        Box::pin(increase_after_dropped_tombstones(run))
    }),
    Statement::new(101, "Entries and their revisions survive a restart", |run| {
        Box::pin(keep_entries_after_restart(run))
    }),
    Statement::new(102, "Writes after a restart have greater revisions than those before", |run| {
        Box::pin(increase_after_restart(run))
    }),
    Statement::new(103, "A watch survives a restart", |run| Box::pin(continue_watch_after_restart(run))),
];

/// Creates a bucket with the keys a, b and c, and returns a client of it and a watch that has delivered its first list.
async fn start_watched_bucket(run: &CheckRun) -> CheckResult<(Client, Follower)> {
    let client = run.client().await?;
    for key in ["a", "b", "c"] {
        client.create(key, "listed").await?;
    }
    let mut watch = client.follow();
    watch.list().await?;
    Ok((client, watch))
}

/// Checks statement 91: A watch goes on by itself after an interruption.
async fn continue_watch(run: &CheckRun) -> CheckResult {
    let (client, mut watch) = start_watched_bucket(run).await?;
    for round in 0..3 {
        client.disturb(Interrupt).await?;
        let revision = client.write_surely("next", &round.to_string()).await?;
        watch.until_revision("next", Some(revision)).await?;
        watch.until_equal(&client.list_surely().await?).await?;
    }
    Ok(())
}

/// Checks statement 92: A write during an interruption is in the watch after it.
async fn write_during_interruption(run: &CheckRun) -> CheckResult {
    let (client, mut watch) = start_watched_bucket(run).await?;
    client.disturb(Interrupt).await?;
    let changed = client.write_surely("a", "changed").await?;
    let created = client.write_surely("d", "created").await?;
    watch.until_revision("a", Some(changed)).await?;
    watch.until_revision("d", Some(created)).await?;
    watch.until_equal(&client.list_surely().await?).await
}

/// Checks statement 93: A removal during an interruption is known to the watch after it.
async fn remove_during_interruption(run: &CheckRun) -> CheckResult {
    let (client, mut watch) = start_watched_bucket(run).await?;
    client.disturb(Interrupt).await?;
    client.remove_surely("a").await?;
    watch.until_revision("a", None).await?;
    client.disturb(Interrupt).await?;
    client.remove_surely("c").await?;
    let last = client.write_surely("d", "created").await?;
    watch.until_revision("d", Some(last)).await?;
    watch.until_equal(&client.list_surely().await?).await?;
    expect_equal("the revision of a removed key", watch.revision("c"), None)
}

/// Checks statement 94: A deletion and a creation during an interruption leave the last state.
async fn recreate_during_interruption(run: &CheckRun) -> CheckResult {
    let (client, mut watch) = start_watched_bucket(run).await?;
    client.disturb(Interrupt).await?;
    client.remove_surely("b").await?;
    let created = client.write_surely("b", "created again").await?;
    watch.until_revision("b", Some(created)).await?;
    watch.until_equal(&client.list_surely().await?).await
}

/// Checks statement 95: A watch survives an interruption during its list.
async fn interrupt_during_list(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    client.fill("key-", 20).await?;
    // At first, the list has 22 events: `ListStarted`, 20 entries and `ListEnded`.
    for reads in [0, 1, 2, 10, 21, 22] {
        let mut watch = client.follow();
        for _ in 0..reads {
            drop(watch.next("an event of the list").await?);
        }
        client.disturb(Interrupt).await?;
        client.write_surely(&format!("next-{reads}"), "value").await?;
        client.remove_surely(&format!("key-{reads:05}")).await?;
        let expected = client.list_surely().await?;
        watch.until_equal(&expected).await?;
    }
    Ok(())
}

/// Checks statement 96: Each watch survives many interruptions during writes.
async fn interrupt_many_times(run: &CheckRun) -> CheckResult {
    let (client, mut watch) = start_watched_bucket(run).await?;
    let other = client.another().await?;
    // It is not read before the end.
    let mut unread = other.follow();
    for round in 0..10 {
        client.disturb(Interrupt).await?;
        for (position, key) in ["a", "b", "c", "d"].into_iter().enumerate() {
            // In each round another of the four keys is removed, and the others are written.
            if (round + position) % 4 == 0 {
                client.remove_surely(key).await?;
            } else {
                client.write_surely(key, &format!("round {round}")).await?;
            }
        }
        if round % 3 == 0 {
            watch.until_equal(&client.list_surely().await?).await?;
        }
    }
    let expected = client.list_surely().await?;
    watch.until_equal(&expected).await?;
    unread.until_equal(&expected).await
}

/// Checks statement 97: Calls succeed again after an interruption, with the same entries.
async fn call_after_interruption(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let expected = client.fill("key-", 10).await?;
    client.disturb(Interrupt).await?;
    let listed = client.list_surely().await?;
    expect(listed == expected, || format!("expected {}, seen {}", keys(&expected), keys(&listed)))?;
    client.write_surely("next", "value").await?;
    client.remove_surely("key-00000").await?;
    client.expect_absent("key-00000").await?;
    let other = client.another().await?;
    expect_equal("the number of entries", other.list().await?.len(), 10)
}

/// Checks statement 98: A removal that the store has forgotten is known to a watch that was interrupted.
async fn watch_after_dropped_tombstone(run: &CheckRun) -> CheckResult {
    let (client, mut watch) = start_watched_bucket(run).await?;
    client.disturb(Interrupt).await?;
    client.remove_surely("a").await?;
    client.disturb(DropTombstones).await?;
    let last = client.write_surely("d", "created").await?;
    watch.until_revision("d", Some(last)).await?;
    watch.until_equal(&client.list_surely().await?).await?;
    expect_equal("the revision of a removed key", watch.revision("a"), None)
}

/// Checks statement 99: A key whose removal is forgotten has no entry, and can be created but not replaced.
async fn create_after_dropped_tombstone(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let kept_revision = client.create("kept", "value").await?;
    let revision = client.create("a", "value").await?;
    let removal = client.remove("a", revision).await?;
    client.disturb(DropTombstones).await?;
    client.expect_absent("a").await?;
    for expected in [revision, removal, 0] {
        client.expect_put_conflict("a", Expected::Revision(expected)).await?;
        client.expect_remove_conflict("a", expected).await?;
    }
    expect_equal("the list of a watch", client.follow().list().await?.len(), 1)?;
    let created = client.create("a", "again").await?;
    client.expect_entry("a", "again", created).await?;
    client.expect_entry("kept", "value", kept_revision).await
}

/// Checks statement 100: Revisions increase after the removals are forgotten.
async fn increase_after_dropped_tombstones(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for removal in [Delete { key: "a".to_owned() }, Purge { key: "a".to_owned() }] {
        let mut last = client.create("a", "value").await?;
        client.disturb(removal).await?;
        client.disturb(DropTombstones).await?;
        for key in ["a", "b"] {
            let next = client.write_surely(key, &format!("after {last}")).await?;
            expect(next > last, || format!("expected a write after revision {last}, seen {next}"))?;
            last = next;
        }
        client.remove_surely("a").await?;
    }
    // The greatest revision is that of a removal whose tombstone is dropped.
    let created = client.create("c", "value").await?;
    let removal = client.remove("c", created).await?;
    client.disturb(DropTombstones).await?;
    let next = client.create("c", "value").await?;
    expect(next > removal, || format!("expected a write after the removal at {removal}, seen {next}"))
}

/// Checks statement 101: Entries and their revisions survive a restart.
async fn keep_entries_after_restart(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let mut expected = client.fill("key-", 10).await?;
    if let Some(entry) = expected.pop() {
        client.remove(&entry.key, entry.revision).await?;
    }
    client.disturb(Restart).await?;
    for reader in [&client, &client.another().await?] {
        let listed = reader.list_surely().await?;
        expect(listed == expected, || format!("expected {}, seen {}", keys(&expected), keys(&listed)))?;
    }
    let Some(entry) = expected.first() else { return failed("expected entries, seen none") };
    client.replace(&entry.key, "next", entry.revision).await.map(drop)
}

/// Checks statement 102: Writes after a restart have greater revisions than those before.
async fn increase_after_restart(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let revision = client.create("a", "value").await?;
    // The greatest revision is that of a removal.
    let removal = client.remove("a", revision).await?;
    client.disturb(Restart).await?;
    let next = client.write_surely("a", "again").await?;
    expect(next > removal, || format!("expected a write after revision {removal}, seen {next}"))
}

/// Checks statement 103: A watch survives a restart.
async fn continue_watch_after_restart(run: &CheckRun) -> CheckResult {
    let (client, mut watch) = start_watched_bucket(run).await?;
    client.disturb(Restart).await?;
    client.remove_surely("a").await?;
    let changed = client.write_surely("b", "changed").await?;
    watch.until_revision("b", Some(changed)).await?;
    watch.until_equal(&client.list_surely().await?).await?;
    let next = client.write_surely("next", "value").await?;
    // Reads the watch up to the event of this write. Errors and other events are ignored.
    loop {
        match watch.next("a write after the restart").await? {
            Ok(BucketEvent::Put(entry)) if entry.key == "next" => break,
            _ => {}
        }
    }
    watch.until_revision("next", Some(next)).await
}
