//! Checks that two buckets of one store are independent.

use opgen::bucket::Expected;

use super::{
    deadline::{CheckResult, expect, expect_equal},
    statement::{CheckRun, Statement},
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(104, "The entries of a bucket are in no other bucket", |run| Box::pin(separate_entries(run))),
    Statement::new(105, "A watch delivers no changes of another bucket", |run| Box::pin(separate_watches(run))),
    Statement::new(106, "Conditions depend on no other bucket", |run| Box::pin(separate_conditions(run))),
    Statement::new(107, "A bucket has a name, which is the same for each client", |run| {
        Box::pin(return_bucket_name(run))
    }),
];

/// Checks statement 104: The entries of a bucket are in no other bucket.
async fn separate_entries(run: &CheckRun) -> CheckResult {
    // Two clients, each of a new bucket.
    let (client, other) = (run.client().await?, run.client().await?);
    let revision = client.create("a", "of one").await?;
    other.expect_absent("a").await?;
    let other_revision = other.create("a", "of other").await?;
    client.expect_entry("a", "of one", revision).await?;
    other.expect_entry("a", "of other", other_revision).await?;
    client.remove("a", revision).await?;
    client.expect_absent("a").await?;
    other.expect_entry("a", "of other", other_revision).await
}

/// Checks statement 105: A watch delivers no changes of another bucket.
async fn separate_watches(run: &CheckRun) -> CheckResult {
    // Two clients, each of a new bucket.
    let (client, other) = (run.client().await?, run.client().await?);
    other.create("before", "value").await?;
    let mut watch = client.follow();
    expect_equal("the list of a watch of an empty bucket", watch.list().await?, Vec::new())?;
    let other_revision = other.create("a", "value").await?;
    other.remove("a", other_revision).await?;
    let revision = client.create("own", "value").await?;
    let event = watch.event("the write of its own bucket").await?;
    let expected = opgen::bucket::BucketEvent::Put(opgen::bucket::BucketEntry::new("own", "value", revision));
    expect_equal("the first change of the watch", event, expected)
}

/// Checks statement 106: Conditions depend on no other bucket.
async fn separate_conditions(run: &CheckRun) -> CheckResult {
    // Two clients, each of a new bucket.
    let (client, other) = (run.client().await?, run.client().await?);
    let mut last = client.create("a", "0").await?;
    for round in 0..5 {
        last = client.replace("a", round.to_string(), last).await?;
    }
    for revision in [last, 1] {
        other.expect_put_conflict("a", Expected::Revision(revision)).await?;
        other.expect_remove_conflict("a", revision).await?;
    }
    other.create("a", "value").await.map(drop)
}

/// Checks statement 107: A bucket has a name, which is the same for each client.
async fn return_bucket_name(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let (name, other_name) = (client.bucket.name(), other.bucket.name());
    expect(!name.trim().is_empty(), || format!("expected a name, seen {name:?}"))?;
    expect_equal("the name by another client", other_name, name)
}
