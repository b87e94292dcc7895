//! Checks the revisions of bucket entries: they are positive, increase with each write of any key, and are the same in `put`, `get`,
//! `list` and watch.

use std::collections::BTreeSet;

use opgen::bucket::{BucketEntry, BucketEvent};

use super::{
    client::Client,
    deadline::{CheckResult, expect, expect_equal},
    statement::{CheckRun, Statement},
    thread::on_threads,
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(19, "The first revision of a bucket is positive", |run| Box::pin(start_positive(run))),
    Statement::new(20, "Each write has a greater revision than all writes before it, over all keys", |run| {
        Box::pin(increase_with_each_write(run))
    }),
    Statement::new(21, "A removal has a greater revision than all writes before it", |run| {
        Box::pin(increase_with_removal(run))
    }),
    Statement::new(22, "The revisions increase over all clients", |run| Box::pin(increase_over_clients(run))),
    Statement::new(23, "`get` returns the revision that `put` returned", |run| Box::pin(return_from_get(run))),
    Statement::new(24, "`list` returns the revision that `put` returned", |run| Box::pin(return_from_list(run))),
    Statement::new(25, "A watch delivers the revisions that `put` and `remove` returned", |run| {
        Box::pin(deliver_in_watch(run))
    }),
    Statement::new(26, "The writes of other keys do not change the revision of an entry", |run| {
        Box::pin(keep_revisions_of_other_keys(run))
    }),
    Statement::new(27, "No two concurrent writes have the same revision", |run| Box::pin(write_concurrently(run))),
];

/// Checks statement 19: The first revision of a bucket is positive.
async fn start_positive(run: &CheckRun) -> CheckResult {
    let revision = run.client().await?.create("a", "value").await?;
    expect(revision > 0, || format!("expected a positive revision, seen {revision}"))
}

/// Checks statement 20: Each write has a greater revision than all writes before it, over all keys.
async fn increase_with_each_write(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let mut last = client.create("a", "0").await?;
    for key in ["b", "c", "B", "z.z", "0"] {
        let created = client.create(key, "1").await?;
        expect(created > last, || format!("expected a creation of {key:?} after revision {last}, seen {created}"))?;
        last = client.replace(key, "2", created).await?;
        expect(last > created, || format!("expected a write of {key:?} after revision {created}, seen {last}"))?;
    }
    Ok(())
}

/// Checks statement 21: A removal has a greater revision than all writes before it.
async fn increase_with_removal(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let removed = client.create("a", "value").await?;
    let last = client.create("b", "value").await?;
    let removal = client.remove("a", removed).await?;
    expect(removal > last, || format!("expected a removal after revision {last}, seen {removal}"))?;
    for key in ["a", "c"] {
        let next = client.create(key, "value").await?;
        expect(next > removal, || format!("expected a write of {key:?} after removal {removal}, seen {next}"))?;
    }
    Ok(())
}

/// Checks statement 22: The revisions increase over all clients.
async fn increase_over_clients(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut last = 0;
    for number in 0..20 {
        let writer = if number % 3 == 0 { &other } else { &client };
        let revision = writer.create(&format!("key-{number}"), "value").await?;
        expect(revision > last, || format!("expected a write after revision {last}, seen {revision}"))?;
        last = revision;
    }
    Ok(())
}

/// Checks statement 23: `get` returns the revision that `put` returned.
async fn return_from_get(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    client.create("before", "value").await?;
    let first = client.create("a", "1").await?;
    for reader in [&client, &other] {
        expect_equal("get(\"a\")", reader.get("a").await?, Some(BucketEntry::new("a", "1", first)))?;
    }
    let second = client.replace("a", "2", first).await?;
    for reader in [&client, &other] {
        expect_equal("get(\"a\")", reader.get("a").await?, Some(BucketEntry::new("a", "2", second)))?;
    }
    Ok(())
}

/// Checks statement 24: `list` returns the revision that `put` returned.
async fn return_from_list(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let first = client.create("b", "1").await?;
    let other_key = client.create("a", "1").await?;
    let second = client.replace("b", "2", first).await?;
    let expected = vec![BucketEntry::new("a", "1", other_key), BucketEntry::new("b", "2", second)];
    for reader in [&client, &other] {
        expect_equal("list()", reader.list().await?, expected.clone())?;
    }
    Ok(())
}

/// Checks statement 25: A watch delivers the revisions that `put` and `remove` returned.
async fn deliver_in_watch(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let listed = client.create("a", "1").await?;
    let mut watch = client.follow();
    watch.list().await?;
    expect_equal("the revision in the list", watch.revision("a"), Some(listed))?;
    let changed = client.replace("a", "2", listed).await?;
    let put = BucketEvent::Put(BucketEntry::new("a", "2", changed));
    expect_equal("the event of a put", watch.event("the new value").await?, put)?;
    let removal = client.remove("a", changed).await?;
    let removed = BucketEvent::Removed { key: "a".to_owned(), revision: removal };
    expect_equal("the event of a removal", watch.event("the removal").await?, removed)
}

/// Checks statement 26: The writes of other keys do not change the revision of an entry.
async fn keep_revisions_of_other_keys(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let revision = client.create("a", "value").await?;
    let other = client.create("a.b", "value").await?;
    client.remove("a.b", other).await?;
    client.create("b", "value").await?;
    client.expect_entry("a", "value", revision).await?;
    let listed = client.follow().list().await?;
    let seen = listed.iter().find(|entry| entry.key == "a").map(|entry| entry.revision);
    expect_equal("the revision in the list of a watch", seen, Some(revision))
}

/// Checks statement 27: No two concurrent writes have the same revision.
async fn write_concurrently(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let writes = on_threads(run.deadline, 8, |thread| {
        create_keys(if thread % 2 == 0 { client.clone() } else { other.clone() }, thread)
    });
    let revisions: Vec<u64> = writes.await?.concat();
    let distinct: BTreeSet<u64> = revisions.iter().copied().collect();
    expect_equal("the number of different revisions", distinct.len(), revisions.len())
}

/// Creates eight keys whose names begin with the number of the thread, and returns their revisions. Fails unless they increase.
async fn create_keys(client: Client, thread: usize) -> CheckResult<Vec<u64>> {
    let mut revisions = Vec::new();
    for number in 0..8 {
        revisions.push(client.create(&format!("{thread}.{number}"), "value").await?);
    }
    let is_increasing = revisions.is_sorted_by(|earlier, later| earlier < later);
    expect(is_increasing, || format!("expected that the revisions of one client increase, seen {revisions:?}"))?;
    Ok(revisions)
}
