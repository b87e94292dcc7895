//! Who is asked a second time, because others changed the object after it.

use std::collections::BTreeSet;

/// What happened in the rounds of one write.
#[derive(Debug, Default)]
pub(super) struct Reinvocation {
    /// Who was asked in this round and wants to be asked again if something changes.
    earlier: BTreeSet<String>,
    /// Who is to be asked in the next round.
    next: BTreeSet<String>,
    /// Who is asked in this round; `None` is the first one, in which all are.
    only: Option<BTreeSet<String>>,
}

impl Reinvocation {
    /// Whether somebody is asked in this round.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(name))
    }

    /// Somebody was asked. What it changed, those before it get to see.
    pub(super) fn invoked(&mut self, name: String, again: bool, changed: bool) {
        if changed {
            self.next.append(&mut self.earlier);
        }
        if again && self.only.is_none() {
            self.earlier.insert(name);
        }
    }

    /// Goes on to the second round, if there is one.
    pub(super) fn next_round(&mut self) -> bool {
        let first = self.only.is_none();
        self.only = Some(std::mem::take(&mut self.next));
        first && self.only.as_ref().is_some_and(|only| !only.is_empty())
    }
}
