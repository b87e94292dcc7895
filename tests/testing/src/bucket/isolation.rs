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
    let (one, other) = (run.client().await?, run.client().await?);
    let of_one = one.create("a", "of one").await?;
    other.expect_absent("a").await?;
    let of_other = other.create("a", "of other").await?;
    one.expect_entry("a", "of one", of_one).await?;
    other.expect_entry("a", "of other", of_other).await?;
    one.remove("a", of_one).await?;
    one.expect_absent("a").await?;
    other.expect_entry("a", "of other", of_other).await
}

/// Checks statement 105: A watch delivers no changes of another bucket.
async fn separate_watches(run: &CheckRun) -> CheckResult {
    let (one, other) = (run.client().await?, run.client().await?);
    other.create("before", "value").await?;
    let mut watch = one.follow();
    expect_equal("the list of a watch of an empty bucket", watch.list().await?, Vec::new())?;
    let of_other = other.create("a", "value").await?;
    other.remove("a", of_other).await?;
    let revision = one.create("own", "value").await?;
    let event = watch.event("the write of its own bucket").await?;
    let expected = opgen::bucket::BucketEvent::Put(opgen::bucket::BucketEntry::new("own", "value", revision));
    expect_equal("the first change of the watch", event, expected)
}

/// Checks statement 106: Conditions depend on no other bucket.
async fn separate_conditions(run: &CheckRun) -> CheckResult {
    let (one, other) = (run.client().await?, run.client().await?);
    let mut of_one = one.create("a", "0").await?;
    for round in 0..5 {
        of_one = one.replace("a", round.to_string(), of_one).await?;
    }
    for revision in [of_one, 1] {
        other.expect_put_conflict("a", Expected::Revision(revision)).await?;
        other.expect_remove_conflict("a", revision).await?;
    }
    other.create("a", "value").await.map(drop)
}

/// Checks statement 107: A bucket has a name, which is the same for each client.
async fn return_bucket_name(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let (name, of_other) = (client.bucket.name(), other.bucket.name());
    expect(!name.trim().is_empty(), || format!("expected a name, seen {name:?}"))?;
    expect_equal("the name by another client", of_other, name)
}
