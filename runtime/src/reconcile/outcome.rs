//! Reports the outcome of a pass in the status or, for foreign kinds, by an event.

use crate::{
    cache::{Encoded, Entry, Header, ObjectKey, ResourceVersion, Uid},
    engine::chain::Chain,
    error::{Error, Result},
    event::EventType,
    reconcile::{
        control_loop::Loop,
        panics,
        repetition::Repeated,
        stored_status::StoredStatus,
        verdict::{Direction, timeout_verdict, verdict_of},
    },
    spans::pass,
};
use opgen_api::__private::Verdict;
use serde_json::Value;
use std::{collections::BTreeSet, time::Duration};

/// The outcome of a pass, with the facts that its report needs.
pub(super) struct OutcomeReport<'a> {
    pub(super) entry: &'a Entry<Encoded>,
    /// The version of the object, which own writes of the pass may have changed since `entry` was read.
    pub(super) version: &'a ResourceVersion,
    pub(super) direction: Direction,
    pub(super) outcome: &'a Result<()>,
    /// Reason and message that nodes set for the condition of a pass that succeeds.
    pub(super) message: Option<(String, String)>,
    /// The sentences about objects that have not been ready for longer than the timeouts of their nodes.
    pub(super) timeouts: BTreeSet<String>,
    /// The status as it is stored.
    pub(super) stored: &'a dyn StoredStatus,
    /// The status that the nodes set; `None` if it is the stored one.
    pub(super) status: Option<Value>,
    /// The own writes that led to the pass.
    pub(super) chain: Chain,
}

impl<'a> OutcomeReport<'a> {
    /// Creates a report with the resourceVersion of `entry` and default values: no message, timeouts, new status or chain of own writes.
    /// Callers set the fields that differ.
    pub(super) fn new(
        entry: &'a Entry<Encoded>,
        direction: Direction,
        outcome: &'a Result<()>,
        stored: &'a dyn StoredStatus,
    ) -> Self {
        Self {
            entry,
            version: &entry.header.resource_version,
            direction,
            outcome,
            message: None,
            timeouts: BTreeSet::new(),
            stored,
            status: None,
            chain: Chain::default(),
        }
    }
}

impl Loop {
    /// Logs a failure, counts the outcome and the readiness in the metrics, and reports the outcome in the status, or by an event
    /// where the operator doesn't own the status. A conflict is not reported. Returns whether the status was written.
    pub(super) async fn report_outcome(&self, report: OutcomeReport<'_>) -> Result<bool> {
        let header = &report.entry.header;
        let Some(mut verdict) = verdict_of(report.direction, report.outcome) else { return Ok(false) };
        // Timeouts are reported only if the pass yields; an error is more important.
        if !report.timeouts.is_empty() && matches!(report.outcome, Err(Error::Yield { .. })) {
            let sentences: Vec<_> = report.timeouts.iter().map(String::as_str).collect();
            verdict = timeout_verdict(&sentences.join("; "));
        }
        verdict.prefix.clone_from(&self.condition_prefix);
        if report.outcome.is_ok()
            && let Some((reason, message)) = &report.message
        {
            verdict = verdict.with_reason(reason, message);
        }
        if let Err(error) = report.outcome
            && verdict.is_failure()
        {
            panics::count(&self.shared, error);
        }
        self.log_outcome(header, &verdict, report.outcome);
        pass::record_reason(&verdict.reason, verdict.is_failure().then_some(&*verdict.message));
        self.count_outcome(report.outcome, &verdict.reason);
        self.note_readiness(&header.key, &header.uid, verdict.is_ready());
        if self.reconciler.owns_status() {
            return self.write_status(report, &verdict).await;
        }
        self.record_changed_outcome(header, &verdict);
        Ok(false)
    }

    /// Logs a failure, a yield, and the end of a failure. The same report in consecutive passes is logged when it has been repeated
    /// 2, 4, 8, ... times.
    fn log_outcome(&self, header: &Header, verdict: &Verdict, outcome: &Result<()>) {
        let Header { key: object, uid, .. } = header;
        let (kind, reason) = (self.source.kind(), &*verdict.reason);
        let Err(error) = outcome else {
            if let Some(failures) = self.states.end_reports(object, uid) {
                tracing::info!(%kind, %object, failures, "the pass succeeded again");
            }
            return;
        };
        let is_failure = verdict.is_failure();
        // The message of a yield may have been replaced by the sentences about timeouts.
        let text = if let Error::Yield { .. } = error { verdict.message.clone() } else { error.to_string() };
        let repeated = self.states.count_report(object, uid, is_failure, (reason, &text));
        match (repeated, repeated.times()) {
            (Repeated::Silent, _) => {}
            (_, repeated) if is_failure => {
                tracing::error!(%kind, %object, reason, error = %text, repeated, "the pass failed");
            }
            (_, repeated) => {
                let why = &*verdict.message;
                tracing::debug!(%kind, %object, reason, why, repeated, "the pass yielded");
            }
        }
    }

    /// Counts the reason of a pass that did not succeed in the metrics of yields or of errors. A conflict is not counted here.
    fn count_outcome(&self, outcome: &Result<()>, reason: &str) {
        match outcome {
            Ok(()) | Err(Error::Conflict(_)) => {}
            Err(Error::Yield { .. }) => self.shared.metrics.yields.count(reason),
            Err(Error::Unexpected(_) | Error::UserAction { .. } | Error::Terminal { .. }) => {
                self.shared.metrics.errors.count(reason);
            }
        }
    }

    /// Records whether a pass over an object ended ready.
    pub(super) fn note_readiness(&self, key: &ObjectKey, uid: &Uid, is_ready: bool) {
        self.states.note_readiness(key, uid, is_ready);
    }

    /// Returns the number of objects whose last pass did not end ready, and the time since the first of them has been so.
    pub(crate) fn unconverged(&self) -> (usize, Duration) {
        let (count, since) = self.states.unconverged();
        (count, since.map_or(Duration::ZERO, |since| since.elapsed()))
    }

    /// Records an event about the outcome of a pass over an object whose status the operator doesn't write, if its reason differs from that
    /// of the last event. The first outcome after a restart is recorded only if the object is not ready.
    fn record_changed_outcome(&self, header: &Header, verdict: &Verdict) {
        let last = self.states.set_reported_reason(header, &verdict.reason);
        if last.as_ref().map_or(verdict.is_ready(), |last| *last == verdict.reason) {
            return;
        }
        self.record_outcome(header, verdict);
    }

    /// Records an event with the reason and the message of an outcome.
    pub(super) fn record_outcome(&self, header: &Header, verdict: &Verdict) {
        let type_ = if verdict.is_failure() { EventType::Warning } else { EventType::Normal };
        let regarding = self.shared.regarding(self.identity(header).event_object());
        self.shared.recorder.record(&regarding, type_, &verdict.reason, "Reconcile", &verdict.message);
    }
}
