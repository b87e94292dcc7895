//! Reports the rules of the API server that a schema violates, each with a hint in terms of Rust types.

mod hint;
mod nested;

use opgen_schema::{CheckOptions, CompiledRule, Rule, Step, Violation, text};
use serde_json::Value;

use super::super::lint::Findings;
use super::schema::{branch, field, items, values};

/// Reports the rules of the API server that the schema of one version violates, and a missing schema.
pub(crate) fn check(version: &Value, findings: &mut Findings) {
    let schema = &version["schema"]["openAPIV3Schema"];
    if !schema.is_object() {
        let fix = "derive `JsonSchema`, or set `schema = \"manual\"` and write a schema";
        findings.error("", "the version has no schema", fix);
        return;
    }
    for violation in opgen_schema::check(version, "", CheckOptions { metadata: None, compile: read_rule }) {
        report(&violation, schema, findings);
    }
    nested::check(schema, "", findings);
}

/// Reads whether a CEL rule uses `oldSelf`. Only the API server compiles the expression.
fn read_rule(rule: &Value, _: &Value, _: &str) -> CompiledRule {
    CompiledRule { uses_old_self: text(rule, "rule").contains("oldSelf"), causes: Vec::new() }
}

/// Reports a violated rule at the path of its field, with a hint, unless another finding covers it.
fn report(violation: &Violation, schema: &Value, findings: &mut Findings) {
    let (mut path, mut keyword, mut node) = (String::new(), "", schema);
    for step in &violation.path {
        (path, node) = match step {
            Step::Property(name) => (field(&path, name), &node["properties"][name]),
            Step::Items => (items(&path), &node["items"]),
            Step::AdditionalProperties => (values(&path), &node["additionalProperties"]),
            Step::Branch(junctor, index) => (branch(&path, junctor, *index), &node[junctor][index]),
            Step::Not => (format!("{path}<not>"), &node["not"]),
            Step::Keyword(name) => {
                keyword = name;
                (path, node)
            }
            _ => (path, node),
        };
    }
    if is_repeated(violation.rule, node) {
        return;
    }
    let problem =
        if keyword.is_empty() { violation.detail.clone() } else { format!("`{keyword}`: {}", violation.detail) };
    findings.error(&path, problem, hint::of(violation.rule, keyword, node));
}

/// Returns whether another violation of the same schema has the hint that helps: a `$ref`, null as a type, or a tuple.
fn is_repeated(rule: Rule, node: &Value) -> bool {
    match rule {
        Rule::TypeRequired => node["$ref"].is_string(),
        Rule::TypeName => node["type"] == "null",
        Rule::ItemsRequired => node["items"].is_array(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
