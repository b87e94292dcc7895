//! `Readiness`: whether an object is ready, and what it waits for.

use serde_json::Value;

/// Whether an object is ready, and if not, what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Readiness {
    /// As its spec asks for.
    Ready,
    /// On its way; the text says how far it is, and is the same for the same state.
    NotReady(String),
    /// Not on its way: something else has to happen first, and the text says what.
    HeldUp(String),
}

pub(super) fn waiting(what: impl Into<String>) -> Readiness {
    Readiness::NotReady(what.into())
}

pub(super) fn held_up(by: impl Into<String>) -> Readiness {
    Readiness::HeldUp(by.into())
}

/// What waits for the first look of its controller.
pub(super) fn unseen(generation: i64, status: &Value) -> Option<Readiness> {
    let unseen = generation > 0 && status["observedGeneration"].is_null();
    unseen.then(|| waiting("its controller has not seen it yet"))
}
