//! `Why`: an object, the state that it reports, and the causes of that state.

use serde::Serialize;

/// The explanation of an object's state.
///
/// It is read from the current state of the cluster, with the rights of the user: conditions, references to and from the object,
/// its children, and finalizers. Its text fits a screen and ends with the causes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Why {
    /// The object, for example `WebApp shop/blue`.
    pub object: String,
    /// The state of the object, as a predicate: `is not ready: ...`.
    #[serde(rename = "says")]
    pub state: String,
    /// The reasons of the state; empty for a root cause.
    #[serde(rename = "because", skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Why>,
}

impl Why {
    pub(crate) fn new(object: impl Into<String>, state: impl Into<String>) -> Self {
        Self { object: object.into(), state: state.into(), reasons: Vec::new() }
    }

    /// Sets the reasons for this explanation.
    pub(crate) fn with_reasons(mut self, reasons: Vec<Self>) -> Self {
        self.reasons = reasons;
        self
    }

    /// Returns the root causes: the explanations without further reasons.
    pub fn causes(&self) -> Vec<&Self> {
        if self.reasons.is_empty() { vec![self] } else { self.reasons.iter().flat_map(Self::causes).collect() }
    }
}
