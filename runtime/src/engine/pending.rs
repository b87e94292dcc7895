//! `PendingObjects`: collects the objects of a node that are not ready, and returns one error that names them all.

use crate::{
    cache::ObjectKey,
    error::{Error, Result},
    kind::Kind,
    readiness::Readiness,
};

/// The objects of one node that are not ready, as the text of a condition. The text is the same as long as the state is.
pub(crate) struct PendingObjects<'a> {
    node: &'a str,
    message: String,
}

impl<'a> PendingObjects<'a> {
    pub(crate) fn new(node: &'a str) -> Self {
        Self { node, message: String::new() }
    }

    /// Adds an object to the message unless it is ready, with the reason if it is held up.
    pub(crate) fn add(&mut self, kind: &Kind, key: &ObjectKey, readiness: &Readiness) {
        match readiness {
            Readiness::Ready => {}
            // The progress of the object is left out: each change of the message is a write of the owner's status.
            Readiness::NotReady(_) => self.push(&format!("{kind} {key}")),
            Readiness::HeldUp(reason) => self.push(&format!("{kind} {key}: {reason}")),
        }
    }

    /// Adds an entry to the message.
    pub(crate) fn push(&mut self, entry: &str) {
        self.message.push_str(if self.message.is_empty() { "" } else { ", " });
        self.message.push_str(entry);
    }

    /// Returns `Ok` if no object is pending, else a yield that names them.
    pub(crate) fn into_result(self) -> Result<()> {
        if self.message.is_empty() {
            return Ok(());
        }
        Err(Error::yielding("WaitingFor", format!("{}: {}", self.node, self.message)))
    }
}
