//! Corrects the schemas that `kube` derives from Rust types where facts of these types are lost: nullability, unknown keywords, embedded
//! Kubernetes types.
//!
//! `kube` inlines every type, so its schema no longer shows which part comes from which type. The schema with references shows
//! it; the functions here walk both schemas together.

mod kubernetes;

use crate::nearest::nearest;
use opgen_schema::keyword::{INT_OR_STRING, KEYWORDS};
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::lint::Findings;
use super::schema::{BRANCH_KEYWORDS, field, items, list, values};

/// Keywords of derives that the API server drops without a loss, since they contain no rule for a value.
const ANNOTATION_KEYWORDS: [&str; 7] =
    ["$comment", "components", "contentEncoding", "contentMediaType", "deprecated", "readOnly", "writeOnly"];

/// Corrects `schema`, which `kube` derives with all types inlined, by comparing it with `by_names`, the schema of the same type in which
/// types are references by name. Reports the keywords and lists that a CustomResourceDefinition can't express.
pub(crate) fn correct(schema: &mut Value, by_names: &Value, findings: &mut Findings) {
    TypeWalk { definitions: &by_names["components"]["schemas"], findings }.correct_node(schema, &[by_names], "");
}

/// A walk through a schema and the named types that it was derived from.
struct TypeWalk<'a, 'f> {
    definitions: &'a Value,
    findings: &'f mut Findings,
}

impl<'a> TypeWalk<'a, '_> {
    /// Corrects the schema at `path` and all schemas below it. `schemas` are the schemas with references that the types define for the same
    /// place.
    fn correct_node(&mut self, schema: &mut Value, schemas: &[&'a Value], path: &str) {
        let origin = Origin::of(schemas, self.definitions);
        let Some(object) = schema.as_object_mut().filter(|_| !origin.schemas.is_empty()) else { return };
        self.check_keywords(&origin, object, path);
        // An int-or-string is nullable only if its Rust type admits null, as an `Option` does.
        if object.get(INT_OR_STRING).is_some() && !origin.is_nullable() {
            object.remove("nullable");
        }
        for name in &origin.names {
            for unmergeable in kubernetes::complete(object, name) {
                let problem = "Kubernetes merges this list by a key that may be missing, which a definition can't express, so one applier replaces the items of another";
                let fix = "use your own type for the items, with the key as a required field, or set `x-kubernetes-list-type` of the list in your own schema (`schema_with`)";
                self.findings.error(&field(path, unmergeable), problem, fix);
            }
        }
        for child in children(object, path) {
            let schemas = origin.child_schemas(child.relation);
            self.correct_node(child.schema, &schemas, &child.path);
        }
    }

    /// Reports each keyword in the schemas of the types (`origin`) that a CustomResourceDefinition doesn't support, so that `object`, the
    /// schema that `kube` derives, has lost it. A `const` is no loss where it became an `enum`.
    fn check_keywords(&mut self, origin: &Origin<'a>, object: &Map<String, Value>, path: &str) {
        let keys: BTreeSet<_> =
            origin.schemas.iter().filter_map(|schemas| schemas.as_object()).flat_map(Map::keys).collect();
        let is_const = |key: &str| key == "const" && object.contains_key("enum");
        let known = |key: &str| is_const(key) || KEYWORDS.iter().chain(&ANNOTATION_KEYWORDS).any(|known| *known == key);
        for key in keys.into_iter().filter(|key| !known(key)) {
            let problem = format!("`{key}` is not a schema keyword in Kubernetes, and is dropped");
            let fix = match nearest_keyword(key) {
                Some(known) => format!("write `{known}`, or remove it"),
                None => "remove it, or use a CEL rule (`x-kubernetes-validations`)".to_owned(),
            };
            self.findings.error(path, problem, fix);
        }
    }
}

/// The relation of a schema to the schema below it.
#[derive(Clone, Copy)]
enum Relation<'a> {
    Field(&'a str),
    Items,
    Values,
}

/// A schema directly below another schema.
struct SchemaChild<'a> {
    relation: Relation<'a>,
    path: String,
    schema: &'a mut Value,
}

/// Returns the schemas of the fields, items and map values directly below a schema, with their paths and relations.
fn children<'a>(object: &'a mut Map<String, Value>, path: &str) -> Vec<SchemaChild<'a>> {
    let mut children = Vec::new();
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => children.extend(fields.iter_mut().map(|(name, schema)| {
                SchemaChild { relation: Relation::Field(name.as_str()), path: field(path, name), schema }
            })),
            ("items", Value::Array(each)) => {
                children.extend(each.iter_mut().map(|schema| SchemaChild {
                    relation: Relation::Items,
                    path: items(path),
                    schema,
                }));
            }
            ("items", schema) => children.push(SchemaChild { relation: Relation::Items, path: items(path), schema }),
            ("additionalProperties", schema) => {
                children.push(SchemaChild { relation: Relation::Values, path: values(path), schema });
            }
            _ => {}
        }
    }
    children
}

/// All schemas that the types define for one node, behind references and in branches, and the names of the types.
struct Origin<'a> {
    schemas: Vec<&'a Value>,
    names: Vec<&'a str>,
}

impl<'a> Origin<'a> {
    /// Collects `schemas`, their branches, and the definitions of the types that they reference by name, at any depth. Follows each name
    /// once, since types may contain themselves.
    fn of(schemas: &[&'a Value], definitions: &'a Value) -> Self {
        let mut origin = Self { schemas: Vec::new(), names: Vec::new() };
        let mut stack: Vec<&Value> = schemas.iter().rev().copied().collect();
        while let Some(schema) = stack.pop() {
            origin.schemas.push(schema);
            stack.extend(BRANCH_KEYWORDS.iter().flat_map(|keyword| list(schema, keyword)));
            let reference = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
            if let Some((name, definition)) = reference.and_then(|name| Some((name, definitions.get(name)?)))
                && !origin.names.contains(&name)
            {
                origin.names.push(name);
                stack.push(definition);
            }
        }
        origin
    }

    /// Returns the schemas that the types define for the field, the items or the map values that `relation` names.
    fn child_schemas(&self, relation: Relation<'_>) -> Vec<&'a Value> {
        let child_schemas_of = |schema: &'a Value| -> Vec<&'a Value> {
            match relation {
                Relation::Field(name) => schema["properties"].get(name).into_iter().collect(),
                Relation::Items => match &schema["items"] {
                    Value::Array(each) => each.iter().collect(),
                    value => Some(value).filter(|value| !value.is_null()).into_iter().collect(),
                },
                Relation::Values => {
                    let patterns = schema["patternProperties"].as_object().into_iter().flat_map(Map::values);
                    schema.get("additionalProperties").into_iter().chain(patterns).collect()
                }
            }
        };
        self.schemas.iter().copied().flat_map(child_schemas_of).collect()
    }

    /// Returns whether the type admits null: a schema of the type allows it, or has no rule for its values.
    fn is_nullable(&self) -> bool {
        self.schemas.iter().any(|schema| {
            let is_null_value = |value: &Value| value.is_null() || value == "null";
            let is_reference = schema["$ref"].is_string();
            let has_no_rule =
                ["type", "enum", INT_OR_STRING, "allOf", "anyOf", "oneOf"].iter().all(|key| schema[*key].is_null());
            schema["nullable"] == true
                || schema["type"] == "null"
                || ["type", "enum"].iter().any(|key| list(schema, key).iter().any(is_null_value))
                || has_no_rule && !is_reference
        })
    }
}

/// Returns the supported keyword that is most similar to the unsupported `key`; `None` if no keyword is similar.
fn nearest_keyword(key: &str) -> Option<&'static str> {
    // `StructMerge` of `kube` generates this keyword; the API server has one keyword for structs and maps.
    if key == "x-kubernetes-struct-type" {
        return Some("x-kubernetes-map-type");
    }
    nearest(key, KEYWORDS.iter().copied())
}

#[cfg(test)]
mod tests;
