//! Defines `Spread`, a distribution of measured times.

use std::{fmt, time::Duration};

/// Measured times in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Spread(Vec<Duration>);

impl FromIterator<Duration> for Spread {
    /// Sorts the times in ascending order.
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        let mut times: Vec<_> = times.into_iter().collect();
        times.sort();
        Self(times)
    }
}

impl Spread {
    /// Returns the smallest measured time that this percentage of the times does not exceed; `None` without times.
    pub fn percentile(&self, percent: usize) -> Option<Duration> {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied()
    }

    /// Returns the shortest time.
    pub fn min(&self) -> Option<Duration> {
        self.0.first().copied()
    }

    /// Returns the longest time.
    pub fn max(&self) -> Option<Duration> {
        self.0.last().copied()
    }

    /// Returns the number of times.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Spread {
    /// Displays the number of times, the shortest, the median, the 99th percentile and the longest; `none` without times.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(min), Some(p50), Some(p99), Some(max)) =
            (self.min(), self.percentile(50), self.percentile(99), self.max())
        else {
            return f.write_str("none");
        };
        let [min, p50, p99, max] = [min, p50, p99, max].map(|time| time.as_secs_f64());
        write!(f, "{} times, min {min:.3} s, p50 {p50:.3} s, p99 {p99:.3} s, max {max:.3} s", self.0.len())
    }
}
