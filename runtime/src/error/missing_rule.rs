//! `MissingRule`: the RBAC rule that the operator's role lacks, derived from a forbidden call.

use crate::shape::Verb;
use std::fmt;

/// An RBAC rule that the operator's role lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingRule {
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) verb: Verb,
    pub(crate) namespace: Option<String>,
}

impl fmt::Display for MissingRule {
    /// Writes which call the operator may not make, and which verb and resource its role lacks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.group.is_empty() { "the core group" } else { &self.group };
        write!(f, "the operator may not {} {} of {group} ", self.verb.as_str(), self.resource)?;
        match &self.namespace {
            Some(namespace) => write!(f, "in namespace {namespace}")?,
            None => f.write_str("at cluster scope")?,
        }
        write!(f, "; its role lacks `{}: {}`", self.resource, self.verb.as_str())
    }
}
