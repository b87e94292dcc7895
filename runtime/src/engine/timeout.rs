//! Reports objects that have not been ready for longer than the option `timeout` of their node allows.

use crate::{
    cache::Header,
    engine::{child::Child, owner_state::BuiltObject, pass::PassCore, readiness_history::ReadinessHistory},
    informer::watch::WatchedKind,
    readiness::Readiness,
    shape::{ResourceOptions, duration_text},
};
use jiff::Timestamp;
use std::time::Duration;

impl PassCore<'_> {
    /// Records whether an object of a node with the option `timeout` is ready. If the object has not been ready for this time, adds a
    /// sentence for the status conditions to the side effects of the pass. Does nothing for a node without the option, and for an object
    /// that the cache does not have yet.
    pub(crate) fn check_timeout(
        &self,
        node: &str,
        options: ResourceOptions,
        children: &WatchedKind<Child>,
        built: &BuiltObject,
        readiness: &Readiness,
    ) {
        let Some(timeout) = options.timeout else { return };
        let Some(entry) = children.store.get(&built.key) else { return };
        let (kind, is_ready, now) = (&children.kind, *readiness == Readiness::Ready, self.shared.environment.now());
        let times = [self.unready_since_restart(&entry.header, now), now];
        let record =
            |history: &mut Option<ReadinessHistory>| ReadinessHistory::record(history, &built.digest, is_ready, times);
        let unready_since = self.owner_states().update_readiness(&self.owner, kind, &entry.header, record);
        if unready_since.is_some_and(|since| has_elapsed(timeout, since, now)) {
            let reason = if let Readiness::HeldUp(reason) = readiness { format!(": {reason}") } else { String::new() };
            let (key, timeout) = (&built.key, duration_text(timeout));
            let message = format!("{node}: {kind} {key} has not been ready for {timeout}{reason}");
            self.side_effects().timeouts.insert(message);
        }
    }

    /// Returns since when a child has not been ready, for a child that this process observes for the first time: since its creation or
    /// since the stored status reports the owner as not available, whichever is later. Returns `now` if the owner is available.
    fn unready_since_restart(&self, child: &Header, now: Timestamp) -> Timestamp {
        let Some(unavailable_since) = self.unavailable_since else { return now };
        child.created.map_or(unavailable_since, |created| created.max(unavailable_since)).min(now)
    }
}

/// Returns whether the time between `since` and `now` is at least `timeout`.
fn has_elapsed(timeout: Duration, since: Timestamp, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(since)).is_ok_and(|elapsed| elapsed >= timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_elapses_after_its_time_and_never_while_the_clock_is_behind() {
        let [start, end] = [600, 1_200].map(|second| Timestamp::from_second(second).unwrap_or_default());
        assert!(has_elapsed(Duration::from_secs(600), start, end));
        assert!(!has_elapsed(Duration::from_secs(601), start, end));
        assert!(!has_elapsed(Duration::from_secs(1), end, start));
        assert!(!has_elapsed(Duration::MAX, Timestamp::MIN, Timestamp::MAX));
    }
}
