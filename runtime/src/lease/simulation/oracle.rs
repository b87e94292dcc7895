//! Checks each write in a simulated leader election, in the order of the server, against the last holder of the Lease.

use parking_lot::Mutex;
use std::sync::Arc;
use tokio::time::Instant;

/// The result of a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// The number of writes of leaders.
    pub(super) writes: u64,
    /// The number of times that the holder of the Lease changed to a candidate.
    pub(super) terms: u64,
    pub(super) violation: Option<String>,
    holder: Option<String>,
}

/// Shared by all connections of a schedule.
#[derive(Clone, Debug, Default)]
pub(super) struct Oracle(Arc<Mutex<Report>>);

impl Oracle {
    /// Records that the server stored the Lease with this holder, or without one, and counts a term if another candidate became the holder.
    pub(super) fn on_lease(&self, holder: Option<&str>) {
        let mut report = self.0.lock();
        if report.holder.as_deref() != holder {
            report.terms += u64::from(holder.is_some());
            report.holder = holder.map(str::to_owned);
        }
    }

    /// Records that the server executed a write of a worker of this candidate. It is a violation if the candidate does not hold the Lease.
    pub(super) fn on_write(&self, candidate: &str) {
        let mut report = self.0.lock();
        report.writes += 1;
        if report.holder.as_deref() != Some(candidate) && report.violation.is_none() {
            let (holder, now) = (report.holder.clone(), Instant::now());
            report.violation = Some(format!("{candidate} wrote at {now:?}, while the Lease belonged to {holder:?}"));
        }
    }

    pub(super) fn report(&self) -> Report {
        self.0.lock().clone()
    }
}
