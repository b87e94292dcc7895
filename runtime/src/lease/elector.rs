//! `Elector`: the rules of leader election, as a state machine without I/O.
//!
//! The rules are those of client-go with two differences. The deadline of the holder counts from the moment when the renewal was
//! sent, not from the response. A Lease that disappears is not free: its holder may write until its record would have expired.

use super::{
    identity::CandidateIdentity,
    lead::{LeadState, Tenure},
    options::{JITTER_PERCENT, LeaderElection, LeaseTimes},
    record::{self, Claim},
};
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    jiff::Timestamp,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::time::Instant;

/// The next action of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Read the Lease.
    Read,
    /// Write the Lease, to take or to renew the lead.
    Write,
    /// Do nothing until this time.
    Wait(Instant),
    /// The lead is lost.
    Lost(LeadLoss),
}

/// The reason why a replica lost the lead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeadLoss {
    /// No renewal succeeded within the renew deadline.
    #[error("the Lease was not renewed within {0:?}")]
    Expired(Duration),
    /// Another replica holds the Lease.
    #[error("{0} took the Lease")]
    Taken(String),
    /// The task of the election ended.
    #[error("the election ended unexpectedly")]
    Stopped,
}

/// The class of a failed request, on which the next step depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestFailure {
    /// Somebody else has written, created or deleted the Lease.
    Conflict,
    /// The API server refused the request or did not respond. It may have executed a write.
    Unknown,
}

/// A candidate's knowledge of the Lease, and of its own lead.
#[derive(Debug)]
pub(super) struct Elector {
    identity: CandidateIdentity,
    times: LeaseTimes,
    labels: BTreeMap<String, String>,
    /// The Lease as it was last read or written; `None` if it does not exist.
    lease: Option<Lease>,
    /// Whether `lease` is the stored one as far as known.
    is_current: bool,
    /// The last record of another holder.
    other: Option<OtherRecord>,
    held: Option<Held>,
    loss: Option<LeadLoss>,
    /// The earliest time of the next request after a failure.
    retry_at: Option<Instant>,
    /// The number of conflicts in a row.
    conflicts: u32,
    /// The identities of processes that are known to have ended, so that their Leases are free.
    ended: BTreeSet<String>,
    #[cfg(test)]
    pub(super) defects: super::simulation::Defects,
}

/// A record of another holder.
#[derive(Clone, Debug)]
struct OtherRecord {
    spec: LeaseSpec,
    /// The time at which the record expires, unless it changes before.
    expires_at: Instant,
}

/// The lead of this candidate.
#[derive(Clone, Copy, Debug)]
struct Held {
    tenure: Tenure,
    renew_at: Instant,
}

impl Elector {
    /// Returns the elector of a candidate that knows nothing about the Lease yet.
    pub(super) fn new(identity: CandidateIdentity, options: &LeaderElection) -> Self {
        Self {
            identity,
            times: options.times,
            labels: options.labels().clone(),
            lease: None,
            is_current: false,
            other: None,
            held: None,
            loss: None,
            retry_at: None,
            conflicts: 0,
            ended: BTreeSet::new(),
            #[cfg(test)]
            defects: super::simulation::Defects::default(),
        }
    }

    /// Returns the elector, which takes a Lease of one of the `ended` processes without waiting for its expiry. Each of them has lost
    /// another Lease without which it does not write.
    pub(super) fn with_ended(self, ended: BTreeSet<String>) -> Self {
        Self { ended, ..self }
    }

    pub(super) fn identity(&self) -> &str {
        self.identity.as_str()
    }

    pub(super) fn is_leading(&self) -> bool {
        self.held.is_some()
    }

    /// Returns the state of the leadership for the other tasks of the process: ended after a loss, held, or waiting, with the other holder
    /// if the Lease has one.
    pub(super) fn state(&self) -> LeadState {
        match (&self.loss, self.held) {
            (Some(_), _) => LeadState::Ended,
            (None, Some(held)) => LeadState::Held(held.tenure),
            (None, None) => {
                let holder = self.lease.as_ref().and_then(record::holder);
                LeadState::Waiting { holder: holder.filter(|holder| !self.identity.is(holder)).map(str::to_owned) }
            }
        }
    }

    /// Returns the next action of the candidate, by the first rule that applies: a loss of the leadership is reported; after a failed
    /// request it waits for the retry; it reads a Lease that may have changed; it waits for its next renewal, or for the expiry of another
    /// holder's record; it writes the Lease. No wait ends after the deadline of its leadership.
    pub(super) fn next(&self, now: Instant) -> Step {
        if let Some(loss) = &self.loss {
            return Step::Lost(loss.clone());
        }
        let deadline = self.held.map(|held| held.tenure.deadline);
        if deadline.is_some_and(|deadline| deadline <= now) {
            return Step::Lost(LeadLoss::Expired(self.times.renew_deadline));
        }
        let wait = |until: Instant| Step::Wait(deadline.map_or(until, |deadline| deadline.min(until)));
        if let Some(retry_at) = self.retry_at.filter(|retry_at| *retry_at > now) {
            return wait(retry_at);
        }
        if !self.is_current {
            return Step::Read;
        }
        let act_at = match (&self.held, &self.other) {
            (Some(held), _) => Some(held.renew_at),
            (None, Some(other)) => Some(other.expires_at),
            (None, None) => None,
        };
        match act_at.filter(|act_at| *act_at > now) {
            Some(act_at) => wait(act_at),
            None => Step::Write,
        }
    }

    /// Returns the time limit of a request: half of the renew deadline, so that after a timeout there is time for another attempt, but at
    /// most the time until the deadline of the leadership.
    pub(super) fn request_timeout(&self, now: Instant) -> Duration {
        let half = self.by_local_clock(self.times.renew_deadline) / 2;
        self.held.map_or(half, |held| half.min(held.tenure.deadline.saturating_duration_since(now)))
    }

    /// Updates the state from the Lease that was read, or received by a watch, at `now`; `None` if it does not exist. The leadership is
    /// lost if another candidate holds the Lease. `other` is the record of another holder that this candidate waits for.
    pub(super) fn observe(&mut self, lease: Option<Lease>, now: Instant) {
        (self.is_current, self.retry_at) = (true, None);
        let holder = lease.as_ref().and_then(record::holder).map(str::to_owned);
        match holder {
            // This candidate holds the Lease.
            Some(holder) if self.identity.is(&holder) => self.other = None,
            Some(holder) if self.held.is_some() => self.loss = Some(LeadLoss::Taken(holder)),
            // The process of the holder has ended, so the Lease is free.
            Some(holder) if self.identity.is_predecessor(&holder) || self.ended.contains(&holder) => self.other = None,
            Some(_) => self.observe_other(lease.as_ref(), now),
            // The holder of a Lease that was deleted may still write, so `other` stays until its record would have expired.
            None if lease.is_none() => {}
            // The Lease was released.
            None => self.other = None,
        }
        if let Some(held) = &mut self.held {
            // A holder reads the Lease only after a failed renewal, so it renews again at once.
            held.renew_at = now;
        }
        self.lease = lease;
    }

    /// Records the Lease of another holder, and when it expires: one lease duration after this candidate has first seen the record in its
    /// present form. So each renewal by the holder extends the wait.
    fn observe_other(&mut self, lease: Option<&Lease>, now: Instant) {
        let Some(lease) = lease else { return };
        let spec = lease.spec.clone().unwrap_or_default();
        if self.other.as_ref().is_none_or(|other| other.spec != spec) {
            let duration = record::duration(lease).unwrap_or(self.times.lease_duration);
            let expires_at = now.checked_add(self.by_local_clock(duration)).unwrap_or(now + self.times.lease_duration);
            self.other = Some(OtherRecord { spec, expires_at });
            self.conflicts = 0;
        }
    }

    /// Marks the known Lease as possibly outdated, so that the next step is to read it.
    pub(super) fn require_read(&mut self) {
        self.is_current = false;
    }

    /// Returns the Lease to write, with this candidate as its holder, and whether it has to be created.
    pub(super) fn lease_to_write(&self, now: Timestamp) -> (Lease, bool) {
        let claim = Claim { holder: self.identity.as_str(), duration: self.times.lease_duration, labels: &self.labels };
        (record::with_holder(self.lease.as_ref(), claim, now), self.lease.is_none())
    }

    /// Updates the state after the API server has confirmed a write of `lease`, which was sent at `sent_at`. The leadership lasts for the
    /// renew deadline from the time of sending.
    pub(super) fn confirm(&mut self, lease: Lease, sent_at: Instant, now: Instant) {
        (self.is_current, self.retry_at, self.conflicts) = (true, None, 0);
        (self.lease, self.other) = (Some(lease), None);
        let valid_from = self.valid_from(sent_at, now);
        let deadline = valid_from + self.by_local_clock(self.times.renew_deadline);
        let remaining = self.by_local_clock(self.times.lease_duration.saturating_sub(self.times.renew_deadline));
        if deadline > now {
            let overdue = deadline + self.by_local_clock(self.times.lease_duration);
            // The writes in flight are given up halfway between the deadline and the end of the Lease.
            let tenure = Tenure { deadline, give_up: deadline + remaining / 2, overdue };
            self.held = Some(Held { tenure, renew_at: sent_at + self.by_local_clock(self.times.retry_period) });
        }
        // Otherwise the confirmation came too late: a holder loses the leadership in the next step, and a new candidate writes again.
    }

    /// Updates the state after a failed request: the next step reads the Lease after a retry period, which `random` extends.
    pub(super) fn record_failure(&mut self, failure: RequestFailure, random: u64, now: Instant) {
        self.is_current = false;
        self.conflicts = if failure == RequestFailure::Conflict { self.conflicts + 1 } else { 0 };
        // After a first conflict the changed Lease is read at once; further conflicts in a row wait for the retry period.
        self.retry_at = (self.conflicts != 1).then(|| now + self.retry_period(random));
    }

    /// Returns the retry period, extended by a random part of at most `JITTER_PERCENT` percent, so that candidates don't retry together.
    pub(super) fn retry_period(&self, random: u64) -> Duration {
        let period = self.by_local_clock(self.times.retry_period);
        let permille = u32::try_from(random % 1000).unwrap_or(0);
        period + period * JITTER_PERCENT / 100 * permille / 1000
    }

    /// Returns the lease duration by the clock of this candidate.
    pub(super) fn lease_duration(&self) -> Duration {
        self.by_local_clock(self.times.lease_duration)
    }

    /// Returns the Lease without a holder, to be written at the end; `None` if this candidate does not hold it.
    pub(super) fn release(&self, now: Timestamp) -> Option<Lease> {
        let lease = self.lease.as_ref()?;
        record::holder(lease).is_some_and(|holder| self.identity.is(holder)).then(|| record::without_holder(lease, now))
    }

    #[cfg(not(test))]
    fn valid_from(&self, sent_at: Instant, _: Instant) -> Instant {
        sent_at
    }

    /// Returns the moment from which a confirmed write is valid, which a defect of the simulation changes.
    #[cfg(test)]
    fn valid_from(&self, sent_at: Instant, now: Instant) -> Instant {
        if self.defects.counts_from_response { now } else { sent_at }
    }

    #[cfg(not(test))]
    fn by_local_clock(&self, duration: Duration) -> Duration {
        duration
    }

    /// Returns a duration by the clock of the candidate, which the simulation makes slow or fast.
    #[cfg(test)]
    fn by_local_clock(&self, duration: Duration) -> Duration {
        duration.mul_f64(self.defects.clock_rate)
    }
}

#[cfg(test)]
mod tests;
