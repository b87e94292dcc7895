//! Checks the objects that a driver returns for one application: rules 7 to 15 of the [suite](super).

use std::collections::BTreeSet;

use opgen::cd::ApplicationSpec;
use serde_json::Value;

use super::{
    collection::{is_of_kind, object_id, object_label, without_nulls},
    facts::{AppliedKind, DriverFacts},
    name::{is_dns_label, is_dns_subdomain, metadata_problem},
};
use crate::object::text;

/// A violation: the number of the statement, the object, and what is wrong.
pub(super) type ObjectProblem = (u32, String, String);

/// Returns the violations of statements 7 to 15 by the objects that a driver returns for one application, each object by itself.
pub(super) fn problems(driver: &DriverFacts, spec: &ApplicationSpec, objects: &[Value]) -> Vec<ObjectProblem> {
    let kinds = driver.applied_kinds();
    let (mut problems, mut seen) = (Vec::new(), BTreeSet::new());
    // The highest position in `ACCESS` of the kinds of the objects so far.
    let mut latest = 0;
    // A driver copies the values of the user into its objects: if these have empty parts, an empty part of an object is no violation.
    let has_empty_values = spec.values.as_ref().is_some_and(|values| empty_part(values, "").is_some());
    for (at, object) in objects.iter().enumerate() {
        let object = &without_nulls(object.clone());
        let label = object_label(object, at);
        let mut report = |statement: u32, problem: String| problems.push((statement, label.clone(), problem));
        let name = text(object, "/metadata/name");
        if name.is_empty() {
            report(8, "it has no `metadata.name`".to_owned());
        } else if !is_name(object, name) {
            report(11, "its name is not valid".to_owned());
        }
        match kinds.iter().position(|applied| is_of_kind(object, &applied.kind)) {
            None => report(8, "its `apiVersion` and `kind` are not those of a kind of `ACCESS`".to_owned()),
            Some(position) => {
                if position < latest {
                    report(9, "its kind is before the one of an earlier object".to_owned());
                }
                latest = latest.max(position);
                if let Some(problem) = namespace_problem(object, spec, &kinds[position]) {
                    report(10, problem);
                }
            }
        }
        if let Some(problem) = metadata_problem(&object["metadata"]) {
            report(12, problem);
        }
        if let Some(field) = foreign_field(object) {
            report(13, format!("it has `{field}`"));
        }
        if let Some(path) = empty_part(object, "").filter(|_| !has_empty_values) {
            report(14, format!("`{path}` is empty, or a null in a list"));
        }
        if !seen.insert(object_id(object, spec)) {
            report(15, "the application has it twice".to_owned());
        }
    }
    let deploys = |object: &Value| kinds.last().is_some_and(|last| is_of_kind(object, &last.kind));
    if !objects.iter().any(deploys) {
        problems.push((7, String::new(), "it has no object of the last kind of `ACCESS`".to_owned()));
    }
    problems
}

/// Returns whether a name is valid for the kind of an object.
fn is_name(object: &Value, name: &str) -> bool {
    let needs_label = text(object, "/apiVersion") == "v1" && matches!(text(object, "/kind"), "Namespace" | "Service");
    if needs_label { is_dns_label(name) } else { is_dns_subdomain(name) }
}

/// Returns the problem of the namespace of an object whose kind the driver declares as `applied`: a cluster-scoped object with a namespace,
/// no valid namespace, or one that the permission does not cover. An object without a namespace gets that of the owner.
fn namespace_problem(object: &Value, spec: &ApplicationSpec, applied: &AppliedKind) -> Option<String> {
    let namespace = &object["metadata"]["namespace"];
    if !namespace.is_null() && !namespace.is_string() {
        return Some("its namespace is no text".to_owned());
    }
    let own = namespace.as_str().filter(|namespace| !namespace.is_empty());
    if !applied.kind.namespaced {
        return own.map(|_| "its kind is cluster-scoped, and it has a namespace".to_owned());
    }
    let Some(namespace) = own.or(spec.owner_namespace.as_deref()) else {
        return Some("it has no namespace, and the owner has none".to_owned());
    };
    if !is_dns_label(namespace) {
        return Some("its namespace is not valid".to_owned());
    }
    let limit = applied.namespace.filter(|limit| *limit != namespace)?;
    Some(format!("`ACCESS` covers namespace {limit} only"))
}

/// Fields of the metadata that the API server sets, or the operator.
const SET_BY_OTHERS: [&str; 10] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
    "generateName",
    "ownerReferences",
];

/// Labels and annotations that the operator sets.
const SET_BY_OPERATOR: [(&str, &str); 6] = [
    ("labels", "app.kubernetes.io/managed-by"),
    ("labels", "opgen.dev/registration"),
    ("annotations", "opgen.dev/kubeconfig"),
    ("annotations", "opgen.dev/node"),
    ("annotations", "opgen.dev/owner"),
    ("annotations", "opgen.dev/applied"),
];

/// Returns the first field, label or annotation of an object that a driver must not set, since the API server or the operator sets it.
fn foreign_field(object: &Value) -> Option<String> {
    if object.get("status").is_some() {
        return Some("status".to_owned());
    }
    let metadata = &object["metadata"];
    let field = SET_BY_OTHERS.into_iter().find(|field| metadata.get(field).is_some());
    let label_or_annotation = || SET_BY_OPERATOR.into_iter().find(|(map, key)| metadata[map].get(key).is_some());
    field
        .map(|field| format!("metadata.{field}"))
        .or_else(|| label_or_annotation().map(|(map, key)| format!("metadata.{map}: {key}")))
}

/// Returns the path of the first empty map, empty list or null in `value`, which is at `path`; `None` if it has none. Callers remove nulls
/// in maps before, so that a null is one in a list.
fn empty_part(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::Object(map) if map.is_empty() => Some(path.to_owned()),
        Value::Array(items) if items.is_empty() => Some(path.to_owned()),
        Value::Object(map) => map.iter().find_map(|(name, value)| empty_part(value, &format!("{path}/{name}"))),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(at, item)| empty_part(item, &format!("{path}/{at}")))
        }
        Value::Null => Some(path.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn empty_parts_are_found_at_any_depth() {
        let find = |value: Value| empty_part(&without_nulls(value), "");
        assert_eq!(find(json!({"a": [{"b": "", "c": null}], "d": false})), None);
        assert_eq!(find(json!({"a": [{"b": {"c": null}}]})).as_deref(), Some("/a/0/b"));
        assert_eq!(find(json!({"a": ["b", null]})).as_deref(), Some("/a/1"));
        assert_eq!(find(json!({"a": {"b": []}})).as_deref(), Some("/a/b"));
    }

    #[test]
    fn fields_of_the_server_and_of_the_operator_are_found() {
        let find = |value: Value| foreign_field(&value);
        assert_eq!(find(json!({"metadata": {"name": "a", "labels": {"b": "c"}}, "spec": {}})), None);
        assert_eq!(find(json!({"status": {}})).as_deref(), Some("status"));
        assert_eq!(find(json!({"metadata": {"uid": "a"}})).as_deref(), Some("metadata.uid"));
        let marked = json!({"metadata": {"annotations": {"opgen.dev/node": "a"}}});
        assert_eq!(find(marked).as_deref(), Some("metadata.annotations: opgen.dev/node"));
    }
}
