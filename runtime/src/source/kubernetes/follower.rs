//! From a watch into a store, and word of what has changed.

use super::feed::Sink;
use crate::{
    cache::{Change, Header, Store},
    error::Result,
    kind::Kind,
};

/// Keeps something of each object of a kind in a store, and acts on changes. A watch can be poured into it.
pub(crate) trait Follower: Send + Sync {
    /// What is kept of an object.
    type Kept;

    /// What is followed, to say it in the log.
    fn kind(&self) -> &Kind;

    /// Where it is kept.
    fn store(&self) -> &Store<Self::Kept>;

    /// Takes in an object as the server sent it.
    ///
    /// # Errors
    /// If it can't be read. It is said in the log, and what was known of the object stays.
    fn take_in(&self, json: &[u8]) -> Result<Change<Self::Kept>>;

    /// Acts on a change, which is not [`Change::Unchanged`]; `listing` if it comes from a list.
    fn tell(&self, change: &Change<Self::Kept>, listing: bool);

    /// A list is complete, and all of its changes were told.
    fn listed(&self) {}
}

impl<F: Follower> Sink for F {
    fn begin(&self) {
        self.store().begin_replace();
    }

    fn apply(&self, json: &[u8], listing: bool) {
        match self.take_in(json) {
            Ok(Change::Unchanged) => {}
            Ok(change) => self.tell(&change, listing),
            Err(error) => tracing::error!(kind = %self.kind(), %error, "an object could not be read"),
        }
    }

    fn delete(&self, json: &[u8]) {
        match Header::parse(json).map(|header| self.store().delete(&header)) {
            Ok(Change::Unchanged) => {}
            Ok(change) => self.tell(&change, false),
            Err(error) => tracing::error!(kind = %self.kind(), %error, "the end of an object could not be read"),
        }
    }

    fn finish(&self) {
        for old in self.store().finish_replace() {
            self.tell(&Change::Deleted { old }, true);
        }
        self.listed();
    }
}
