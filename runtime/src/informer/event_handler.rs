//! `EventHandler`: the trait that stores a projection of each watched object of a kind, and handles the changes of these objects.

use crate::{
    cache::{Change, Header, Store},
    error::Result,
    informer::{reflector::Sink, watch::Health},
    kind::Kind,
    panic::{Closure, catch},
};

/// Stores a projection of each object of a kind, and handles the changes. Each handler is a [`Sink`] of the kind's watch.
pub(crate) trait EventHandler: Send + Sync {
    /// The part of an object that the store keeps.
    type Projection;

    /// Returns the health of the watch, which also counts panics.
    fn health(&self) -> &Health;

    /// Returns the kind of the objects, for the log.
    fn kind(&self) -> &Kind {
        self.health().kind()
    }

    /// Returns the store of the projections.
    fn store(&self) -> &Store<Self::Projection>;

    /// Projects an object, as the server sent it, into the store; `from_list` if it comes from a list.
    ///
    /// # Errors
    /// If the object can't be decoded. The caller logs the error, and the store keeps the earlier state of the object.
    fn store_object(&self, json: &[u8], from_list: bool) -> Result<Change<Self::Projection>>;

    /// Handles a change, which is not [`Change::Unchanged`]; `from_list` if it comes from a list.
    fn on_change(&self, change: &Change<Self::Projection>, from_list: bool);

    /// Calls [`EventHandler::on_change`] for a deleted object, and logs and counts a panic, so that the watch continues.
    fn on_change_catching_panics(&self, change: &Change<Self::Projection>, from_list: bool) {
        let name = || change.old().map(|old| old.header.key.to_string()).unwrap_or_default();
        run_catching_panics(self.health(), name, || self.on_change(change, from_list));
    }

    /// Handles the end of a list, after all its changes.
    fn on_listed(&self) {}

    /// Returns whether this replica holds the shard of an object. Default: without shards, or for a kind that each replica needs.
    fn is_own(&self, header: &Header) -> bool {
        let _ = header;
        true
    }

    /// Handles an object that left the store because this replica no longer holds its shard. The object still exists.
    fn on_dropped(&self, header: &Header) {
        let _ = header;
    }
}

impl<F: EventHandler> Sink for F {
    fn begin_list(&self) {
        self.store().begin_replace();
    }

    /// Stores an added or changed object and handles the change. Errors and panics are logged, so that the watch continues.
    fn apply(&self, json: &[u8], from_list: bool) {
        let name = || Header::parse(json).map(|header| header.key.to_string()).unwrap_or_default();
        run_catching_panics(self.health(), name, || match self.store_object(json, from_list) {
            Ok(Change::Unchanged) => {}
            Ok(change) => self.on_change(&change, from_list),
            Err(error) => tracing::error!(kind = %self.kind(), object = name(), %error, "failed to decode an object"),
        });
    }

    /// Removes a deleted object from the store and handles the change. It does nothing if the store has no object of this name, or a newer
    /// one.
    fn delete(&self, json: &[u8]) {
        match Header::parse(json).map(|header| self.store().delete(&header)) {
            Ok(Change::Unchanged) => {}
            Ok(change) => self.on_change_catching_panics(&change, false),
            Err(error) => tracing::error!(kind = %self.kind(), %error, "failed to decode a deleted object"),
        }
    }

    /// Ends a list: removes the objects that it did not contain from the store, and handles each as deleted.
    fn finish_list(&self) {
        for old in self.store().finish_replace() {
            self.on_change_catching_panics(&Change::Deleted { old }, true);
        }
        self.on_listed();
    }

    /// Removes the objects of shards that this replica no longer holds from the store. They still exist, so they don't count as deleted.
    fn remove_foreign(&self) {
        for entry in self.store().remove_where(|header| !self.is_own(header)) {
            self.on_dropped(&entry.header);
        }
    }
}

/// Runs `handle` for one object, and logs and counts a panic, so that the watch continues with the next object. Panics of user
/// closures don't arrive here: the callers of the closures catch them.
fn run_catching_panics(health: &Health, name: impl Fn() -> String, handle: impl FnOnce()) {
    if let Err(error) = catch(Closure::Runtime, handle) {
        health.count_panic();
        tracing::error!(kind = %health.kind(), object = name(), %error, "failed to process an object");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, clippy::unwrap_used)]
    use super::*;
    use crate::{cache::Store, kind::kind_of, log::Log};
    use k8s_openapi::api::core::v1::Pod;

    /// An event handler of Pods that panics on an object whose name is `bad`.
    struct FragileHandler {
        health: Health,
        store: Store<()>,
    }

    impl EventHandler for FragileHandler {
        type Projection = ();

        fn health(&self) -> &Health {
            &self.health
        }

        fn store(&self) -> &Store<()> {
            &self.store
        }

        fn store_object(&self, json: &[u8], _from_list: bool) -> Result<Change<()>> {
            Ok(self.store.try_project(Header::parse(json)?, |_| Ok::<_, serde_json::Error>(()))?)
        }

        /// Panics on an object whose name is `bad`.
        fn on_change(&self, change: &Change<()>, _from_list: bool) {
            let header = change.new_entry().or(change.old()).map(|entry| &entry.header);
            if header.unwrap().key.name() == "bad" {
                panic!("a bad object");
            }
        }
    }

    #[test]
    fn a_panic_of_the_runtime_on_an_object_is_logged_and_counted_and_the_watch_continues() {
        let handler = FragileHandler { health: Health::new(kind_of::<Pod>()), store: Store::default() };
        let log = Log::capture();
        let json = |name: &str| format!(r#"{{"metadata":{{"name":"{name}","uid":"{name}","resourceVersion":"1"}}}}"#);
        handler.apply(json("bad").as_bytes(), false);
        handler.apply(json("good").as_bytes(), false);
        handler.delete(json("bad").as_bytes());
        assert_eq!(handler.health.panics(), 2);
        assert_eq!(handler.store.len(), 1);
        let lines = log.lines();
        assert!(lines.len() == 2 && lines.iter().all(|line| line.contains("object=\"bad\"")), "{lines:#?}");
    }
}
