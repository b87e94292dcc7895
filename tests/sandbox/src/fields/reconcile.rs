//! Converts field sets that were written under an older schema of a custom kind.

use serde_json::Value;

use super::{
    Element, Set, SetEntry,
    typed::{self, Structure, Type},
};
use crate::schema::{ListKind, Schema, Shape};

/// Converts a set to the current schema (upstream: `ReconcileFieldSetWithSchema`). If a field with fields under it has
/// become atomic, the result has the field itself instead of the fields under it.
pub(super) fn reconcile_set(type_: Type<'_>, set: &Set) -> Set {
    let mut result = Set::default();
    for SetEntry { element, member, children } in set.level() {
        let field_type = match element {
            Element::Field(name) => type_.field(name).map_or(Type::Deduced, |field| field.type_),
            // Any other element identifies an item of a list.
            _ => match type_.structure(Some(&Value::Array(Vec::new()))) {
                Structure::Items(list) => typed::items(list),
                Structure::Leaf | Structure::Map => Type::Deduced,
            },
        };
        if !children.is_empty() && is_atomic(field_type) {
            result.insert_subtree(element, true, Set::default());
        } else {
            result.insert_subtree(element, member, reconcile_set(field_type, children));
        }
    }
    result
}

/// Returns whether the schema declares a list or a map as atomic.
fn is_atomic(type_: Type<'_>) -> bool {
    let atomic = |schema: &Schema| match &schema.resolve().shape {
        Shape::Object(fields) => fields.atomic,
        Shape::List(list) => list.kind == ListKind::Atomic,
        Shape::Any | Shape::Scalar(_) | Shape::Named(_) => false,
    };
    matches!(type_, Type::Root(schema) | Type::Known(schema) if atomic(schema))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::builtin::parse;

    #[test]
    fn a_value_that_became_atomic_is_owned_as_a_whole() {
        let text = json!({"type": "string"});
        let map = json!({"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"x": text}});
        let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": text});
        let list = json!({"type": "array", "x-kubernetes-list-type": "atomic", "items": text});
        let schema = parse(&json!({"type": "object", "properties": {"map": map, "set": set, "list": list}}));
        let owned = json!({"f:map": {".": {}, "f:x": {}}, "f:set": {"v:\"a\"": {}}, "f:list": {"v:\"a\"": {}}});
        let owned = Set::decode(&owned).unwrap();
        let reconciled = json!({"f:map": {}, "f:set": {"v:\"a\"": {}}, "f:list": {}});
        assert_eq!(reconcile_set(Type::Known(&schema), &owned).encode(), reconciled);
    }
}
