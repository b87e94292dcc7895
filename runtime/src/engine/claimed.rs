//! `Claims`: the node that wants each object in a pass, and `Plan`: the claims known before the nodes run.

use crate::{cache::ObjectKey, kind::Kind};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

/// Which node wants which object, and which nodes have claimed all they want.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    pub(crate) nodes: HashMap<(Kind, ObjectKey), Arc<str>>,
    pub(crate) complete: HashSet<Arc<str>>,
}

/// What the build functions of a tree want, as far as it can be known without running the tree.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) claims: Claims,
    /// Whether every build function has answered.
    pub(crate) complete: bool,
}

impl Claims {
    pub(crate) fn of(&self, kind: &Kind, key: &ObjectKey) -> Option<&Arc<str>> {
        self.nodes.get(&(unversioned(kind), key.clone()))
    }
}

/// The same kind in every version: an object is there in all of them.
pub(crate) fn unversioned(kind: &Kind) -> Kind {
    Kind { version: Cow::Borrowed(""), ..kind.clone() }
}
