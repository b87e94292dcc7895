//! `Why`: an object, the state that it reports, and the causes of that state.

use serde::Serialize;

/// Why an object is as it is.
///
/// It is read from the cluster as it is now, with the rights of who asks: conditions, what the object names and what names it,
/// what it is made of, and who holds it by finalizers. Its text fits a screen and ends with the causes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Why {
    /// The object, for example `WebApp shop/blue`.
    pub object: String,
    /// What is to be said of it.
    pub says: String,
    /// What that comes of; nothing for a cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Why>,
}

impl Why {
    pub(crate) fn new(object: impl Into<String>, says: impl Into<String>) -> Self {
        Self { object: object.into(), says: says.into(), because: Vec::new() }
    }

    pub(crate) fn because(mut self, because: Vec<Self>) -> Self {
        self.because = because;
        self
    }

    /// Where the questions end: what comes of nothing else.
    pub fn causes(&self) -> Vec<&Self> {
        if self.because.is_empty() { vec![self] } else { self.because.iter().flat_map(Self::causes).collect() }
    }
}
