//! Checks that a watch of a bucket, after its first list, delivers the writes and removals of all clients.

use opgen::bucket::{BucketEntry, BucketEvent};

use super::{
    client::Client,
    deadline::{CheckResult, expect_equal, failed},
    follower::Follower,
    statement::{CheckRun, Statement},
    subject::BucketDisturbance,
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(74, "A watch delivers the writes of other clients", |run| Box::pin(deliver_writes_of_others(run))),
    Statement::new(75, "A watch delivers the writes of its own client", |run| Box::pin(deliver_own_writes(run))),
    Statement::new(76, "A watch delivers the changes of different keys in the order of their revisions", |run| {
        Box::pin(deliver_in_revision_order(run))
    }),
    Statement::new(77, "A watch delivers removals by its own client and by others", |run| {
        Box::pin(deliver_removals(run))
    }),
    Statement::new(78, "A watch delivers deletions and purges by other clients, whatever the revision is", |run| {
        Box::pin(deliver_foreign_removals(run))
    }),
    Statement::new(79, "A watch delivers writes by other clients, whatever the revision is", |run| {
        Box::pin(deliver_foreign_writes(run))
    }),
    Statement::new(80, "A key that is created again after its removal is delivered again", |run| {
        Box::pin(deliver_recreations(run))
    }),
    Statement::new(81, "The last of many quick changes of a key is delivered", |run| Box::pin(deliver_last_value(run))),
    Statement::new(82, "A removal after many quick changes of a key is delivered", |run| {
        Box::pin(deliver_last_removal(run))
    }),
];

/// Starts a watch, and returns it after its first list.
async fn start_watch(client: &Client) -> CheckResult<Follower> {
    let mut watch = client.follow();
    watch.list().await?;
    Ok(watch)
}

/// Expects that a watch of the client `watcher` delivers a new value and a new key that the client `writer` writes, each as the next event.
async fn expect_changes(writer: &Client, watcher: &Client) -> CheckResult {
    let listed_revision = writer.create("listed", "1").await?;
    let mut watch = start_watch(watcher).await?;
    let changed = writer.replace("listed", "2", listed_revision).await?;
    let expected = BucketEvent::Put(BucketEntry::new("listed", "2", changed));
    expect_equal("the event of a new value", watch.event("a new value").await?, expected)?;
    let created = writer.create("created", "3").await?;
    let expected = BucketEvent::Put(BucketEntry::new("created", "3", created));
    expect_equal("the event of a creation", watch.event("a created entry").await?, expected)
}

/// Checks statement 74: A watch delivers the writes of other clients.
async fn deliver_writes_of_others(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    expect_changes(&other, &client).await
}

/// Checks statement 75: A watch delivers the writes of its own client.
async fn deliver_own_writes(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    expect_changes(&client, &client).await
}

/// Checks statement 76: A watch delivers the changes of different keys in the order of their revisions.
async fn deliver_in_revision_order(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut watch = start_watch(&client).await?;
    let mut written = Vec::new();
    // The keys are not written in alphabetical order, so that the order of the events can't be that of the keys.
    for number in (0..30).rev() {
        let writer = if number % 2 == 0 { &client } else { &other };
        let key = format!("key-{:02}", (number * 7) % 30);
        let revision = writer.create(&key, "value").await?;
        written.push(BucketEntry::new(key, "value", revision));
    }
    for expected in written {
        let event = watch.event("the next change").await?;
        expect_equal("the next change", event, BucketEvent::Put(expected))?;
    }
    Ok(())
}

/// Expects that the next event is the removal of a key, and returns the revision of the removal.
async fn expect_removed(watch: &mut Follower, key: &str) -> CheckResult<u64> {
    match watch.event(&format!("the removal of key {key:?}")).await? {
        BucketEvent::Removed { key: removed, revision } => {
            expect_equal("the key of the removal", removed.as_str(), key)?;
            Ok(revision)
        }
        event => failed(format!("expected the removal of key {key:?}, seen {event:?}")),
    }
}

/// Checks statement 77: A watch delivers removals by its own client and by others.
async fn deliver_removals(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    for writer in [&client, &other] {
        let (revision_of_a, revision_of_b) = (client.create("a", "value").await?, client.create("b", "value").await?);
        let mut watch = start_watch(&client).await?;
        let removal = writer.remove("a", revision_of_a).await?;
        expect_equal("the revision of the removal", expect_removed(&mut watch, "a").await?, removal)?;
        expect_equal("the entries of the watch", watch.entries().len(), 1)?;
        let removal = writer.remove("b", revision_of_b).await?;
        expect_equal("the revision of the removal", expect_removed(&mut watch, "b").await?, removal)?;
    }
    Ok(())
}

/// Checks statement 78: A watch delivers deletions and purges by other clients, whatever the revision is.
async fn deliver_foreign_removals(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let removals =
        [BucketDisturbance::Delete { key: "a".to_owned() }, BucketDisturbance::Purge { key: "a".to_owned() }];
    for removal in removals {
        client.create("a", "value").await?;
        let mut watch = start_watch(&client).await?;
        client.disturb(removal).await?;
        expect_removed(&mut watch, "a").await?;
        let created = client.create("a", "again").await?;
        watch.until_revision("a", Some(created)).await?;
        client.remove("a", created).await?;
    }
    Ok(())
}

/// Checks statement 79: A watch delivers writes by other clients, whatever the revision is.
async fn deliver_foreign_writes(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let revision = client.create("a", "own").await?;
    let mut watch = start_watch(&client).await?;
    for key in ["a", "b"] {
        client.disturb(BucketDisturbance::Put { key: key.to_owned(), value: b"foreign".to_vec() }).await?;
        match watch.event("the write of another client").await? {
            BucketEvent::Put(entry) if entry.key == key && entry.value == b"foreign" && entry.revision > revision => {}
            event => return failed(format!("expected a put of key {key:?} after {revision}, seen {event:?}")),
        }
    }
    watch.until_equal(&client.list().await?).await
}

/// Checks statement 80: A key that is created again after its removal is delivered again.
async fn deliver_recreations(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut revision = client.create("a", "0").await?;
    let mut watch = start_watch(&client).await?;
    for round in 1..10 {
        let removal = other.remove("a", revision).await?;
        expect_equal("the revision of the removal", expect_removed(&mut watch, "a").await?, removal)?;
        revision = client.create("a", round.to_string()).await?;
        let expected = BucketEvent::Put(BucketEntry::new("a", round.to_string(), revision));
        expect_equal("the event of the next creation", watch.event("the next creation").await?, expected)?;
    }
    Ok(())
}

/// Checks statement 81: The last of many quick changes of a key is delivered.
async fn deliver_last_value(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut watch = start_watch(&client).await?;
    let mut revision = other.create("a", "0").await?;
    let revision_of_b = other.create("b", "value").await?;
    for round in 1..=300 {
        revision = other.replace("a", round.to_string(), revision).await?;
    }
    watch.until_revision("a", Some(revision)).await?;
    let expected = vec![BucketEntry::new("a", "300", revision), BucketEntry::new("b", "value", revision_of_b)];
    expect_equal("the entries of the watch", watch.entries(), expected)
}

/// Checks statement 82: A removal after many quick changes of a key is delivered.
async fn deliver_last_removal(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut revision = other.create("a", "0").await?;
    let mut watch = start_watch(&client).await?;
    for round in 1..=100 {
        revision = other.replace("a", round.to_string(), revision).await?;
    }
    other.remove("a", revision).await?;
    let next = other.create("b", "value").await?;
    watch.until_revision("b", Some(next)).await?;
    expect_equal("the entries of the watch", watch.entries(), vec![BucketEntry::new("b", "value", next)])
}
