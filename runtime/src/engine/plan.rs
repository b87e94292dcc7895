//! `Claims`: which tree node wants each object in a pass. `Plan`: the claims of all build functions of a tree, computed without a call to
//! the API server.

use crate::{cache::ObjectKey, kind::Kind};
use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

/// The node that claims each object, and the nodes that have claimed all objects they want.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    /// The path of the claiming node by object.
    pub(crate) nodes: HashMap<(Kind, ObjectKey), Arc<str>>,
    /// Paths of the nodes whose claims are complete.
    pub(crate) complete: HashSet<Arc<str>>,
}

/// The claims of a tree's build functions, computed without a call to the API server.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) claims: Claims,
    /// Whether every build function has succeeded.
    pub(crate) complete: bool,
    /// Whether a function of the tree has read a lister: it may return something else when its node runs.
    pub(crate) reads_listers: bool,
}

impl Claims {
    /// Returns the node that claims an object; `None` if no node does.
    pub(crate) fn of(&self, kind: &Kind, key: &ObjectKey) -> Option<&Arc<str>> {
        self.nodes.get(&(kind.clone(), key.clone()))
    }
}
