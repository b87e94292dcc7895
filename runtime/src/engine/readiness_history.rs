//! `ReadinessHistory` records since when a child has not been ready.

use jiff::Timestamp;

/// Since when a child has not been ready, in its current desired state.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadinessHistory {
    /// Digest of the desired state.
    digest: Box<str>,
    /// `None` while the child is ready.
    unready_since: Option<Timestamp>,
}

impl ReadinessHistory {
    /// Records whether a child with this digest of its desired state is ready at `now`, and returns since when it has not been ready;
    /// `None` if it is ready. After a change of the desired state, the time begins at `now` again.
    ///
    /// `earlier` is the time since when the child has not been ready if `history` is empty, as after a restart of the operator.
    pub(crate) fn record(
        history: &mut Option<Self>,
        digest: &str,
        is_ready: bool,
        [earlier, now]: [Timestamp; 2],
    ) -> Option<Timestamp> {
        let start = match history {
            Some(last) if *last.digest == *digest => last.unready_since.unwrap_or(now),
            Some(_) => now,
            None => earlier,
        };
        let unready_since = (!is_ready).then_some(start);
        *history = Some(Self { digest: digest.into(), unready_since });
        unready_since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap_or_default()
    }

    #[test]
    fn the_wait_begins_when_the_child_stops_being_ready() {
        let mut history = None;
        let mut record = |is_ready, now| ReadinessHistory::record(&mut history, "a", is_ready, [at(1), at(now)]);
        assert_eq!(record(true, 10), None);
        assert_eq!(record(false, 20), Some(at(20)));
        assert_eq!(record(false, 30), Some(at(20)));
        assert_eq!(record(true, 40), None);
        assert_eq!(record(false, 50), Some(at(50)));
    }

    #[test]
    fn a_change_of_the_desired_state_begins_a_new_wait() {
        let mut history = None;
        let mut record = |digest, now| ReadinessHistory::record(&mut history, digest, false, [at(now), at(now)]);
        assert_eq!(record("a", 10), Some(at(10)));
        assert_eq!(record("b", 20), Some(at(20)));
        assert_eq!(record("b", 30), Some(at(20)));
    }

    #[test]
    fn the_wait_continues_after_a_restart() {
        assert_eq!(ReadinessHistory::record(&mut None, "a", false, [at(1), at(10)]), Some(at(1)));
    }
}
