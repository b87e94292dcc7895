//! `Deadline`: the time until which a shutdown waits.

use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The time at which a wait ends; with `None`, it never ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    /// Returns the deadline after this time. A time beyond the range of the clock never comes.
    pub(super) fn after(timeout: Duration) -> Self {
        Self(Instant::now().checked_add(timeout))
    }

    /// Runs a future until the deadline, and returns its output; `None` if the deadline passes first. The future is polled before the
    /// clock is checked, so one that is ready at once completes even after the deadline.
    pub(super) async fn wait_for<T>(self, work: impl Future<Output = T>) -> Option<T> {
        match self.0 {
            Some(deadline) => timeout_at(deadline, work).await.ok(),
            None => Some(work.await),
        }
    }
}
