//! Checks bucket calls whose futures are dropped before they complete: a write happens fully or not at all, and later calls work.

use futures::{FutureExt as _, future::BoxFuture};
use opgen::bucket::{BucketError, Expected};
use tokio::task::yield_now;

use super::{
    deadline::{CheckResult, expect, expect_equal},
    statement::{CheckRun, Statement},
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(113, "A dropped `put` leaves the old or the new value, and the key can be written again", |run| {
        Box::pin(drop_put(run))
    }),
    Statement::new(114, "A dropped `remove` leaves the entry or none, and the key can be written again", |run| {
        Box::pin(drop_remove(run))
    }),
    Statement::new(115, "A dropped creation leaves the value or no entry, and the key can be created again", |run| {
        Box::pin(drop_creation(run))
    }),
    Statement::new(116, "A dropped `get` or `list` disturbs no later call", |run| Box::pin(drop_reads(run))),
    Statement::new(117, "A dropped wait for the next event of a watch loses no event", |run| {
        Box::pin(drop_wait_for_event(run))
    }),
];

/// Polls the future of a call `polls` times, and drops it, also if it has not completed. So for each number of polls the call is abandoned
/// at another step.
async fn poll_and_drop<T>(mut call: BoxFuture<'_, Result<T, BucketError>>, polls: usize) {
    for _ in 0..polls {
        // The call has completed.
        if (&mut call).now_or_never().is_some() {
            return;
        }
        yield_now().await;
    }
}

/// Checks statement 113: A dropped `put` leaves the old or the new value, and the key can be written again.
async fn drop_put(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let mut watch = client.follow();
    watch.list().await?;
    for polls in 0..12 {
        let key = format!("key-{polls}");
        let revision = client.create(&key, "old").await?;
        let call = client.bucket.put(&key, b"new".to_vec(), Expected::Revision(revision));
        poll_and_drop(call, polls).await;
        let Some(entry) = client.get(&key).await? else {
            // The two texts differ, so this is a violation.
            return expect_equal("get after a dropped put", "no entry", "an entry");
        };
        // The write has happened fully, or not at all.
        let is_whole = (entry.value == b"old" && entry.revision == revision)
            || (entry.value == b"new" && entry.revision > revision);
        expect(is_whole, || format!("expected the old entry at {revision} or the new one, seen {entry:?}"))?;
        let next = client.write_surely(&key, "next").await?;
        client.expect_entry(&key, "next", next).await?;
        watch.until_revision(&key, Some(next)).await?;
    }
    watch.until_equal(&client.list().await?).await
}

/// Checks statement 114: A dropped `remove` leaves the entry or none, and the key can be written again.
async fn drop_remove(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for polls in 0..12 {
        let key = format!("key-{polls}");
        let revision = client.create(&key, "old").await?;
        poll_and_drop(client.bucket.remove(&key, revision), polls).await;
        if let Some(entry) = client.get(&key).await? {
            expect(entry.value == b"old" && entry.revision == revision, || {
                format!("expected the old entry at {revision} or none, seen {entry:?}")
            })?;
        }
        let next = client.write_surely(&key, "next").await?;
        client.expect_entry(&key, "next", next).await?;
    }
    client.follow().until_equal(&client.list().await?).await
}

/// Checks statement 115: A dropped creation leaves the value or no entry, and the key can be created again.
async fn drop_creation(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for polls in 0..12 {
        let key = format!("key-{polls}");
        poll_and_drop(client.bucket.put(&key, b"new".to_vec(), Expected::Absent), polls).await;
        if let Some(entry) = client.get(&key).await? {
            expect(entry.value == b"new", || format!("expected the new entry or none, seen {entry:?}"))?;
        }
        let next = client.write_surely(&key, "next").await?;
        client.expect_entry(&key, "next", next).await?;
    }
    client.follow().until_equal(&client.list().await?).await
}

/// Checks statement 116: A dropped `get` or `list` disturbs no later call.
async fn drop_reads(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let expected = client.fill("key-", 20).await?;
    for polls in 0..8 {
        poll_and_drop(client.bucket.get("key-00000"), polls).await;
        poll_and_drop(client.bucket.list(), polls).await;
        let key = format!("next-{polls}");
        let revision = client.create(&key, "value").await?;
        client.remove(&key, revision).await?;
    }
    expect_equal("list() after dropped reads", client.list().await?, expected)
}

/// Checks statement 117: A dropped wait for the next event of a watch loses no event.
async fn drop_wait_for_event(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    client.fill("key-", 5).await?;
    let mut watch = client.follow();
    watch.list().await?;
    for round in 0..20 {
        // Polls the wait for the next event once, and drops it.
        watch.poll_once()?;
        let revision = client.write_surely("a", &round.to_string()).await?;
        if round % 5 == 0 {
            watch.until_revision("a", Some(revision)).await?;
        }
    }
    watch.until_equal(&client.list().await?).await
}
