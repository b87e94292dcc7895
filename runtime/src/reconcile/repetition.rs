//! `Repetition`: counts equal reports of passes over an object, and decides which are logged: the first, and then every power of two.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The last reported outcome of an object, and how often it has been reported in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Repetition {
    /// Hash of the level, the reason and the message.
    report: u64,
    count: u32,
    pub(super) is_failure: bool,
}

/// Whether a report is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeated {
    /// It differs from the last one.
    Changed,
    /// It is the last one again, and has occurred so many times in a row.
    Times(u32),
    /// It is the last one again, and is not logged.
    Silent,
}

impl Repeated {
    /// Returns the number for the field `repeated` of a log line; `None` if the report is new.
    pub(super) fn times(self) -> Option<u32> {
        match self {
            Self::Times(times) => Some(times),
            Self::Changed | Self::Silent => None,
        }
    }
}

impl Repetition {
    /// Counts a report of a failure or a yield with this reason and message, and returns whether it is logged: if it differs from the last
    /// report, and when it has been equal 2, 4, 8, ... times in a row.
    pub(super) fn count(last: &mut Option<Self>, is_failure: bool, report: (&str, &str)) -> Repeated {
        let mut hasher = DefaultHasher::new();
        (is_failure, report).hash(&mut hasher);
        let report = hasher.finish();
        match last {
            Some(last) if last.report == report => {
                last.count = last.count.saturating_add(1);
                if last.count.is_power_of_two() { Repeated::Times(last.count) } else { Repeated::Silent }
            }
            last => {
                *last = Some(Self { report, count: 1, is_failure });
                Repeated::Changed
            }
        }
    }

    /// Returns how often the report has been counted.
    pub(super) fn times(self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_report_is_logged_at_powers_of_two_and_a_change_at_once() {
        let mut last = None;
        let mut count = |reason| Repetition::count(&mut last, true, (reason, "text"));
        let logged: Vec<_> = (1..=20).map(|_| count("A")).filter(|repeated| *repeated != Repeated::Silent).collect();
        let times = [2, 4, 8, 16].map(Repeated::Times);
        assert_eq!(logged, [&[Repeated::Changed], &times[..]].concat());
        assert_eq!((count("B"), count("B"), count("A")), (Repeated::Changed, Repeated::Times(2), Repeated::Changed));
    }

    #[test]
    fn a_yield_and_a_failure_with_one_text_differ() {
        let mut last = None;
        assert_eq!(Repetition::count(&mut last, false, ("A", "text")), Repeated::Changed);
        assert_eq!(Repetition::count(&mut last, true, ("A", "text")), Repeated::Changed);
        assert!(last.is_some_and(|last| last.is_failure && last.times() == 1));
    }
}
