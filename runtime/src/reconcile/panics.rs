//! Reports panics of user code on watched objects: in the log, by an event on the object, and in a counter.

use crate::{
    cache::{Header, ObjectKey, PerObject},
    engine::controller_state::ControllerState,
    error::Error,
    event::{EventObject, EventType},
    kind::Kind,
    panic::{Closure, Panicked, Panics},
};
use parking_lot::Mutex;

/// The reason of the events. The command `why` finds the events by it.
pub(crate) const PANICKED: &str = "Panicked";

/// The objects on which user closures of one watch panic. Every panic is counted. While a closure panics at every change of an
/// object, the panic is reported once.
#[derive(Debug, Default)]
pub(crate) struct PanicReports(Mutex<PerObject<Vec<Closure>>>);

impl PanicReports {
    /// Counts the panics that happened while an event handler processed an object, and reports each panic in the log and by an event,
    /// unless the same closure also panicked on the last change of the object.
    pub(crate) fn report(&self, shared: &ControllerState, kind: &Kind, header: &Header, panics: &Panics) {
        let closures: Vec<_> = panics.0.iter().map(|panicked| panicked.closure).collect();
        closures.iter().for_each(|closure| shared.counters.count_panic(*closure));
        let earlier = self.0.lock().update(&header.key, &header.uid, |stored| std::mem::replace(stored, closures));
        for panicked in panics.0.iter().filter(|panicked| !earlier.contains(&panicked.closure)) {
            tracing::error!(%kind, object = %header.key, error = %panicked, "user code panicked on an object; its changes may be missed");
            let object = EventObject { kind: kind.clone(), key: header.key.clone(), uid: header.uid.clone() };
            let regarding = shared.regarding(object);
            // The message of a panic may contain any data of the object, so only the log has it.
            let note = format!("{} panicked on this object; see the operator's log", panicked.closure.noun());
            shared.recorder.record(&regarding, EventType::Warning, PANICKED, "Watch", &note);
        }
    }

    /// Drops the state of a deleted object.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.0.lock().forget(key);
    }
}

/// Counts a panic in a pass, if the error of the pass is a caught panic of user code.
pub(super) fn count(shared: &ControllerState, error: &Error) {
    if let Error::Unexpected(source) = error
        && let Some(panicked) = source.downcast_ref::<Panicked>()
    {
        shared.count_pass_panic(panicked.closure);
    }
}
