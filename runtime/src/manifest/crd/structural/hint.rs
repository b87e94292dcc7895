//! Returns the hint for each rule of structural schemas: the change of a Rust type or of an attribute that satisfies it.

use opgen_schema::{Rule, text};
use serde_json::Value;

/// Returns the hint for the rule of structural schemas that `keyword` of the schema `node` violates: how to change the Rust type or its
/// attributes.
pub(super) fn of(rule: Rule, keyword: &str, node: &Value) -> String {
    match rule {
        Rule::UnsupportedKeyword => return unsupported(keyword, node),
        Rule::RootKeyword => "move it to a field: `spec` can be an enum or a map, the root can't",
        Rule::RootType => "make the root a struct",
        Rule::TypeRequired => {
            "use a type with a schema (`()` has none), `serde_json::Value`, or `#[schemars(schema_with = ...)]`"
        }
        Rule::NullType => "`()` has no schema in Kubernetes: remove the field, or use a struct",
        Rule::TypeName | Rule::Reason => "use one of these values",
        Rule::ItemsRequired => "set the schema of the items",
        Rule::ItemsList => "a tuple has no schema in Kubernetes: use a struct with named fields",
        Rule::UniqueItems => "use `x-kubernetes-list-type: set`",
        Rule::Pattern => "remove look-around and back-references, which Go does not support, or use a CEL rule",
        Rule::FieldsOrMap => "move the map to a field of its own",
        Rule::PreserveUnknownFields => "remove it: false is the default",
        Rule::IntOrString => "keep one of the two keywords",
        Rule::EmbeddedResource => {
            "make it an object with fields or with `x-kubernetes-preserve-unknown-fields: true`, not a map"
        }
        Rule::ObjectFieldType => "remove it, or use that type",
        Rule::MetadataRestriction => "remove the other fields: Kubernetes defines them",
        Rule::ObjectFieldDefault => "remove it: every object sets this field itself",
        Rule::BranchType => {
            "make the variants structs, or one number and one string: a union of other types has no schema in Kubernetes"
        }
        Rule::BranchKeyword => "move it out of the branches, to the field itself",
        Rule::BranchMetadata => "restrict `name` in the schema of `metadata`",
        Rule::MapType => "use `atomic` or `granular`, on an object",
        Rule::ListType => "use `atomic`, `map` or `set`, on a list",
        Rule::SetItems => "set `atomic` on the items, or use a list of type map",
        Rule::NullableItems => "remove the `Option` from the item",
        Rule::MapKeys => "set `x-kubernetes-list-type: map` together with its keys",
        Rule::MapItems => "make the item a struct",
        Rule::MapKeyField => "use a field of the item",
        Rule::MapKeyTwice => "remove the duplicate",
        Rule::MapKeyType => "use a string, a number or a boolean as the key",
        Rule::MapKeyRequired => "make the field required, or give it a default",
        Rule::MapKeyNullable => "remove the `Option` from the field",
        Rule::Default => "set a default that is valid for the schema of the field",
        Rule::Expression => "set the expression, or remove the rule",
        Rule::Message => "set a message of one line; a rule of several lines needs it",
        Rule::MessageExpression => "set it, or remove it",
        Rule::FieldPath => "use a field of the schema that has the rule",
        Rule::OldSelf => "use `x-kubernetes-list-type: map`, or move the rule out of the list",
        Rule::OptionalOldSelf => "remove it",
    }
    .to_owned()
}

/// Returns the hint for a keyword of JSON Schema that CustomResourceDefinitions don't support.
fn unsupported(keyword: &str, node: &Value) -> String {
    match keyword {
        "$ref" => {
            let name = text(node, "$ref").rsplit('/').next().unwrap_or_default();
            format!(
                "the type `{name}` contains itself: use `serde_json::Value` for the field, or a type without recursion"
            )
        }
        "patternProperties" => "use a map with `String` or integers as keys".to_owned(),
        _ => "remove it".to_owned(),
    }
}
