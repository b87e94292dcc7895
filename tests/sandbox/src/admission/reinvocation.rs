//! Tracks the policies and webhooks to reinvoke because a later one changed the object.

use std::collections::BTreeSet;

/// The reinvocation state of one write.
#[derive(Debug, Default)]
pub(super) struct Reinvocation {
    /// The policies and webhooks that were invoked in this round and have `reinvocationPolicy: IfNeeded`.
    earlier: BTreeSet<String>,
    /// The policies and webhooks to invoke in the next round.
    next: BTreeSet<String>,
    /// The policies and webhooks to invoke in this round; `None` means all, in the first round.
    only: Option<BTreeSet<String>>,
}

impl Reinvocation {
    /// Whether a policy or webhook is invoked in this round.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(name))
    }

    /// Records an invocation. After a change, the earlier invocations are repeated in the next round.
    pub(super) fn invoked(&mut self, name: String, again: bool, changed: bool) {
        if changed {
            self.next.append(&mut self.earlier);
        }
        if again && self.only.is_none() {
            self.earlier.insert(name);
        }
    }

    /// Starts the second round, if there is one.
    pub(super) fn next_round(&mut self) -> bool {
        let first = self.only.is_none();
        self.only = Some(std::mem::take(&mut self.next));
        first && self.only.as_ref().is_some_and(|only| !only.is_empty())
    }
}
