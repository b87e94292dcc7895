//! `Step`: one part of the path from the root of a schema to a keyword.

/// One part of the path from the root of a schema to a keyword in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// The schema of the field with this name.
    Property(String),
    /// The schema of the items of a list.
    Items,
    /// The schema of the values of a map.
    AdditionalProperties,
    /// A schema in `allOf`, `anyOf` or `oneOf`: the keyword and the index.
    Branch(&'static str, usize),
    /// The schema of `not`.
    Not,
    /// A CEL rule of the schema: its index in `x-kubernetes-validations`.
    Validation(usize),
    /// A keyword of the schema, or a key of a CEL rule.
    Keyword(String),
}
