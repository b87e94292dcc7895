//! Records the beginning and the end of each reconcile pass that an operator under test reports.

use super::{Faults, ObservedPass, PassPhase, TimelineEvent};

impl Faults {
    /// Records the beginning of a reconcile pass and returns its number. The resource is plural and group of the kind, such as
    /// `deployments.apps`; the namespace of a cluster-scoped object is empty.
    #[must_use]
    pub fn pass_begins(&self, resource: &str, namespace: &str, name: &str) -> u64 {
        let mut state = self.state();
        state.last_pass += 1;
        let number = state.last_pass;
        let (resource, namespace, name) = (resource.to_owned(), namespace.to_owned(), name.to_owned());
        let pass = ObservedPass { number, resource, namespace, name, part: PassPhase::Beginning };
        let index = state.record(TimelineEvent::Pass(pass));
        state.passes.insert(number, index);
        number
    }

    /// Records the end of a pass and its outcome. If nothing was recorded since its beginning, one entry stands for the whole pass. Does
    /// nothing for a pass of an earlier life of the client.
    pub fn pass_ends(&self, number: u64, outcome: &str) {
        let mut state = self.state();
        let Some(index) = state.passes.remove(&number) else { return };
        let is_last = index + 1 == state.timeline.entries.len();
        let Some(TimelineEvent::Pass(pass)) = state.timeline.entries.get_mut(index).map(|entry| &mut entry.event)
        else {
            return;
        };
        let outcome = outcome.to_owned();
        if is_last {
            pass.part = PassPhase::Whole { outcome };
        } else {
            let ended = ObservedPass { part: PassPhase::End { outcome }, ..pass.clone() };
            state.record(TimelineEvent::Pass(ended));
        }
    }
}
