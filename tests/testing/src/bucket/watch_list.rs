//! Checks the list at the start of a watch.

use opgen::bucket::{BucketEntry, BucketEvent};

use super::{
    deadline::{CheckResult, expect, expect_equal, failed},
    follower::{Follower, keys},
    statement::{CheckRun, Statement},
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(66, "A watch begins with `ListStarted`", |run| Box::pin(begin_with_list(run))),
    Statement::new(67, "The watch of an empty bucket delivers `ListStarted` and `ListEnded`", |run| {
        Box::pin(list_empty_bucket(run))
    }),
    Statement::new(68, "The list of a watch has each entry once, and ends with `ListEnded`", |run| {
        Box::pin(list_each_entry_once(run))
    }),
    Statement::new(69, "The list of a watch has the last value of each key", |run| Box::pin(list_last_values(run))),
    Statement::new(70, "The list of a watch has no removed keys", |run| Box::pin(list_without_removed_keys(run))),
    Statement::new(71, "The list of a watch includes all writes of each client that ended before", |run| {
        Box::pin(list_after_writes(run))
    }),
    Statement::new(72, "The list of a watch is complete with 2,000 entries", |run| Box::pin(list_many_entries(run))),
    Statement::new(
        73,
        "A watch of a bucket without removed entries delivers nothing after its list until a change",
        |run| Box::pin(deliver_nothing_without_change(run)),
    ),
];

/// Reads a new watch up to the end of its first list, and returns the entries of the list in the order in which they came. Fails if an
/// event is no part of a list.
async fn first_list(watch: &mut Follower) -> CheckResult<Vec<BucketEntry>> {
    let started = watch.event("`ListStarted` as the first event").await?;
    expect_equal("the first event", started, BucketEvent::ListStarted)?;
    let mut entries = Vec::new();
    loop {
        match watch.event("an entry or `ListEnded`").await? {
            BucketEvent::Put(entry) => entries.push(entry),
            BucketEvent::ListEnded => return Ok(entries),
            event => return failed(format!("expected only entries in the first list, seen {event:?}")),
        }
    }
}

/// Checks statement 66: A watch begins with `ListStarted`.
async fn begin_with_list(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    client.create("a", "value").await?;
    for _ in 0..3 {
        let first = client.follow().event("`ListStarted` as the first event").await?;
        expect_equal("the first event", first, BucketEvent::ListStarted)?;
    }
    Ok(())
}

/// Checks statement 67: The watch of an empty bucket delivers `ListStarted` and `ListEnded`.
async fn list_empty_bucket(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    expect_equal("the list of a new bucket", first_list(&mut client.follow()).await?, Vec::new())?;
    let revision = client.create("a", "value").await?;
    client.remove("a", revision).await?;
    let listed = first_list(&mut client.follow()).await?;
    expect_equal("the list after the removal of all entries", listed, Vec::new())
}

/// Checks statement 68: The list of a watch has each entry once, and ends with `ListEnded`.
async fn list_each_entry_once(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let expected = client.fill("key-", 30).await?;
    let mut listed = first_list(&mut client.follow()).await?;
    listed.sort_by(|left, right| left.key.cmp(&right.key));
    expect(listed == expected, || format!("expected {}, seen {}", keys(&expected), keys(&listed)))
}

/// Checks statement 69: The list of a watch has the last value of each key.
async fn list_last_values(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut expected = Vec::new();
    for key in ["a", "b", "c"] {
        let mut revision = client.create(key, "first").await?;
        for round in 0..10 {
            revision = other.replace(key, format!("{key} {round}"), revision).await?;
        }
        expected.push(BucketEntry::new(key, format!("{key} 9"), revision));
    }
    let mut listed = first_list(&mut client.follow()).await?;
    listed.sort_by(|left, right| left.key.cmp(&right.key));
    expect_equal("the list of a watch", listed, expected)
}

/// Checks statement 70: The list of a watch has no removed keys.
async fn list_without_removed_keys(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut expected = Vec::new();
    for (number, entry) in client.fill("key-", 20).await?.into_iter().enumerate() {
        if number % 3 == 0 {
            client.remove(&entry.key, entry.revision).await?;
        } else {
            expected.push(entry);
        }
    }
    for watcher in [&client, &other] {
        let mut listed = first_list(&mut watcher.follow()).await?;
        listed.sort_by(|left, right| left.key.cmp(&right.key));
        expect(listed == expected, || format!("expected {}, seen {}", keys(&expected), keys(&listed)))?;
    }
    Ok(())
}

/// Checks statement 71: The list of a watch includes all writes of each client that ended before.
async fn list_after_writes(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    for round in 0..20 {
        let (writer, watcher) = if round % 2 == 0 { (&client, &other) } else { (&other, &client) };
        let key = format!("key-{round:02}");
        let revision = writer.create(&key, "value").await?;
        let listed = first_list(&mut watcher.follow()).await?;
        let seen = listed.iter().find(|entry| entry.key == key).map(|entry| entry.revision);
        expect_equal(&format!("the revision of {key:?} in the list of a new watch"), seen, Some(revision))?;
    }
    Ok(())
}

/// Checks statement 72: The list of a watch is complete with 2,000 entries.
async fn list_many_entries(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let expected = client.fill("key-", 2_000).await?;
    let listed = client.follow().list().await?;
    expect(listed == expected, || format!("expected {}, seen {}", keys(&expected), keys(&listed)))
}

/// Checks statement 73: A watch of a bucket without removed entries delivers nothing after its list until a change.
async fn deliver_nothing_without_change(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    client.fill("key-", 5).await?;
    let mut watch = client.follow();
    watch.list().await?;
    watch.expect_silence(tokio::time::Duration::from_millis(150)).await?;
    let revision = client.create("next", "value").await?;
    let event = watch.event("the next change").await?;
    expect_equal("the event after a silence", event, BucketEvent::Put(BucketEntry::new("next", "value", revision)))
}
