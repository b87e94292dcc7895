//! Converts the OpenAPI schema of a kind to JSON Schema, for clients that write objects of the kind into a NATS key-value bucket.

use crate::manifest::{crd::definition::Definition, json, project::Project};
use serde_json::{Map, Value, json};

/// Returns the JSON Schema of the values in the bucket of a kind, with the description of a generated file; the kind's own description
/// becomes a `$comment`. Returns `None` if the definition has no schema of the controller's version.
pub(super) fn json_schema(project: &Project, definition: &Definition) -> Option<Value> {
    let controlled = project
        .controllers
        .iter()
        .find(|controlled| controlled.kind.group == definition.group && controlled.kind.kind == definition.kind)?;
    let Value::Object(mut schema) = converted(definition.schema(&controlled.kind.version)?) else { return None };
    if let Some(own) = schema.insert("description".to_owned(), json::description().into()) {
        schema.insert("$comment".to_owned(), own);
    }
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), definition.kind.clone().into());
    Some(Value::Object(schema))
}

/// Converts an OpenAPI schema of Kubernetes to JSON Schema, which expresses `nullable`, int-or-string and exclusive limits in another way.
/// Removes the `x-kubernetes-` extensions, which have no meaning in JSON Schema.
fn converted(schema: &Value) -> Value {
    let Value::Object(own) = schema else { return schema.clone() };
    let mut result = Map::new();
    for (key, value) in own {
        match key.as_str() {
            "properties" | "patternProperties" => {
                let fields = value.as_object().into_iter().flatten();
                let fields: Map<_, _> = fields.map(|(name, field)| (name.clone(), converted(field))).collect();
                result.insert(key.clone(), fields.into());
            }
            "items" | "additionalProperties" | "not" => drop(result.insert(key.clone(), converted(value))),
            "allOf" | "anyOf" | "oneOf" => {
                let branches = value.as_array().into_iter().flatten().map(converted).collect();
                result.insert(key.clone(), Value::Array(branches));
            }
            "nullable" => {}
            "exclusiveMinimum" | "exclusiveMaximum" => {}
            "x-kubernetes-int-or-string" if *value == true => {
                result.insert("type".to_owned(), json!(["integer", "string"]));
            }
            extension if extension.starts_with("x-kubernetes-") => {}
            _ => drop(result.insert(key.clone(), value.clone())),
        }
    }
    for (exclusive, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if own.get(exclusive) == Some(&Value::Bool(true))
            && let Some(value) = result.remove(limit)
        {
            result.insert(exclusive.to_owned(), value);
        }
    }
    if own.get("nullable") == Some(&Value::Bool(true)) {
        admit_null(&mut result);
    }
    Value::Object(result)
}

/// Makes a JSON Schema admit null, by adding null to its types and to its enum. A schema without a type admits null anyway.
fn admit_null(schema: &mut Map<String, Value>) {
    match schema.get_mut("type") {
        Some(Value::Array(types)) => types.push(json!("null")),
        Some(single) => *single = json!([single.clone(), "null"]),
        None => return,
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}
