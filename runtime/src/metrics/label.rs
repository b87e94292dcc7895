//! `LabelCounts`: counters by a label value, with a bounded number of values.

use parking_lot::RwLock;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

/// The maximum number of distinct values of one label; all further values count as [`OTHER`].
pub(crate) const MAX_VALUES: usize = 50;

/// The value that stands for all values beyond the maximum.
pub(crate) const OTHER: &str = "other";

/// A counter for each value of a label.
#[derive(Debug, Default)]
pub(crate) struct LabelCounts {
    counts: RwLock<BTreeMap<Box<str>, AtomicU64>>,
    other: AtomicU64,
}

impl LabelCounts {
    /// Adds one to the counter of a label value. Once `MAX_VALUES` values have counters, further values share the counter of [`OTHER`].
    pub(crate) fn count(&self, value: &str) {
        if let Some(count) = self.counts.read().get(value) {
            count.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut counts = self.counts.write();
        // A value that is itself `other` has no counter of its own, so that the series exists once.
        let gets_counter = counts.len() < MAX_VALUES && value != OTHER;
        let count = match counts.get(value) {
            Some(count) => count,
            None if gets_counter => counts.entry(value.into()).or_default(),
            None => &self.other,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the values with their counts, and [`OTHER`] last.
    pub(crate) fn values(&self) -> Vec<(String, u64)> {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counts = self.counts.read();
        let by_value = counts.iter().map(|(value, count)| (value.to_string(), load(count)));
        by_value.chain([(OTHER.to_owned(), load(&self.other))]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_the_maximum_count_as_other() {
        let counts = LabelCounts::default();
        assert_eq!(counts.values(), [("other".to_owned(), 0)]);
        for _ in 0..2 {
            (0..MAX_VALUES + 5).for_each(|number| counts.count(&format!("reason-{number:03}")));
        }
        let values = counts.values();
        assert_eq!(values.len(), MAX_VALUES + 1);
        assert_eq!(values.first(), Some(&("reason-000".to_owned(), 2)));
        assert_eq!(values.last(), Some(&("other".to_owned(), 10)));
    }
}
