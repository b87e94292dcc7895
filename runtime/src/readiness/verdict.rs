//! `Readiness`: whether an object is ready, or the reason why it is not.

use serde_json::Value;

/// Whether an object is ready, or the reason why it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Readiness {
    /// The object has the state that its spec asks for.
    Ready,
    /// The object makes progress. The text describes the progress, and is the same for the same state.
    NotReady(String),
    /// The object makes no progress until something else happens, which the text describes.
    HeldUp(String),
}

/// Returns not ready for an object that makes progress.
pub(super) fn waiting(progress: impl Into<String>) -> Readiness {
    Readiness::NotReady(progress.into())
}

pub(super) fn held_up(reason: impl Into<String>) -> Readiness {
    Readiness::HeldUp(reason.into())
}

/// Returns not ready if the controller of the object has not set `observedGeneration` yet; `None` if it has, or for a kind without
/// generations.
pub(super) fn not_observed(generation: i64, status: &Value) -> Option<Readiness> {
    let not_observed = generation > 0 && status["observedGeneration"].is_null();
    not_observed.then(|| waiting("its controller has not observed it yet"))
}
