//! Warns about fields that only a branch (`anyOf`, `oneOf`, `allOf`, `not`) names.

use opgen_schema::entries;
use serde_json::Value;

use super::super::super::lint::Findings;
use super::super::schema::{JUNCTORS, branch, children, field, items, list};

/// Checks the branches (`anyOf`, `oneOf`, `allOf`, `not`) of `schema` and of all schemas below it.
pub(super) fn check(schema: &Value, path: &str, findings: &mut Findings) {
    check_branches(schema, schema, path, findings);
    for (path, child) in children(schema, path) {
        check(child, &path, findings);
    }
}

/// Checks the branches of `parent` against `schema`, which defines the fields. `parent` is `schema` itself or one of its branches, since a
/// branch may have branches of its own.
fn check_branches(parent: &Value, schema: &Value, path: &str, findings: &mut Findings) {
    for junctor in JUNCTORS {
        for (index, value) in list(parent, junctor).iter().enumerate() {
            check_branch(value, schema, &branch(path, junctor, index), findings);
        }
    }
    check_branch(&parent["not"], schema, &format!("{path}<not>"), findings);
}

/// Checks the fields and items that one branch names against the schema that defines them.
fn check_branch(value: &Value, schema: &Value, path: &str, findings: &mut Findings) {
    if !value.is_object() {
        return;
    }
    for (name, inner) in entries(value, "properties") {
        match schema["properties"].get(name) {
            Some(defined) => check_branch(inner, defined, &field(path, name), findings),
            None => report_undefined(&field(path, name), findings),
        }
    }
    if value["items"].is_object() {
        if schema["items"].is_object() {
            check_branch(&value["items"], &schema["items"], &items(path), findings);
        } else {
            report_undefined(&items(path), findings);
        }
    }
    check_branches(value, schema, path, findings);
}

/// Warns about a field that only a branch names: the API server accepts the schema, and then prunes the value.
fn report_undefined(path: &str, findings: &mut Findings) {
    let problem = "the field is only defined in a branch, so the API server drops its value";
    findings.warning(path, problem, "define the field outside of the branches");
}
