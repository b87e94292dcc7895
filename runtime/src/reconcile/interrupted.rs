//! Reports in the status of an object that a stop of the operator interrupted its pass.

use crate::{
    cache::ObjectKey,
    error::Result,
    reconcile::{control_loop::Loop, outcome::OutcomeReport, verdict::Direction},
};
use opgen_api::__private::{Truth, Verdict, VerdictState};

/// The reason of an interrupted pass.
const REASON: &str = "Interrupted";
const MESSAGE: &str = "the operator stopped during a pass; the next pass continues";

impl Loop {
    /// Reports that a stop of the operator interrupted the pass over an object: in the status, or by an event if the operator doesn't own
    /// the status of the kind. Reports nothing for an object that the cache doesn't have.
    ///
    /// # Errors
    /// The error of the status write; a conflict if the cache doesn't show the last own write yet.
    pub(crate) async fn report_interrupted(&self, key: &ObjectKey) -> Result<()> {
        let Some(entry) = self.source.objects().store().get(key) else { return Ok(()) };
        let mut verdict = Verdict::new(Truth::Unknown, VerdictState::Reconciling, REASON, MESSAGE);
        verdict.prefix.clone_from(&self.condition_prefix);
        if !self.reconciler.owns_status() {
            self.record_outcome(&entry.header, &verdict);
            return Ok(());
        }
        let direction = if entry.header.deleting { Direction::Down } else { Direction::Up };
        let (outcome, stored) = (Ok(()), self.stored_status(&entry));
        self.write_status(OutcomeReport::new(&entry, direction, &outcome, &stored), &verdict).await?;
        Ok(())
    }
}
