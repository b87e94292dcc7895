//! Builds the paths and operations of an OpenAPI document.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    components::gvk,
    reference::{reference, schema_name},
};
use crate::kind::{Kind, Subresource};

/// Returns the paths and their operations, limited to the parts that clients read: kubectl's check of `fieldValidation`
/// and its `explain`.
pub(super) fn paths(prefix: &str, kinds: &[&Arc<Kind>]) -> Map<String, Value> {
    let mut paths = Map::new();
    for kind in kinds {
        let all = format!("/{prefix}/{}", kind.plural);
        let collection =
            if kind.namespaced { format!("/{prefix}/namespaces/{{namespace}}/{}", kind.plural) } else { all.clone() };
        if kind.namespaced && may(kind, "list") {
            paths.insert(all, item(kind, &[("get", "list")], &kind.list_kind));
        }
        let verbs: Vec<_> = allowed(kind, &[("get", "list"), ("post", "create"), ("delete", "deletecollection")]);
        paths.insert(collection.clone(), item(kind, &verbs, &kind.kind));
        let verbs = allowed(kind, &[("get", "get"), ("put", "update"), ("patch", "patch"), ("delete", "delete")]);
        if !verbs.is_empty() {
            paths.insert(format!("{collection}/{{name}}"), item(kind, &verbs, &kind.kind));
        }
        for subresource in &kind.subresources {
            paths.insert(format!("{collection}/{{name}}/{}", subresource.name), below(kind, subresource));
        }
    }
    paths
}

fn may(kind: &Kind, verb: &str) -> bool {
    kind.verbs.iter().any(|own| own == verb)
}

fn allowed(kind: &Kind, verbs: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    verbs.iter().copied().filter(|(_, verb)| may(kind, verb)).collect()
}

fn item(kind: &Kind, verbs: &[(&str, &str)], answered: &str) -> Value {
    let operation = |(method, verb): &(&str, &str)| {
        let answered = if *verb == "list" { &kind.list_kind } else { answered };
        let schema = reference(&schema_name(kind, answered));
        ((*method).to_owned(), operation(verb, &schema, &gvk(kind, &kind.kind)))
    };
    Value::Object(verbs.iter().map(operation).collect())
}

fn below(kind: &Kind, subresource: &Subresource) -> Value {
    let (group, version, answered) = &subresource.answers;
    let (group, version) = if version.is_empty() { (&kind.group, &kind.version) } else { (group, version) };
    let name = crate::schema::builtin::of_kind(group, version, answered)
        .map_or_else(|| schema_name(kind, answered), |definition| definition.name.to_owned());
    let gvk = json!({"group": group, "version": version, "kind": answered});
    let operation = |verb: &String| {
        let method = match verb.as_str() {
            "create" => "post",
            "update" => "put",
            other => other,
        };
        (method.to_owned(), operation(verb, &reference(&name), &gvk))
    };
    Value::Object(subresource.verbs.iter().map(operation).collect())
}

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
        let media: &[&str] = match verb {
            "patch" => &[
                "application/apply-patch+yaml",
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/strategic-merge-patch+json",
            ],
            _ => &["*/*"],
        };
        let patch = reference("io.k8s.apimachinery.pkg.apis.meta.v1.Patch");
        let body = if verb == "patch" { &patch } else { schema };
        let content: Map<String, Value> =
            media.iter().map(|media| ((*media).to_owned(), json!({"schema": body}))).collect();
        operation["requestBody"] = json!({"content": content, "required": true});
    }
    operation
}
