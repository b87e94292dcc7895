//! Defines the names of keywords in the schemas of CustomResourceDefinitions.

/// The API server keeps fields that the schema doesn't name.
pub const PRESERVE_UNKNOWN_FIELDS: &str = "x-kubernetes-preserve-unknown-fields";
/// The value is an integer or a string.
pub const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
/// The value is a complete Kubernetes object, with `apiVersion`, `kind` and `metadata`.
pub const EMBEDDED_RESOURCE: &str = "x-kubernetes-embedded-resource";

/// All keywords that a schema of a definition may have. The API server drops all others.
pub const KEYWORDS: [&str; 44] = [
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    EMBEDDED_RESOURCE,
    INT_OR_STRING,
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    PRESERVE_UNKNOWN_FIELDS,
    "x-kubernetes-validations",
];
