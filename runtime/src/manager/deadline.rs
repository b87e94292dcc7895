//! `Deadline`: the time until which a shutdown waits.

use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The end of a wait; `None` never comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    /// Returns the deadline after this time. A time beyond the range of the clock never comes.
    pub(super) fn after(timeout: Duration) -> Self {
        Self(Instant::now().checked_add(timeout))
    }

    /// Waits for some work until the deadline. Work that can end without waiting ends even after the deadline.
    pub(super) async fn wait_for<T>(self, work: impl Future<Output = T>) -> Option<T> {
        match self.0 {
            Some(deadline) => timeout_at(deadline, work).await.ok(),
            None => Some(work.await),
        }
    }
}
