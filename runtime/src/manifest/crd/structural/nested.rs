//! Warns about fields that only a branch (`anyOf`, `oneOf`, `allOf`, `not`) names.

use opgen_schema::entries;
use serde_json::Value;

use super::super::super::lint::Findings;
use super::super::schema::{BRANCH_KEYWORDS, branch, children, field, items, list};

/// Warns about each field that a branch (`anyOf`, `oneOf`, `allOf`, `not`) names and the schema around the branch doesn't define, in
/// `schema` and in all schemas below it.
pub(super) fn check(schema: &Value, path: &str, findings: &mut Findings) {
    check_branches(schema, schema, path, findings);
    for (path, child) in children(schema, path) {
        check(child, &path, findings);
    }
}

/// Warns about each field that a branch of `parent` names and `schema` doesn't define. `parent` is `schema` itself or a branch of it, since
/// branches may be nested.
fn check_branches(parent: &Value, schema: &Value, path: &str, findings: &mut Findings) {
    for keyword in BRANCH_KEYWORDS {
        for (index, nested) in list(parent, keyword).iter().enumerate() {
            check_branch(nested, schema, &branch(path, keyword, index), findings);
        }
    }
    check_branch(&parent["not"], schema, &format!("{path}<not>"), findings);
}

/// Warns about each field, and items, that one branch names and `schema`, the schema around the branch, doesn't define, at any depth.
fn check_branch(branch: &Value, schema: &Value, path: &str, findings: &mut Findings) {
    if !branch.is_object() {
        return;
    }
    for (name, inner) in entries(branch, "properties") {
        match schema["properties"].get(name) {
            Some(defined) => check_branch(inner, defined, &field(path, name), findings),
            None => report_undefined(&field(path, name), findings),
        }
    }
    if branch["items"].is_object() {
        if schema["items"].is_object() {
            check_branch(&branch["items"], &schema["items"], &items(path), findings);
        } else {
            report_undefined(&items(path), findings);
        }
    }
    check_branches(branch, schema, path, findings);
}

/// Warns about a field that only a branch names: the API server accepts the schema, but prunes the value of the field.
fn report_undefined(path: &str, findings: &mut Findings) {
    let problem = "the field is only defined in a branch, so the API server drops its value";
    findings.warning(path, problem, "define the field outside of the branches");
}
