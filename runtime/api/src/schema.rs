//! Generates the OpenAPI schema of a kind in which each nested Rust type is a named schema below `components/schemas`, referred to by
//! `$ref`.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// Returns the OpenAPI schema of `K` that `JsonSchema` defines. Nested types are `$ref`s to named schemas below `components/schemas`.
pub fn schema_by_names<K: JsonSchema>() -> Value {
    let settings = SchemaSettings::openapi3().with(|settings| settings.meta_schema = None);
    settings.into_generator().into_root_schema_for::<K>().to_value()
}
