//! Checks conditional writes by one client at a time.

use opgen::bucket::Expected;

use super::{
    deadline::{CheckResult, expect, expect_equal},
    statement::{CheckRun, Statement},
    subject::BucketDisturbance,
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(28, "`put` with `Absent` creates an entry", |run| Box::pin(create_absent(run))),
    Statement::new(29, "`put` with `Absent` is a conflict if the key has an entry, which stays", |run| {
        Box::pin(refuse_to_create_present(run))
    }),
    Statement::new(30, "`put` with `Absent` creates an entry after a removal", |run| {
        Box::pin(create_after_removal(run))
    }),
    Statement::new(31, "`put` with `Absent` creates an entry after another client has deleted the key", |run| {
        Box::pin(create_after_deletion(run))
    }),
    Statement::new(32, "`put` with `Absent` creates an entry after another client has purged the key", |run| {
        Box::pin(create_after_purge(run))
    }),
    Statement::new(33, "`put` with the revision of the entry replaces it", |run| Box::pin(replace_current(run))),
    Statement::new(34, "`put` with an older revision is a conflict, and the entry stays", |run| {
        Box::pin(refuse_older_revision(run))
    }),
    Statement::new(35, "`put` with a revision that no write has yet is a conflict, and the entry stays", |run| {
        Box::pin(refuse_unknown_revision(run))
    }),
    Statement::new(36, "`put` with the revision of another key is a conflict, and both entries stay", |run| {
        Box::pin(refuse_revision_of_other_key(run))
    }),
    Statement::new(37, "`put` with any revision, also 0, is a conflict for a key that was never written", |run| {
        Box::pin(refuse_unwritten_key(run))
    }),
    Statement::new(38, "`put` with the revision of a removed entry or of its removal is a conflict", |run| {
        Box::pin(refuse_removed_key(run))
    }),
    Statement::new(
        39,
        "`put` with a revision is a conflict after another client has deleted or purged the key",
        |run| Box::pin(refuse_deleted_key(run)),
    ),
    Statement::new(40, "`put` with a revision is a conflict after another client has written the key", |run| {
        Box::pin(refuse_after_foreign_write(run))
    }),
    Statement::new(41, "A conflict makes no revision and no event of a watch", |run| {
        Box::pin(refuse_without_effect(run))
    }),
    Statement::new(42, "Writes of other keys are no conflict", |run| Box::pin(write_other_keys(run))),
];

/// Checks statement 28: `put` with `Absent` creates an entry.
async fn create_absent(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    client.expect_absent("a").await?;
    let revision = client.create("a", "value").await?;
    client.expect_entry("a", "value", revision).await
}

/// Checks statement 29: `put` with `Absent` is a conflict if the key has an entry, which stays.
async fn refuse_to_create_present(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut revision = client.create("a", "value").await?;
    for writer in [&client, &other] {
        writer.expect_put_conflict("a", Expected::Absent).await?;
        client.expect_entry("a", "value", revision).await?;
        // The next writer finds an entry that was replaced.
        revision = client.replace("a", "value", revision).await?;
    }
    other.expect_put_conflict("a", Expected::Absent).await?;
    client.expect_entry("a", "value", revision).await
}

/// Checks statement 30: `put` with `Absent` creates an entry after a removal.
async fn create_after_removal(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    for writer in [&client, &other] {
        let revision = client.create("a", "old").await?;
        client.remove("a", revision).await?;
        let created = writer.create("a", "new").await?;
        client.expect_entry("a", "new", created).await?;
        client.expect_put_conflict("a", Expected::Absent).await?;
        client.remove("a", created).await?;
    }
    Ok(())
}

/// Checks statement 31: `put` with `Absent` creates an entry after another client has deleted the key.
async fn create_after_deletion(run: &CheckRun) -> CheckResult {
    create_after_disturbance(run, |key| BucketDisturbance::Delete { key }).await
}

/// Checks statement 32: `put` with `Absent` creates an entry after another client has purged the key.
async fn create_after_purge(run: &CheckRun) -> CheckResult {
    create_after_disturbance(run, |key| BucketDisturbance::Purge { key }).await
}

/// Lets another client delete or purge a key with two revisions, by the disturbance that `removal` returns for the key. Expects that the
/// key has no entry then, and can be created once.
async fn create_after_disturbance(run: &CheckRun, removal: fn(String) -> BucketDisturbance) -> CheckResult {
    let client = run.client().await?;
    let first = client.create("a", "1").await?;
    client.replace("a", "2", first).await?;
    client.disturb(removal("a".to_owned())).await?;
    client.expect_absent("a").await?;
    let created = client.create("a", "3").await?;
    client.expect_entry("a", "3", created).await?;
    client.expect_put_conflict("a", Expected::Absent).await
}

/// Checks statement 33: `put` with the revision of the entry replaces it.
async fn replace_current(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut revision = client.create("a", "0").await?;
    for number in 1..10 {
        let writer = if number % 2 == 0 { &client } else { &other };
        revision = writer.replace("a", number.to_string(), revision).await?;
        client.expect_entry("a", number.to_string(), revision).await?;
    }
    Ok(())
}

/// Checks statement 34: `put` with an older revision is a conflict, and the entry stays.
async fn refuse_older_revision(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let first = client.create("a", "1").await?;
    let second = client.replace("a", "2", first).await?;
    let third = client.replace("a", "3", second).await?;
    for writer in [&client, &other] {
        for revision in [first, second] {
            writer.expect_put_conflict("a", Expected::Revision(revision)).await?;
            client.expect_entry("a", "3", third).await?;
        }
    }
    Ok(())
}

/// Checks statement 35: `put` with a revision that no write has yet is a conflict, and the entry stays.
async fn refuse_unknown_revision(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let revision = client.create("a", "value").await?;
    for later in [revision + 1, revision + 1000, u64::MAX / 2, u64::MAX] {
        client.expect_put_conflict("a", Expected::Revision(later)).await?;
        client.expect_entry("a", "value", revision).await?;
    }
    Ok(())
}

/// Checks statement 36: `put` with the revision of another key is a conflict, and both entries stay.
async fn refuse_revision_of_other_key(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let (revision_of_a, revision_of_ab) = (client.create("a", "of a").await?, client.create("a.b", "of a.b").await?);
    client.expect_put_conflict("a", Expected::Revision(revision_of_ab)).await?;
    client.expect_put_conflict("a.b", Expected::Revision(revision_of_a)).await?;
    client.expect_entry("a", "of a", revision_of_a).await?;
    client.expect_entry("a.b", "of a.b", revision_of_ab).await
}

/// Checks statement 37: `put` with any revision, also 0, is a conflict for a key that was never written.
async fn refuse_unwritten_key(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let revision = client.create("other", "value").await?;
    for expected in [0, 1, revision, revision + 1, u64::MAX] {
        client.expect_put_conflict("a", Expected::Revision(expected)).await?;
        client.expect_absent("a").await?;
    }
    Ok(())
}

/// Checks statement 38: `put` with the revision of a removed entry or of its removal is a conflict.
async fn refuse_removed_key(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let revision = client.create("a", "value").await?;
    let removal = client.remove("a", revision).await?;
    for expected in [revision, removal, removal + 1, 0] {
        client.expect_put_conflict("a", Expected::Revision(expected)).await?;
        client.expect_absent("a").await?;
    }
    Ok(())
}

/// Checks statement 39: `put` with a revision is a conflict after another client has deleted or purged the key.
async fn refuse_deleted_key(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let removals: [fn(String) -> BucketDisturbance; 2] =
        [|key| BucketDisturbance::Delete { key }, |key| BucketDisturbance::Purge { key }];
    for removal in removals {
        let revision = client.create("a", "value").await?;
        client.disturb(removal("a".to_owned())).await?;
        for expected in [revision, revision + 1, 0] {
            client.expect_put_conflict("a", Expected::Revision(expected)).await?;
            client.expect_absent("a").await?;
        }
    }
    Ok(())
}

/// Checks statement 40: `put` with a revision is a conflict after another client has written the key.
async fn refuse_after_foreign_write(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let revision = client.create("a", "own").await?;
    client.disturb(BucketDisturbance::Put { key: "a".to_owned(), value: b"foreign".to_vec() }).await?;
    client.expect_put_conflict("a", Expected::Revision(revision)).await?;
    client.expect_remove_conflict("a", revision).await?;
    let Some(entry) = client.get("a").await? else {
        // The two texts differ, so this is a violation.
        return expect_equal("get(\"a\") after a foreign write", "no entry", "an entry");
    };
    expect(entry.revision > revision, || {
        format!("expected a foreign write after revision {revision}, seen {}", entry.revision)
    })?;
    client.expect_entry("a", "foreign", entry.revision).await?;
    client.replace("a", "own again", entry.revision).await.map(drop)
}

/// Checks statement 41: A conflict makes no revision and no event of a watch.
async fn refuse_without_effect(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let first = client.create("a", "1").await?;
    let second = client.replace("a", "2", first).await?;
    let mut watch = client.follow();
    watch.list().await?;
    client.expect_put_conflict("a", Expected::Absent).await?;
    client.expect_put_conflict("a", Expected::Revision(first)).await?;
    client.expect_put_conflict("b", Expected::Revision(first)).await?;
    client.expect_remove_conflict("a", first).await?;
    client.expect_entry("a", "2", second).await?;
    // The first event of the watch must be that of this write.
    let next = client.replace("a", "3", second).await?;
    let event = watch.event("the write after the conflicts").await?;
    let expected = opgen::bucket::BucketEvent::Put(opgen::bucket::BucketEntry::new("a", "3", next));
    expect_equal("the event after the conflicts", event, expected)
}

/// Checks statement 42: Writes of other keys are no conflict.
async fn write_other_keys(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let revision = client.create("a", "1").await?;
    let revision_of_b = other.create("b", "1").await?;
    other.replace("b", "2", revision_of_b).await?;
    let next = client.replace("a", "2", revision).await?;
    other.create("a.c", "1").await?;
    client.remove("a", next).await?;
    client.expect_absent("a").await
}
