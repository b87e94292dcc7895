//! From a watch into a store, and word of what has changed.

use crate::{
    cache::{Change, Header, Store},
    error::Result,
    informer::reflector::Sink,
    kind::Kind,
    panic::{Closure, catch},
};

/// Keeps something of each object of a kind in a store, and acts on changes. A watch can be poured into it.
pub(crate) trait Follower: Send + Sync {
    /// What is kept of an object.
    type Kept;

    /// What is followed, to say it in the log.
    fn kind(&self) -> &Kind;

    /// Where it is kept.
    fn store(&self) -> &Store<Self::Kept>;

    /// Takes in an object as the server sent it; `listing` if it comes from a list.
    ///
    /// # Errors
    /// If it can't be read. It is said in the log, and what was known of the object stays.
    fn take_in(&self, json: &[u8], listing: bool) -> Result<Change<Self::Kept>>;

    /// Acts on a change, which is not [`Change::Unchanged`]; `listing` if it comes from a list.
    fn tell(&self, change: &Change<Self::Kept>, listing: bool);

    /// As [`Follower::tell`]; a panic ends with the object.
    fn tell_contained(&self, change: &Change<Self::Kept>, listing: bool) {
        let name = || change.old().map(|old| old.header.key.to_string()).unwrap_or_default();
        contained(self.kind(), name, || self.tell(change, listing));
    }

    /// A list is complete, and all of its changes were told.
    fn listed(&self) {}
}

impl<F: Follower> Sink for F {
    fn begin(&self) {
        self.store().begin_replace();
    }

    fn apply(&self, json: &[u8], listing: bool) {
        let name = || Header::parse(json).map(|header| header.key.to_string()).unwrap_or_default();
        contained(self.kind(), name, || match self.take_in(json, listing) {
            Ok(Change::Unchanged) => {}
            Ok(change) => self.tell(&change, listing),
            Err(error) => tracing::error!(kind = %self.kind(), object = name(), %error, "an object could not be read"),
        });
    }

    fn delete(&self, json: &[u8]) {
        match Header::parse(json).map(|header| self.store().delete(&header)) {
            Ok(Change::Unchanged) => {}
            Ok(change) => self.tell_contained(&change, false),
            Err(error) => tracing::error!(kind = %self.kind(), %error, "the end of an object could not be read"),
        }
    }

    fn finish(&self) {
        for old in self.store().finish_replace() {
            self.tell_contained(&Change::Deleted { old }, true);
        }
        self.listed();
    }
}

/// Takes in one object. What panics beside the closures, which are caught where they are called, is the end of nothing but this.
fn contained(kind: &Kind, name: impl Fn() -> String, take_in: impl FnOnce()) {
    if let Err(error) = catch(Closure::Runtime, take_in) {
        tracing::error!(%kind, object = name(), %error, "an object could not be taken in");
    }
}
