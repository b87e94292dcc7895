//! The schema of a kind with its types by name, as its derives give it.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// The schema of `K` as its derives say it, with its types by name below `components/schemas`.
pub fn schema_by_names<K: JsonSchema>() -> Value {
    let settings = SchemaSettings::openapi3().with(|settings| settings.meta_schema = None);
    settings.into_generator().into_root_schema_for::<K>().to_value()
}
