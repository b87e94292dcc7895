//! Builds the paths and operations of an OpenAPI document.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    components::gvk,
    reference::{reference, schema_name},
};
use crate::kind::{Kind, Subresource};

/// Returns the paths below `prefix` of the kinds, and the operations of each path. They contain only the parts that kubectl reads to check
/// `fieldValidation` and for `kubectl explain`.
pub(super) fn paths(prefix: &str, kinds: &[&Arc<Kind>]) -> Map<String, Value> {
    let mut paths = Map::new();
    for kind in kinds {
        let cluster_path = format!("/{prefix}/{}", kind.plural);
        let collection = if kind.namespaced {
            format!("/{prefix}/namespaces/{{namespace}}/{}", kind.plural)
        } else {
            cluster_path.clone()
        };
        if kind.namespaced && has_verb(kind, "list") {
            paths.insert(cluster_path, path_item(kind, &[("get", "list")], &kind.list_kind));
        }
        let verbs: Vec<_> =
            supported_verbs(kind, &[("get", "list"), ("post", "create"), ("delete", "deletecollection")]);
        paths.insert(collection.clone(), path_item(kind, &verbs, &kind.kind));
        let verbs =
            supported_verbs(kind, &[("get", "get"), ("put", "update"), ("patch", "patch"), ("delete", "delete")]);
        if !verbs.is_empty() {
            paths.insert(format!("{collection}/{{name}}"), path_item(kind, &verbs, &kind.kind));
        }
        for subresource in &kind.subresources {
            paths.insert(
                format!("{collection}/{{name}}/{}", subresource.name),
                subresource_path_item(kind, subresource),
            );
        }
    }
    paths
}

/// Returns whether a kind supports a verb.
fn has_verb(kind: &Kind, verb: &str) -> bool {
    kind.verbs.iter().any(|other| other == verb)
}

/// Returns the pairs of HTTP method and verb that a kind supports.
fn supported_verbs(kind: &Kind, verbs: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    verbs.iter().copied().filter(|(_, verb)| has_verb(kind, verb)).collect()
}

/// Returns the operations of a path by HTTP method. `verbs` are pairs of HTTP method and RBAC verb; `response_kind` is the kind of the
/// responses, except to a list.
fn path_item(kind: &Kind, verbs: &[(&str, &str)], response_kind: &str) -> Value {
    let method_and_operation = |(method, verb): &(&str, &str)| {
        let response_kind = if *verb == "list" { &kind.list_kind } else { response_kind };
        let schema = reference(&schema_name(kind, response_kind));
        ((*method).to_owned(), operation(verb, &schema, &gvk(kind, &kind.kind)))
    };
    Value::Object(verbs.iter().map(method_and_operation).collect())
}

/// Returns the operations of the path of a subresource by HTTP method, with the schema of the kind that the subresource responds with.
fn subresource_path_item(kind: &Kind, subresource: &Subresource) -> Value {
    let (group, version, response_kind) = &subresource.answers;
    let (group, version) = if version.is_empty() { (&kind.group, &kind.version) } else { (group, version) };
    let name = crate::schema::builtin::of_kind(group, version, response_kind)
        .map_or_else(|| schema_name(kind, response_kind), |definition| definition.name.to_owned());
    let gvk = json!({"group": group, "version": version, "kind": response_kind});
    let method_and_operation = |verb: &String| {
        let method = match verb.as_str() {
            "create" => "post",
            "update" => "put",
            other => other,
        };
        (method.to_owned(), operation(verb, &reference(&name), &gvk))
    };
    Value::Object(subresource.verbs.iter().map(method_and_operation).collect())
}

/// Returns an operation with its parameters, request body and response; `schema` refers to the
/// schema of the object in request and response.
fn operation(verb: &str, schema: &Value, gvk: &Value) -> Value {
    let action = match verb {
        "create" => "post",
        "update" => "put",
        other => other,
    };
    let mut operation = json!({
        "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": schema}}}},
        "x-kubernetes-action": action, "x-kubernetes-group-version-kind": gvk,
    });
    let parameters: &[&str] = match verb {
        "create" | "update" => &["dryRun", "fieldManager", "fieldValidation"],
        "patch" => &["dryRun", "fieldManager", "fieldValidation", "force"],
        _ => &[],
    };
    if !parameters.is_empty() {
        let parameter = |name: &&str| {
            let kind = if *name == "force" { "boolean" } else { "string" };
            json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}})
        };
        operation["parameters"] = parameters.iter().map(parameter).collect();
        let media_types: &[&str] = match verb {
            "patch" => &[
                "application/apply-patch+yaml",
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/strategic-merge-patch+json",
            ],
            _ => &["*/*"],
        };
        let patch_schema = reference("io.k8s.apimachinery.pkg.apis.meta.v1.Patch");
        let body = if verb == "patch" { &patch_schema } else { schema };
        let content: Map<String, Value> =
            media_types.iter().map(|media_type| ((*media_type).to_owned(), json!({"schema": body}))).collect();
        operation["requestBody"] = json!({"content": content, "required": true});
    }
    operation
}
