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
    pub says: String,
    /// The reasons of the state; empty for a root cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Why>,
}

impl Why {
    pub(crate) fn new(object: impl Into<String>, says: impl Into<String>) -> Self {
        Self { object: object.into(), says: says.into(), because: Vec::new() }
    }

    /// Sets the reasons for this explanation.
    pub(crate) fn because(mut self, because: Vec<Self>) -> Self {
        self.because = because;
        self
    }

    /// Returns the root causes: the explanations without further reasons.
    pub fn causes(&self) -> Vec<&Self> {
        if self.because.is_empty() { vec![self] } else { self.because.iter().flat_map(Self::causes).collect() }
    }
}
