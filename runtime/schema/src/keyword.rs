//! Names of the keywords that Kubernetes adds to JSON Schema.

/// The API server keeps fields that the schema doesn't name.
pub(crate) const PRESERVE_UNKNOWN_FIELDS: &str = "x-kubernetes-preserve-unknown-fields";
/// The value is an integer or a string.
pub(crate) const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
/// The value is a complete Kubernetes object, with `apiVersion`, `kind` and `metadata`.
pub(crate) const EMBEDDED_RESOURCE: &str = "x-kubernetes-embedded-resource";
