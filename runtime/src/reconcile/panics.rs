//! Reports panics of user code on watched objects: in the log, by an event on the object, and in a counter.

use crate::{
    cache::{Header, ObjectKey, PerObject},
    engine::pass::Shared,
    error::Error,
    event::{EventType, Regarding},
    kind::Kind,
    panic::{Closure, Panicked, Panics},
};
use parking_lot::Mutex;

/// The reason of the events, by which `why` finds them.
pub(crate) const PANICKED: &str = "Panicked";

/// The objects on which closures of one watch panic. Each panic is counted, and reported once as long as it recurs with each
/// change of the object.
#[derive(Debug, Default)]
pub(crate) struct Reported(Mutex<PerObject<Vec<Closure>>>);

impl Reported {
    /// Reports what happened while an object was taken in; nothing, if all went well.
    pub(crate) fn report(&self, shared: &Shared, kind: &Kind, header: &Header, panics: &Panics) {
        let closures: Vec<_> = panics.0.iter().map(|panicked| panicked.closure).collect();
        closures.iter().for_each(|closure| shared.counters.count_panic(*closure));
        let before = self.0.lock().update(&header.key, &header.uid, |held| std::mem::replace(held, closures));
        for panicked in panics.0.iter().filter(|panicked| !before.contains(&panicked.closure)) {
            tracing::error!(%kind, object = %header.key, error = %panicked, "user code panicked on an object; its changes may be missed");
            let regarding = Regarding { kind: kind.clone(), key: header.key.clone(), uid: header.uid.clone() };
            // The message of a panic may hold anything, so only the log has it.
            let note = format!("{} panicked on this object; the operator's log says why", panicked.closure.noun());
            shared.recorder.record(&regarding, EventType::Warning, PANICKED, "Watch", &note);
        }
    }

    /// Drops what is known of an object that is gone.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.0.lock().forget(key);
    }
}

/// Counts the error of a pass, if user code panicked.
pub(super) fn count(shared: &Shared, error: &Error) {
    if let Error::Unexpected(source) = error
        && let Some(panicked) = source.downcast_ref::<Panicked>()
    {
        shared.counters.count_panic(panicked.closure);
    }
}
