//! Figures of a queue, for metrics.

use std::time::Duration;

/// What is in a queue now, and what went through it since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Keys ready at low priority.
    pub low: usize,
    /// Keys ready at normal priority.
    pub normal: usize,
    /// Keys ready at high priority.
    pub high: usize,
    /// Keys that become ready later.
    pub delayed: usize,
    /// Keys with a worker.
    pub running: usize,
    /// Takers that wait for a key.
    pub idle: usize,
    /// Times a key became ready, or was added while it was with a worker; adds of a key that is ready don't count.
    pub added: u64,
    /// Keys handed out.
    pub taken: u64,
    /// How long all keys handed out had been ready, together.
    pub waited: Duration,
    /// The longest time a key that was handed out had been ready.
    pub longest_wait: Duration,
}

impl Stats {
    /// Keys that are ready.
    pub fn ready(&self) -> usize {
        self.low + self.normal + self.high
    }
}
