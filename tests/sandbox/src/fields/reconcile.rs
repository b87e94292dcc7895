//! Migrates field sets that were written under an older schema of a custom kind.

use serde_json::Value;

use super::{
    Element, Set,
    typed::{self, Structure, Type},
};
use crate::schema::{ListKind, Schema, Shape};

/// Converts a set to the current schema: of a value that became atomic, only the whole value is owned.
pub(super) fn reconciled(of: Type<'_>, set: &Set) -> Set {
    let mut result = Set::default();
    for (element, member, below) in set.level() {
        let inner = match element {
            Element::Field(name) => of.field(name).map_or(Type::Deduced, |field| field.of),
            _ => match of.form(Some(&Value::Array(Vec::new()))) {
                Structure::Items(list) => typed::items(list),
                Structure::Leaf | Structure::Map => Type::Deduced,
            },
        };
        if !below.is_empty() && is_atomic(inner) {
            result.graft(element, true, Set::default());
        } else {
            result.graft(element, member, reconciled(inner, below));
        }
    }
    result
}

fn is_atomic(of: Type<'_>) -> bool {
    let atomic = |schema: &Schema| match &schema.resolve().shape {
        Shape::Object(fields) => fields.atomic,
        Shape::List(list) => list.kind == ListKind::Atomic,
        Shape::Any | Shape::Scalar(_) | Shape::Named(_) => false,
    };
    matches!(of, Type::Root(schema) | Type::Known(schema) if atomic(schema))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::builtin::parse;

    #[test]
    fn only_the_whole_of_a_value_that_became_atomic_is_owned() {
        let text = json!({"type": "string"});
        let map = json!({"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"x": text}});
        let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": text});
        let list = json!({"type": "array", "x-kubernetes-list-type": "atomic", "items": text});
        let schema = parse(&json!({"type": "object", "properties": {"map": map, "set": set, "list": list}}));
        let owned = json!({"f:map": {".": {}, "f:x": {}}, "f:set": {"v:\"a\"": {}}, "f:list": {"v:\"a\"": {}}});
        let owned = Set::decoded(&owned).unwrap();
        let now = json!({"f:map": {}, "f:set": {"v:\"a\"": {}}, "f:list": {}});
        assert_eq!(reconciled(Type::Known(&schema), &owned).encoded(), now);
    }
}
