//! `Statement`: a rule for buckets with the function that checks it. `CheckRun`: the bucket implementation under test and the deadline of
//! one check.

use std::sync::Arc;

use futures::future::LocalBoxFuture;
use tokio::time::Duration;

use super::{
    client::Client,
    deadline::{CheckResult, Deadline, Obstacle},
    subject::BucketSubject,
};

/// A check of a statement.
pub(super) type StatementCheck = for<'a> fn(&'a CheckRun) -> LocalBoxFuture<'a, CheckResult>;

/// A sentence about buckets, and its check.
pub(super) struct Statement {
    pub(super) number: u32,
    pub(super) text: &'static str,
    pub(super) check: StatementCheck,
}

impl Statement {
    pub(super) const fn new(number: u32, text: &'static str, check: StatementCheck) -> Self {
        Self { number, text, check }
    }
}

/// A run of a check: the subject, and the time until which it must end.
pub(super) struct CheckRun {
    subject: Arc<dyn BucketSubject>,
    pub(super) deadline: Deadline,
}

impl CheckRun {
    /// Starts the time of a check.
    pub(super) fn start(subject: Arc<dyn BucketSubject>, limit: Duration) -> Self {
        Self { subject, deadline: Deadline::after(limit) }
    }

    /// Creates a bucket, and returns a client of it.
    pub(super) async fn client(&self) -> CheckResult<Client> {
        let store = self.deadline.within("`create`", self.subject.create()).await?;
        let store = store.map_err(|error| Obstacle::Failed(format!("`create` fails: {error}")))?;
        Client::connect(&store, self.deadline).await
    }

    /// Creates a bucket, and returns two clients of it, each with a connection of its own.
    pub(super) async fn two_clients(&self) -> CheckResult<(Client, Client)> {
        let client = self.client().await?;
        let other = client.another().await?;
        Ok((client, other))
    }
}
