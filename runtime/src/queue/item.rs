//! `Item`: a key that the queue handed to a worker.

use crate::queue::{Priority, Trigger};
use tokio::time::Instant;

/// A key that was handed out. It is with its worker until [`Queue::done`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Item<K> {
    /// The key.
    pub key: K,
    /// The priority it had; a requeue should keep it [M45].
    pub priority: Priority,
    /// Why it was in the queue.
    pub trigger: Trigger,
    /// When it became ready.
    pub since: Instant,
}
