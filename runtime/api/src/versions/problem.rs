//! `FieldProblem`: a field that a conversion could not convert and leaves out, with the reason.

use std::fmt;

/// A field that could not be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldProblem {
    /// The path of the field in the version that has it, for example `spec.pools[0].size`.
    pub path: String,
    /// Why its value has no counterpart.
    pub message: String,
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
