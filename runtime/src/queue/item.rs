//! `Item`: a key that a worker took from the queue, with its priority and trigger.

use crate::queue::{Priority, Trigger};
use tokio::time::Instant;

/// A key that a worker took from the queue and holds until [`Queue::done`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Item<K> {
    /// The key.
    pub key: K,
    /// Its priority in the queue; a requeue should keep it.
    pub priority: Priority,
    /// The reason why it was in the queue.
    pub trigger: Trigger,
    /// The time when it became ready.
    pub since: Instant,
    /// The time when the worker took it.
    pub taken: Instant,
}
