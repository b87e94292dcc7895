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

/// Whether a client of NATS has had its connection. Clones share it.
///
/// The client would connect again by itself, and then send the messages that it has queued, at whatever age. So a write could be sent
/// long after the deadline of the lead. A client with this state has one connection, and what it has queued ends with it.
#[derive(Clone, Debug, Default)]
pub(super) struct SingleConnection(Arc<AtomicBool>);

impl SingleConnection {
    /// Records that the client is connected. It must be called before the client is used.
    pub(super) fn begin(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns the delay before an attempt to connect for the first time. `attempts` is the number of this attempt, from 1.
    ///
    /// The task of the client calls this before each attempt. After the first connection, this ends the task: it unwinds, without a
    /// message of the panic hook. The client has no function for that; by its own functions it sends the queued messages first.
    ///
    /// In a program whose panics abort, nothing can unwind. There the task waits for ever, so each lost connection costs the memory of one
    /// client until the program ends.
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
