//! `EventHandler` stores the objects of a watch and handles their changes.

use crate::{
    cache::{Change, Header, Store},
    error::Result,
    informer::reflector::Sink,
    kind::Kind,
    panic::{Closure, catch},
};

/// Stores a projection of each object of a kind, and handles the changes. Each handler is a [`Sink`] of the kind's watch.
pub(crate) trait EventHandler: Send + Sync {
    /// The part of an object that the store keeps.
    type Projection;

    /// Returns the kind of the objects, for the log.
    fn kind(&self) -> &Kind;

    /// Returns the store of the projections.
    fn store(&self) -> &Store<Self::Projection>;

    /// Projects an object, as the server sent it, into the store; `from_list` if it comes from a list.
    ///
    /// # Errors
    /// If the object can't be decoded. The caller logs the error, and the store keeps the earlier state of the object.
    fn store_object(&self, json: &[u8], from_list: bool) -> Result<Change<Self::Projection>>;

    /// Handles a change, which is not [`Change::Unchanged`]; `from_list` if it comes from a list.
    fn on_change(&self, change: &Change<Self::Projection>, from_list: bool);

    /// Calls [`EventHandler::on_change`] for a deleted object and logs a panic, so that the watch continues.
    fn on_change_catching_panics(&self, change: &Change<Self::Projection>, from_list: bool) {
        let name = || change.old().map(|old| old.header.key.to_string()).unwrap_or_default();
        log_panic(self.kind(), name, || self.on_change(change, from_list));
    }

    /// Handles the end of a list, after all its changes.
    fn on_listed(&self) {}
}

impl<F: EventHandler> Sink for F {
    fn begin(&self) {
        self.store().begin_replace();
    }

    fn apply(&self, json: &[u8], from_list: bool) {
        let name = || Header::parse(json).map(|header| header.key.to_string()).unwrap_or_default();
        log_panic(self.kind(), name, || match self.store_object(json, from_list) {
            Ok(Change::Unchanged) => {}
            Ok(change) => self.on_change(&change, from_list),
            Err(error) => tracing::error!(kind = %self.kind(), object = name(), %error, "failed to decode an object"),
        });
    }

    fn delete(&self, json: &[u8]) {
        match Header::parse(json).map(|header| self.store().delete(&header)) {
            Ok(Change::Unchanged) => {}
            Ok(change) => self.on_change_catching_panics(&change, false),
            Err(error) => tracing::error!(kind = %self.kind(), %error, "failed to decode a deleted object"),
        }
    }

    fn finish(&self) {
        for old in self.store().finish_replace() {
            self.on_change_catching_panics(&Change::Deleted { old }, true);
        }
        self.on_listed();
    }
}

/// Runs `handle` for one object and logs a panic, so that the watch continues with the next object. Panics of user closures don't
/// arrive here: the callers of the closures catch them.
fn log_panic(kind: &Kind, name: impl Fn() -> String, handle: impl FnOnce()) {
    if let Err(error) = catch(Closure::Runtime, handle) {
        tracing::error!(%kind, object = name(), %error, "failed to process an object");
    }
}
