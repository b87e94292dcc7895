//! `Stats`: the length and the totals of a queue, for metrics.

use std::time::Duration;

/// The current length of a queue, and its totals since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of ready keys with low priority.
    pub low: usize,
    /// The number of ready keys with normal priority.
    pub normal: usize,
    /// The number of ready keys with high priority.
    pub high: usize,
    /// The number of keys that become ready later.
    pub delayed: usize,
    /// The number of keys that workers hold.
    pub running: usize,
    /// The number of takers that wait for a key.
    pub idle: usize,
    /// The number of times that a key became ready, or was added while a worker held it. Adds of a ready key don't count.
    pub added: u64,
    /// The number of keys that workers took.
    pub taken: u64,
    /// The total time that the taken keys had been ready.
    pub waited: Duration,
    /// The longest time that a taken key had been ready.
    pub longest_wait: Duration,
}

impl Stats {
    /// Returns the number of ready keys.
    pub fn ready(&self) -> usize {
        self.low + self.normal + self.high
    }
}
