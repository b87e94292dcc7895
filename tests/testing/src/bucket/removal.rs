//! Checks `remove`: conflicts by revision, repeated removals, and removals by other clients.

use opgen::bucket::{BucketEvent, Expected};

use super::{
    deadline::{CheckResult, expect, expect_equal},
    statement::{CheckRun, Statement},
    subject::BucketDisturbance,
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(48, "A removed key has no entry", |run| Box::pin(remove_key(run))),
    Statement::new(
        49,
        "`remove` with another revision than that of the entry is a conflict, and the entry stays",
        |run| Box::pin(remove_with_other_revision(run)),
    ),
    Statement::new(50, "A second `remove` is a conflict", |run| Box::pin(remove_twice(run))),
    Statement::new(51, "`remove` of a key that was never written is a conflict with any revision, also 0", |run| {
        Box::pin(remove_unwritten_key(run))
    }),
    Statement::new(52, "`remove` changes no other key", |run| Box::pin(keep_other_keys(run))),
    Statement::new(53, "A key can be created and removed many times", |run| {
        Box::pin(create_and_remove_repeatedly(run))
    }),
    Statement::new(54, "A key that another client has deleted or purged has no entry", |run| {
        Box::pin(removed_by_other_client(run))
    }),
    Statement::new(55, "`remove` is a conflict after another client has deleted or purged the key", |run| {
        Box::pin(remove_after_other_client(run))
    }),
];

/// Checks statement 48: A removed key has no entry.
async fn remove_key(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let first = client.create("a", "1").await?;
    let second = client.replace("a", "2", first).await?;
    let removal = client.remove("a", second).await?;
    expect(removal > second, || format!("expected a removal after revision {second}, seen {removal}"))?;
    for reader in [&client, &other] {
        reader.expect_absent("a").await?;
    }
    Ok(())
}

/// Checks statement 49: `remove` with another revision than that of the entry is a conflict, and the entry stays.
async fn remove_with_other_revision(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let first = client.create("a", "1").await?;
    let revision_of_b = client.create("b", "1").await?;
    let second = client.replace("a", "2", first).await?;
    for revision in [first, revision_of_b, second + 1, u64::MAX, 0] {
        client.expect_remove_conflict("a", revision).await?;
        client.expect_entry("a", "2", second).await?;
    }
    client.remove("a", second).await.map(drop)
}

/// Checks statement 50: A second `remove` is a conflict.
async fn remove_twice(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let revision = client.create("a", "value").await?;
    let removal = client.remove("a", revision).await?;
    for writer in [&client, &other] {
        for expected in [revision, removal, removal + 1, 0] {
            writer.expect_remove_conflict("a", expected).await?;
        }
    }
    client.create("a", "again").await.map(drop)
}

/// Checks statement 51: `remove` of a key that was never written is a conflict with any revision, also 0.
async fn remove_unwritten_key(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let revision = client.create("other", "value").await?;
    for expected in [0, 1, revision, revision + 1, u64::MAX] {
        client.expect_remove_conflict("a", expected).await?;
    }
    client.expect_absent("a").await?;
    client.create("a", "value").await.map(drop)
}

/// Checks statement 52: `remove` changes no other key.
async fn keep_other_keys(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let mut created = Vec::new();
    for key in ["a", "a.b", "a.b.c", "ab", "A", "b.a", "_claim.a"] {
        created.push((key, client.create(key, key).await?));
    }
    if let Some((key, revision)) = created.first() {
        client.remove(key, *revision).await?;
    }
    for (key, revision) in created.iter().skip(1) {
        client.expect_entry(key, *key, *revision).await?;
    }
    expect_equal("the number of entries", client.list().await?.len(), created.len() - 1)
}

/// Checks statement 53: A key can be created and removed many times.
async fn create_and_remove_repeatedly(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut watch = client.follow();
    watch.list().await?;
    let mut last = 0;
    for round in 0..20 {
        let (creator, remover) = if round % 2 == 0 { (&client, &other) } else { (&other, &client) };
        let created = creator.create("a", format!("round {round}")).await?;
        remover.expect_entry("a", format!("round {round}"), created).await?;
        let removal = remover.remove("a", created).await?;
        expect(last < created && created < removal, || {
            format!("expected increasing revisions, seen {last}, {created} and {removal}")
        })?;
        creator.expect_absent("a").await?;
        last = removal;
    }
    let created = client.create("a", "end").await?;
    watch.until_revision("a", Some(created)).await
}

/// Checks statement 54: A key that another client has deleted or purged has no entry.
async fn removed_by_other_client(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let removals = [
        BucketDisturbance::Delete { key: "a".to_owned() },
        BucketDisturbance::Purge { key: "a".to_owned() },
        BucketDisturbance::Delete { key: "a".to_owned() },
    ];
    let kept_revision = client.create("a.b", "kept").await?;
    for removal in removals {
        let revision = client.create("a", "1").await?;
        client.replace("a", "2", revision).await?;
        client.disturb(removal).await?;
        client.expect_absent("a").await?;
        other.expect_absent("a").await?;
        let listed = other.follow().list().await?;
        expect_equal("the number of entries in the list of a watch", listed.len(), 1)?;
    }
    client.expect_entry("a.b", "kept", kept_revision).await
}

/// Checks statement 55: `remove` is a conflict after another client has deleted or purged the key.
async fn remove_after_other_client(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let removals =
        [BucketDisturbance::Delete { key: "a".to_owned() }, BucketDisturbance::Purge { key: "a".to_owned() }];
    for removal in removals {
        let revision = client.create("a", "value").await?;
        let mut watch = client.follow();
        watch.list().await?;
        client.disturb(removal).await?;
        let removal = match watch.event("the removal by another client").await? {
            BucketEvent::Removed { revision, .. } => revision,
            // Another check reports a wrong event. Here any later revision will do.
            _ => revision + 1,
        };
        for expected in [revision, removal, 0] {
            client.expect_remove_conflict("a", expected).await?;
            client.expect_put_conflict("a", Expected::Revision(expected)).await?;
        }
    }
    Ok(())
}
