//! `BucketConformance`: builds and runs the conformance suite for one implementation of the trait `Bucket`.

use std::{any::type_name, fmt, sync::Arc};

use futures::future::BoxFuture;
use tokio::time::{Duration, timeout};

use super::{
    catalog::statements,
    deadline::{CheckResult, Obstacle, failed},
    report::BucketReport,
    statement::{CheckRun, Statement},
    subject::BucketSubject,
    thread,
};

/// The time that each check has by default.
const LIMIT: Duration = Duration::from_secs(10);

/// The time after its deadline in which a check ends by itself, unless a call blocks its thread.
const GRACE: Duration = Duration::from_secs(1);

/// Returns the suite for an implementation of [`Bucket`](opgen::bucket::Bucket). The [module](crate::bucket) lists what it checks.
///
/// `.await` runs it and returns the [report](BucketReport).
///
/// # Panics
/// The run panics outside a tokio runtime. The clock of the runtime must not be paused: the time of a check is real time.
pub fn conformance<S: BucketSubject>(subject: S) -> BucketConformance {
    BucketConformance { subject: Arc::new(subject), name: type_name::<S>(), limit: LIMIT, only: Vec::new() }
}

/// A run of the suite for an implementation of [`Bucket`](opgen::bucket::Bucket). `.await` starts it.
#[must_use = "`.await` runs the suite"]
pub struct BucketConformance {
    subject: Arc<dyn BucketSubject>,
    name: &'static str,
    limit: Duration,
    /// The statements to check; empty for all.
    only: Vec<u32>,
}

impl BucketConformance {
    /// Sets the time that the check of each statement has, 10 s by default. A check that has not ended by then is a finding.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Restricts the run to the statement of this number. Further calls add statements. By default, the run checks all statements.
    ///
    /// # Panics
    /// If there is no statement of this number.
    #[track_caller]
    pub fn statement(mut self, number: u32) -> Self {
        let exists = statements().any(|statement| statement.number == number);
        assert!(exists, "there is no statement B{number}; the statements are B1 to B{}", statements().count());
        self.only.push(number);
        self
    }

    /// Checks the selected statements one after the other, and reports the violations. A statement whose check needs a disturbance that the
    /// subject lacks is reported as skipped.
    async fn run(self) -> BucketReport {
        let Self { subject, name, limit, only } = self;
        let mut report = BucketReport::new(name);
        let is_chosen = |statement: &&'static Statement| only.is_empty() || only.contains(&statement.number);
        let chosen: Vec<&'static Statement> = statements().filter(is_chosen).collect();
        for statement in chosen {
            let result = check(subject.clone(), statement, limit).await;
            match result {
                Err(Obstacle::Unsupported(reason)) => {
                    report.add_skipped(statement.number, reason);
                    continue;
                }
                Err(Obstacle::Failed(problem)) => report.add_finding(statement.number, statement.text, problem),
                Ok(()) => {}
            }
            report.checked.push(statement.number);
        }
        report
    }
}

impl IntoFuture for BucketConformance {
    type Output = BucketReport;
    type IntoFuture = BoxFuture<'static, BucketReport>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for BucketConformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketConformance").field("subject", &self.name).finish_non_exhaustive()
    }
}

/// Runs the check of a statement on a thread of its own, and waits for the result until a second after the deadline. If a call of the
/// bucket blocks that thread, the suite reports a violation and goes on.
async fn check(subject: Arc<dyn BucketSubject>, statement: &'static Statement, limit: Duration) -> CheckResult {
    let spawned = thread::start(move || async move {
        let run = CheckRun::start(subject, limit);
        (statement.check)(&run).await
    });
    let receiver = match spawned {
        Ok(receiver) => receiver,
        Err(error) => return failed(format!("the test has no thread: {error}")),
    };
    match timeout(limit + GRACE, receiver).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => failed("expected a result of the check; its thread ended without one"),
        Err(_) => failed(format!("expected each call to return or to wait; one blocks its thread after {limit:?}")),
    }
}
