//! Builds the schema names of OpenAPI documents, such as `io.k8s.api.apps.v1.Deployment`, and the `$ref` entries that refer to schemas.

use serde_json::{Value, json};

/// Returns the name of the schema of an object or list in the group and version of `kind`:
/// `io.k8s.api.apps.v1.Deployment`, `com.example.v1.ShopList`. `kind_name` is the kind, its list kind, or the kind that
/// a subresource responds with.
pub(super) fn schema_name(kind: &crate::kind::Kind, kind_name: &str) -> String {
    if let Some(definition) = crate::schema::builtin::of_kind(&kind.group, &kind.version, kind_name) {
        return definition.name.to_owned();
    }
    let reversed: Vec<&str> = kind.group.rsplit('.').collect();
    format!("{}.{}.{kind_name}", reversed.join("."), kind.version)
}

/// Returns a `$ref` to a schema of the document.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
