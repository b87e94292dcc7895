//! Collects the schemas of an OpenAPI document and all schemas that they refer to.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    descriptions,
    reference::{reference, schema_name},
};
use crate::{kind::Kind, schema::builtin};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The page of the Kubernetes API conventions that describes lists.
const CONVENTIONS: &str = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/// The schemas that every document contains.
const ALWAYS: [&str; 3] = ["DeleteOptions", "Patch", "Status"];

/// Returns the schemas of the kinds and of everything that they refer to, by name.
pub(super) fn schemas(kinds: &[&Arc<Kind>]) -> Map<String, Value> {
    let mut collected = Map::new();
    // The names of the built-in definitions that are still to be added.
    let mut wanted: Vec<String> = ALWAYS.iter().map(|name| format!("{META}.{name}")).collect();
    for kind in kinds {
        match kind.custom() {
            Some(custom) => {
                collected.insert(
                    schema_name(kind, &kind.kind),
                    custom_schema(kind, &custom.schema_json, &custom.selectable),
                );
                collected.insert(schema_name(kind, &kind.list_kind), custom_list(kind));
                wanted.push(format!("{META}.ObjectMeta"));
                wanted.push(format!("{META}.ListMeta"));
            }
            None => wanted.extend([schema_name(kind, &kind.kind), schema_name(kind, &kind.list_kind)]),
        }
        for (group, version, response_kind) in kind.subresources.iter().map(|subresource| &subresource.answers) {
            let (group, version) = if version.is_empty() { (&kind.group, &kind.version) } else { (group, version) };
            wanted.extend(builtin::of_kind(group, version, response_kind).map(|definition| definition.name.to_owned()));
        }
    }
    while let Some(name) = wanted.pop() {
        if collected.contains_key(&name) {
            continue;
        }
        let Some(definition) = builtin::definition(&name) else { continue };
        let mut schema: Value = serde_json::from_str(definition.text).unwrap_or_default();
        descriptions::describe(&name, &mut schema);
        convert_references(&mut schema, &mut wanted);
        collected.insert(name, schema);
    }
    collected
}

/// Converts the references in a definition of the built-in table, `{"$ref": NAME}`, to OpenAPI references, and adds the names to `wanted`.
/// A reference beside other keywords goes into an `allOf`, since OpenAPI v3.0 ignores the siblings of a `$ref`.
fn convert_references(schema: &mut Value, wanted: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(|value| convert_references(value, wanted));
            let Some(Value::String(name)) = map.get("$ref") else { return };
            let (name, is_alone) = (name.clone(), map.len() == 1);
            map.remove("$ref");
            if is_alone {
                *schema = reference(&name);
            } else {
                map.insert("allOf".into(), json!([reference(&name)]));
            }
            wanted.push(name);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| convert_references(item, wanted)),
        _ => {}
    }
}

/// Returns the schema of a custom kind with `apiVersion`, `kind` and `metadata`, which every object has, and the OpenAPI extensions.
fn custom_schema(kind: &Kind, schema: &Value, selectable: &[String]) -> Value {
    let mut schema = if schema.is_object() { schema.clone() } else { json!({"type": "object"}) };
    let mut metadata = json!({"allOf": [reference(&format!("{META}.ObjectMeta"))]});
    // The descriptions of these fields are the same in every kind; copy them from a built-in kind.
    let mut model =
        json!({"properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {}}});
    descriptions::describe("io.k8s.api.core.v1.ConfigMap", &mut model);
    metadata["description"] = model["properties"]["metadata"]["description"].take();
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    for field in ["apiVersion", "kind"] {
        schema["properties"][field] = model["properties"][field].take();
    }
    schema["properties"]["metadata"] = metadata;
    schema["x-kubernetes-group-version-kind"] = json!([gvk(kind, &kind.kind)]);
    if !selectable.is_empty() {
        let fields = selectable.iter().map(|path| json!({"fieldPath": path}));
        schema["x-kubernetes-selectable-fields"] = fields.collect();
    }
    schema
}

/// Returns the schema of the list of a custom kind.
fn custom_list(kind: &Kind) -> Value {
    let (name, list) = (&kind.kind, &kind.list_kind);
    let items = format!("List of {}. More info: {CONVENTIONS}", kind.plural);
    let mut schema = json!({
        "description": format!("{list} is a list of {name}"), "type": "object", "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"}, "kind": {"type": "string"},
            "metadata": {"allOf": [reference(&format!("{META}.ListMeta"))]},
            "items": {"description": items, "type": "array", "items": reference(&schema_name(kind, name))},
        },
        "x-kubernetes-group-version-kind": [gvk(kind, list)],
    });
    // The descriptions of these fields are the same in every list; copy them from a built-in list.
    let mut model =
        json!({"properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {}}});
    descriptions::describe("io.k8s.api.core.v1.SecretList", &mut model);
    for field in ["apiVersion", "kind", "metadata"] {
        schema["properties"][field]["description"] = model["properties"][field]["description"].take();
    }
    schema
}

/// Returns an entry of `x-kubernetes-group-version-kind`.
pub(super) fn gvk(kind: &Kind, name: &str) -> Value {
    json!({"group": kind.group, "kind": name, "version": kind.version})
}
