//! Provides the field descriptions of built-in kinds, as kube-apiserver publishes them.
//!
//! Only OpenAPI needs the descriptions; therefore they are stored separately from the schemas.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::Value;

/// The descriptions from kube-apiserver's OpenAPI documents, compressed.
const COMPRESSED: &[u8] = include_bytes!("../../../table/descriptions.json.zst");

/// Descriptions by definition and field; the empty field name stands for the definition itself.
type Descriptions = HashMap<String, HashMap<String, String>>;

static DESCRIPTIONS: LazyLock<Descriptions> = LazyLock::new(|| {
    let read = zstd::decode_all(COMPRESSED).map(|text| serde_json::from_slice(&text));
    match read {
        Ok(Ok(descriptions)) => descriptions,
        Ok(Err(error)) => log_unreadable(&error),
        Err(error) => log_unreadable(&error),
    }
});

/// Logs that the table can't be read, and returns no descriptions.
fn log_unreadable(error: &dyn std::error::Error) -> Descriptions {
    tracing::error!(%error, "the descriptions of the table are unreadable");
    Descriptions::new()
}

/// Adds descriptions to the schema of the built-in definition `name` and to its fields. Does nothing if the table does not have the name.
pub(super) fn describe(name: &str, schema: &mut Value) {
    let Some(descriptions) = DESCRIPTIONS.get(name) else { return };
    for (field, description) in descriptions {
        let target = if field.is_empty() { Some(&mut *schema) } else { schema["properties"].get_mut(field) };
        if let Some(Value::Object(target)) = target {
            target.insert("description".into(), description.clone().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_descriptions_is_readable() {
        let replicas = &DESCRIPTIONS["io.k8s.api.apps.v1.DeploymentSpec"]["replicas"];
        assert!(replicas.starts_with("Number of desired pods."), "{replicas}");
    }
}
