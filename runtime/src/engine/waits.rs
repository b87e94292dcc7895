//! `Waits`: the objects of a node that are not ready, as one yield.

use crate::{
    cache::ObjectKey,
    error::{Error, Result},
    kind::Kind,
    readiness::Readiness,
};

/// What a node waits for, in one sentence that is the same for the same state.
pub(crate) struct Waits<'a> {
    node: &'a str,
    sentence: String,
}

impl<'a> Waits<'a> {
    pub(crate) fn new(node: &'a str) -> Self {
        Self { node, sentence: String::new() }
    }

    pub(crate) fn add(&mut self, kind: &Kind, key: &ObjectKey, readiness: &Readiness) {
        match readiness {
            Readiness::Ready => {}
            // How far it is stays out of the sentence: each step on its way would be a write of the owner's status.
            Readiness::NotReady(_) => self.push(&format!("{kind} {key}")),
            Readiness::HeldUp(by) => self.push(&format!("{kind} {key}: {by}")),
        }
    }

    pub(crate) fn push(&mut self, what: &str) {
        self.sentence.push_str(if self.sentence.is_empty() { "" } else { ", " });
        self.sentence.push_str(what);
    }

    pub(crate) fn over(self) -> Result<()> {
        if self.sentence.is_empty() {
            return Ok(());
        }
        Err(Error::yielding("WaitingFor", format!("{}: {}", self.node, self.sentence)))
    }
}
