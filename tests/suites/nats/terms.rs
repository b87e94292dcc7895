//! Checks by the history of streams that each write of a replica is part of its term as the leader.
//!
//! The servers run on one machine, so the times of the messages of different streams can be compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use k8s_openapi::jiff::Timestamp;
use opgen_tests::nats::StreamMessage;
use serde_json::Value;

use crate::{
    barrel::{BARRELS, LEASE, LEASES},
    recording::{RecordedWrite, WriteOutcome, digest},
};

/// What the history shows about the leaders of the operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermReport {
    /// The runs that held the Lease, one after the other.
    pub(crate) leaders: Vec<usize>,
    /// The messages of replicas, without those of the Lease.
    pub(crate) writes: usize,
    /// The messages that were sent within the term of their run, and received after it: no answer came in time, and no other write of the
    /// key came in between.
    pub(crate) late: usize,
    pub(crate) violations: Vec<String>,
}

/// The recorded writes by bucket and key.
struct Writers<'a>(BTreeMap<(&'a str, &'a str), Vec<&'a RecordedWrite>>);

impl<'a> Writers<'a> {
    fn new(writes: &'a [RecordedWrite]) -> Self {
        let mut by_key = BTreeMap::<_, Vec<_>>::new();
        for write in writes {
            by_key.entry((write.bucket.as_str(), write.key.as_str())).or_default().push(write);
        }
        Self(by_key)
    }

    /// Returns the write that made a message: the one with its revision, or those with its value that have no answer.
    fn of(&self, bucket: &str, message: &StreamMessage) -> Vec<&'a RecordedWrite> {
        let of_key = self.0.get(&(bucket, message.key.as_str())).map(Vec::as_slice).unwrap_or_default();
        if let Some(write) = of_key.iter().find(|write| write.outcome == WriteOutcome::Written(message.revision)) {
            return vec![*write];
        }
        let digest = digest(&message.value);
        let may_be = |write: &&&RecordedWrite| write.outcome == WriteOutcome::Unknown && write.digest == digest;
        of_key.iter().filter(may_be).copied().collect()
    }
}

/// Who held the Lease since when; nobody after a release.
#[derive(Debug, Default)]
struct Holders(Vec<(Timestamp, Option<BTreeSet<usize>>)>);

impl Holders {
    /// Whether a run held the Lease at a time. A run with a claim of unknown outcome may have.
    fn is_holder(&self, run: usize, time: Timestamp) -> bool {
        let count = self.0.partition_point(|(since, _)| *since <= time);
        let holder = self.0[..count].last().and_then(|(_, holder)| holder.as_ref());
        holder.is_some_and(|runs| runs.contains(&run))
    }

    fn at(&self, time: Timestamp) -> String {
        let count = self.0.partition_point(|(since, _)| *since <= time);
        format!("{:?}", self.0[..count].last())
    }
}

impl TermReport {
    /// Checks the messages of these buckets.
    pub(crate) fn new(histories: &BTreeMap<&'static str, Vec<StreamMessage>>, writes: &[RecordedWrite]) -> Self {
        let (mut report, writers) = (Self::default(), Writers::new(writes));
        let holders = report.holders(&histories[LEASES], &writers);
        for (&bucket, messages) in histories.iter().filter(|(bucket, _)| **bucket != LEASES) {
            let mut earlier = BTreeMap::<&str, Timestamp>::new();
            for message in messages {
                let before = earlier.insert(&message.key, message.time);
                let candidates = writers.of(bucket, message);
                if !candidates.is_empty() {
                    report.writes += 1;
                    report.check((bucket, message, before), &candidates, &holders);
                } else if bucket != BARRELS || message.key.starts_with('_') {
                    report.violations.push(format!("no replica wrote {} to {bucket} at {}", message.key, message.time));
                }
            }
        }
        report
    }

    /// Follows the Lease.
    fn holders(&mut self, messages: &[StreamMessage], writers: &Writers<'_>) -> Holders {
        let mut holders = Holders::default();
        for message in messages.iter().filter(|message| message.key.ends_with(LEASE)) {
            let lease: Value = serde_json::from_slice(&message.value).unwrap_or_default();
            let is_held = lease["spec"]["holderIdentity"].as_str().is_some_and(|identity| !identity.is_empty());
            let runs: BTreeSet<_> = writers.of(LEASES, message).iter().map(|write| write.run).collect();
            if runs.is_empty() {
                self.violations.push(format!("no replica wrote the Lease at {}: {lease}", message.time));
            }
            if let (true, Some(run)) = (is_held, runs.first())
                && self.leaders.last() != Some(run)
            {
                self.leaders.push(*run);
            }
            holders.0.push((message.time, is_held.then_some(runs)));
        }
        holders
    }

    /// Checks a message that one of these writes has made. `before` is the time of the message that it replaced.
    fn check(
        &mut self,
        (bucket, message, before): (&str, &StreamMessage, Option<Timestamp>),
        candidates: &[&RecordedWrite],
        holders: &Holders,
    ) {
        if candidates.iter().any(|write| holders.is_holder(write.run, message.time)) {
            return;
        }
        // A server that did not run had the message meanwhile. The expected revision lets it in only if the key is as it was.
        let is_late = |write: &&RecordedWrite| {
            write.outcome == WriteOutcome::Unknown
                && holders.is_holder(write.run, write.begun)
                && before.is_none_or(|before| before <= write.begun)
        };
        if candidates.iter().any(is_late) {
            self.late += 1;
            return;
        }
        self.violations.push(format!(
            "{} in {bucket}, revision {} at {}, was written by {candidates:?}; holder: {}",
            message.key,
            message.revision,
            message.time,
            holders.at(message.time)
        ));
    }
}

impl fmt::Display for TermReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (terms, writes, late) = (self.leaders.len(), self.writes, self.late);
        write!(f, "{terms} terms, {writes} writes, {late} received late, {} outside a term", self.violations.len())?;
        self.violations.iter().try_for_each(|violation| write!(f, "\n  {violation}"))
    }
}
