//! `Violation`: a violated rule for the schemas of definitions, with the error of kube-apiserver.

use serde_json::Value;

use crate::{cause::Cause, schema_path::SchemaPath, step::Step};

/// A rule for the schemas of definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The root has only some of the keywords if the kind has a status subresource.
    RootKeyword,
    /// The root is an object.
    RootType,
    /// Each schema has a type, or admits any value or an int-or-string.
    TypeRequired,
    /// `type` is one of the types of JSON Schema without `null`.
    TypeName,
    /// Null is no type.
    NullType,
    /// A list has one schema for its items.
    ItemsRequired,
    /// `items` is no list of schemas.
    ItemsList,
    /// Keywords of JSON Schema that definitions don't have: `$ref`, `patternProperties`, ...
    UnsupportedKeyword,
    /// `uniqueItems` is not true.
    UniqueItems,
    /// `pattern` is a regular expression of Go.
    Pattern,
    /// A schema has either fields or values of a map.
    FieldsOrMap,
    /// `x-kubernetes-preserve-unknown-fields` is true or absent.
    PreserveUnknownFields,
    /// An int-or-string has no keyword of objects.
    IntOrString,
    /// An embedded resource is an object with fields, or keeps unknown ones.
    EmbeddedResource,
    /// `apiVersion`, `kind` and `metadata` have their types.
    ObjectFieldType,
    /// Only the names in the metadata of a kind are restricted.
    MetadataRestriction,
    /// `apiVersion`, `kind` and `metadata` have no default.
    ObjectFieldDefault,
    /// A branch has no type.
    BranchType,
    /// A branch has no keyword that defines fields, defaults or documentation.
    BranchKeyword,
    /// A branch does not restrict `metadata`.
    BranchMetadata,
    /// `x-kubernetes-map-type` is a known type, of an object.
    MapType,
    /// `x-kubernetes-list-type` is a known type, of a list.
    ListType,
    /// Items of a set are scalars or atomic.
    SetItems,
    /// Items of a set or a list map are not nullable.
    NullableItems,
    /// Map keys are those of a list map, which has some.
    MapKeys,
    /// Items of a list map are objects.
    MapItems,
    /// A map key is a field of the items.
    MapKeyField,
    /// A map key is named once.
    MapKeyTwice,
    /// A map key is a scalar.
    MapKeyType,
    /// A map key is required, or has a default.
    MapKeyRequired,
    /// A map key is not nullable.
    MapKeyNullable,
    /// A default is a value that its schema admits.
    Default,
    /// A CEL rule has an expression, which compiles.
    Expression,
    /// The message of a CEL rule is one line, and is there if the expression has several.
    Message,
    /// The message expression of a CEL rule compiles and gives a string.
    MessageExpression,
    /// The reason of a CEL rule is one of four.
    Reason,
    /// The field path of a CEL rule names a field.
    FieldPath,
    /// A CEL rule uses `oldSelf` only where the API server can find the old value.
    OldSelf,
    /// `optionalOldSelf` stands with a rule that uses `oldSelf`.
    OptionalOldSelf,
}

/// A rule that a schema violates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The steps from the root of the schema to the keyword that violates the rule.
    pub path: Vec<Step>,
    /// The message of kube-apiserver without the value.
    pub detail: String,
    /// The error of kube-apiserver.
    pub cause: Cause,
}

impl Violation {
    fn new(rule: Rule, path: SchemaPath, detail: &str, cause: impl FnOnce(String) -> Cause) -> Self {
        Self { rule, path: path.steps, detail: detail.to_owned(), cause: cause(path.text) }
    }

    pub(crate) fn required(rule: Rule, path: SchemaPath, detail: &str) -> Self {
        Self::new(rule, path, detail, |field| Cause::required(field, detail))
    }

    pub(crate) fn invalid(rule: Rule, path: SchemaPath, value: &Value, detail: &str) -> Self {
        Self::new(rule, path, detail, |field| Cause::invalid(field, value, detail))
    }

    /// Returns the violation of a keyword with an invalid text. An empty text counts as missing, which is another error of kube-apiserver.
    pub(crate) fn required_or_invalid(rule: Rule, path: SchemaPath, value: &str, detail: &str) -> Self {
        if value.is_empty() {
            Self::required(rule, path, detail)
        } else {
            Self::invalid(rule, path, &value.into(), detail)
        }
    }

    pub(crate) fn forbidden(rule: Rule, path: SchemaPath, detail: &str) -> Self {
        Self::new(rule, path, detail, |field| Cause::forbidden(field, detail))
    }

    pub(crate) fn unsupported(rule: Rule, path: SchemaPath, value: &str, supported: &[&str]) -> Self {
        let cause = Cause::unsupported(path.text, &value.into(), supported);
        Self { rule, path: path.steps, detail: cause.message.clone(), cause }
    }

    /// Returns the violation with an error that another check returned, about the keyword at `path`.
    pub(crate) fn from_cause(rule: Rule, path: Vec<Step>, cause: Cause) -> Self {
        Self { rule, path, detail: cause.message.clone(), cause }
    }
}
