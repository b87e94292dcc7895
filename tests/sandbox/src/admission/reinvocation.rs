//! Tracks the policies and webhooks to reinvoke because a later one changed the object.

use std::collections::BTreeSet;

/// The reinvocation state of one write.
#[derive(Debug, Default)]
pub(super) struct Reinvocation {
    /// The policies and webhooks that were invoked in this round and have `reinvocationPolicy: IfNeeded`.
    invoked: BTreeSet<String>,
    /// The policies and webhooks to invoke in the next round.
    next_round: BTreeSet<String>,
    /// The policies and webhooks to invoke in this round; `None` means all, in the first round.
    this_round: Option<BTreeSet<String>>,
}

impl Reinvocation {
    /// Returns whether a policy or webhook must be invoked in this round.
    pub(super) fn must_invoke(&self, name: &str) -> bool {
        self.this_round.as_ref().is_none_or(|names| names.contains(name))
    }

    /// Records the invocation of a policy or webhook. If it changed the object, the next round reinvokes those that were invoked before it
    /// and have `reinvocationPolicy: IfNeeded`.
    pub(super) fn record_invocation(&mut self, name: String, reinvoke_if_needed: bool, changed: bool) {
        if changed {
            self.next_round.append(&mut self.invoked);
        }
        // There is no third round, so that invocations of the second round need no record.
        if reinvoke_if_needed && self.this_round.is_none() {
            self.invoked.insert(name);
        }
    }

    /// Starts the second round. Returns `false` if the second round is already over, or if no policy or webhook needs a reinvocation.
    pub(super) fn start_next_round(&mut self) -> bool {
        let was_first_round = self.this_round.is_none();
        self.this_round = Some(std::mem::take(&mut self.next_round));
        was_first_round && self.this_round.as_ref().is_some_and(|this_round| !this_round.is_empty())
    }
}
