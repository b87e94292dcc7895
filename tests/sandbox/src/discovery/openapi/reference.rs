//! Builds the names of schemas and references to them.

use serde_json::{Value, json};

/// Returns the name of a kind's schema: `io.k8s.api.apps.v1.Deployment`, `com.example.v1.Shop`.
pub(super) fn schema_name(kind: &crate::kind::Kind, name: &str) -> String {
    if let Some(definition) = crate::schema::builtin::of_kind(&kind.group, &kind.version, name) {
        return definition.name.to_owned();
    }
    let reversed: Vec<&str> = kind.group.rsplit('.').collect();
    format!("{}.{}.{name}", reversed.join("."), kind.version)
}

/// Returns a `$ref` to a schema of the document.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
