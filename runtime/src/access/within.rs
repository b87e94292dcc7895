//! Defines `Within`, the object names and the namespace that a permission is limited to.

/// A limit of a permission: to named objects, to one namespace, or both.
///
/// Names and namespaces are values, so the compiler can't check a call against them. The call checks them itself before it sends
/// a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// The names of the objects; empty for all.
    pub names: &'static [&'static str],
    /// The namespace; `None` for all namespaces.
    pub namespace: Option<&'static str>,
}

impl Within {
    /// Returns whether the permission, with its limit to names and a namespace, covers the object with this name and namespace.
    pub(crate) fn has(&self, namespace: Option<&str>, name: &str) -> bool {
        (self.names.is_empty() || self.names.contains(&name))
            && (self.namespace.is_none() || self.namespace == namespace)
    }
}
