//! `Within`: the names and namespace that a permission is limited to.

/// Where a permission holds, if not everywhere that the operator watches.
///
/// Names and namespaces are values, so the compiler can't hold a call against them; the call itself does, before anything
/// leaves the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// The objects by name; empty for all.
    pub names: &'static [&'static str],
    /// The namespace; `None` for every one.
    pub namespace: Option<&'static str>,
}

impl Within {
    /// Whether it holds for the object.
    pub(crate) fn has(&self, namespace: Option<&str>, name: &str) -> bool {
        (self.names.is_empty() || self.names.contains(&name))
            && (self.namespace.is_none() || self.namespace == namespace)
    }
}
