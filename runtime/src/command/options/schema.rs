//! Generates the JSON schema of the configuration file of an operator.

use super::group::ManagerOptions;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The `apiVersion` of the file.
pub(super) const API_VERSION: &str = "config.opgen.dev/v1alpha1";

/// The `kind` of the file.
pub(super) const KIND: &str = "OperatorConfiguration";

/// Returns the JSON schema (draft 2020-12) of the configuration file of an operator, for editors and checks in CI. The crate
/// contains it as the file `operator-configuration.schema.json`.
pub fn configuration_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<ManagerOptions>().to_value();
    schema["title"] = KIND.into();
    schema["required"] = json!(["apiVersion", "kind"]);
    schema["properties"]["apiVersion"] = json!({"const": API_VERSION, "description": "The version of the format."});
    schema["properties"]["kind"] = json!({"const": KIND});
    schema
}
