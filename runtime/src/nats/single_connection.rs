//! `SingleConnection`: ends a NATS client when its connection is lost, so that messages in its queue are never sent after a reconnect.

use super::backoff;
use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// A delay that outlives every process: a hundred years.
const FOR_EVER: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

/// Limits a client of NATS to a single connection: records whether it has been connected. Clones share the record.
///
/// After a lost connection, the client would connect again by itself and then send the messages in its queue, however old they are. A write
/// could then be sent after the deadline of leader election, when another replica already leads. So the client ends with its connection.
#[derive(Clone, Debug, Default)]
pub(super) struct SingleConnection(Arc<AtomicBool>);

impl SingleConnection {
    /// Records that the client is connected. It must be called before the client is used.
    pub(super) fn begin(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns the delay before an attempt to connect; `attempts` is the number of the attempt, from 1. The client's task calls this before
    /// each attempt. If the client has been connected before, the function ends the task instead.
    ///
    /// It ends the task by unwinding, which the panic hook does not report. The client has no function to end it without sending the queued
    /// messages first.
    ///
    /// In a program built with `panic = "abort"`, unwinding would abort the process. There the task waits forever instead, so each lost
    /// connection costs the memory of one client until the program ends.
    pub(super) fn delay(&self, attempts: usize) -> Duration {
        if self.0.load(Ordering::SeqCst) {
            if cfg!(panic = "abort") {
                return FOR_EVER;
            }
            resume_unwind(Box::new("the client of NATS has lost its connection"));
        }
        backoff::delay(attempts.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_connects_again_ends() {
        let connection = SingleConnection::default();
        assert_eq!(connection.delay(1), Duration::ZERO);
        connection.begin();
        let again = tokio::spawn(async move { connection.delay(1) }).await;
        assert!(again.is_err_and(|error| error.is_panic()));
    }
}
