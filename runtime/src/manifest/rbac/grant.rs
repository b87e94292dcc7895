//! `Grant`: an RBAC rule with the scope where it holds and the node or loop that needs it.

use crate::{access::Rule, shape::Place};

/// One rule, where it is needed, and who asks for it.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) rule: Rule,
    pub(super) scope: Scope,
    pub(super) asker: Asker,
}

/// Who asks for a rule.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    /// The kind whose controller it is.
    pub(super) kind: String,
    pub(super) why: Why,
}

#[derive(Clone, Debug)]
pub(super) enum Why {
    /// The loop, whatever the tree is; in words.
    Loop(&'static str),
    /// A node: its path, empty for the root, and the line that asks.
    Node { path: String, place: Place },
}

/// Where a rule holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// In the namespace of the operator.
    Own,
    /// In another namespace, by its name.
    In(&'static str),
    /// In all namespaces, and for what lives in none.
    Cluster,
}
