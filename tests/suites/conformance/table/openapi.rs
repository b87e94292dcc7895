//! The definitions of the built-in types, and what their fields are for.

use std::collections::BTreeMap;

use kube::Client;
use serde_json::{Map, Value};

use super::get;

/// All definitions, by name.
async fn definitions(client: &Client) -> Result<BTreeMap<String, Value>, String> {
    let index = get(client, "/openapi/v3", "application/json").await?;
    let mut found = BTreeMap::new();
    for document in index["paths"].as_object().into_iter().flatten() {
        let path = document.1["serverRelativeURL"].as_str().unwrap_or_default();
        let mut document = get(client, path, "application/json").await?;
        if let Value::Object(schemas) = document["components"]["schemas"].take() {
            found.extend(schemas);
        }
    }
    Ok(found)
}

/// What stands in every document, each time with the group of the document as its own.
const EVERYWHERE: [&str; 2] =
    ["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions", "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent"];

/// A definition a line, without descriptions.
pub(super) async fn schemas(client: &Client) -> Result<String, String> {
    let mut lines = Vec::new();
    for (name, mut schema) in definitions(client).await? {
        shorten(&mut schema);
        if let (true, Value::Object(words)) = (EVERYWHERE.contains(&name.as_str()), &mut schema) {
            words.remove("x-kubernetes-group-version-kind");
        }
        lines.push(format!("{name:?}:{schema}"));
    }
    Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
}

/// By definition and field; a field without a name is the definition itself.
pub(super) async fn descriptions(client: &Client) -> Result<Value, String> {
    let described = |(name, schema): (String, Value)| {
        let of = |schema: &Value| schema.get("description").cloned();
        let own = of(&schema).map(|text| (String::new(), text));
        let fields = schema["properties"].as_object().into_iter().flatten();
        let fields = fields.filter_map(|(field, schema)| Some((field.clone(), of(schema)?)));
        (name, Value::Object(own.into_iter().chain(fields).collect::<Map<_, _>>()))
    };
    Ok(Value::Object(definitions(client).await?.into_iter().map(described).collect()))
}

/// Leaves out what only people read, and names a definition by its name alone.
fn shorten(schema: &mut Value) {
    let Value::Object(words) = schema else { return };
    words.remove("description");
    // Words that stand beside a reference are told so in OpenAPI v3.
    if let Some(Value::Array(one)) = words.remove("allOf") {
        words.extend(
            one.into_iter().filter_map(|one| if let Value::Object(words) = one { Some(words) } else { None }).flatten(),
        );
    }
    if let Some(Value::String(name)) = words.get_mut("$ref") {
        *name = name.trim_start_matches("#/components/schemas/").to_owned();
    }
    for (word, value) in words {
        match (word.as_str(), value) {
            ("properties", Value::Object(fields)) => fields.values_mut().for_each(shorten),
            ("items" | "additionalProperties", value) => shorten(value),
            ("oneOf", Value::Array(choices)) => choices.iter_mut().for_each(shorten),
            _ => {}
        }
    }
}
