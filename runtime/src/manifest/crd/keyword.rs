//! Keywords that Kubernetes adds to JSON schemas.

/// A field may hold what its schema does not name.
pub(super) const OPEN: &str = "x-kubernetes-preserve-unknown-fields";
/// A number or a text.
pub(super) const EITHER: &str = "x-kubernetes-int-or-string";
/// A whole object of Kubernetes.
pub(super) const EMBEDDED: &str = "x-kubernetes-embedded-resource";
