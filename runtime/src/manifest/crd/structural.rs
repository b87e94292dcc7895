//! Reports the rules of the API server that a schema violates, each with a hint in terms of Rust types.

mod hint;
mod nested;

use opgen_schema::{CheckOptions, CompiledRule, Rule, Step, Violation, text};
use serde_json::Value;

use super::super::lint::Findings;
use super::schema::{branch, field, items, values};

/// Reports the rules of the API server for structural schemas that the schema of `version`, one version of a CustomResourceDefinition,
/// violates, or that the version has no schema. Also reports fields that only branches define.
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

/// Stands in for the compilation of a CEL rule, which only the API server does: returns whether the rule contains `oldSelf`, and no errors.
fn read_rule(rule: &Value, _: &Value, _: &str) -> CompiledRule {
    CompiledRule { uses_old_self: text(rule, "rule").contains("oldSelf"), causes: Vec::new() }
}

/// Reports a violation at the path of its field, with a hint, unless another violation of the same field has a better hint. Follows the
/// steps of the violation's path from the root of `schema` to the violating part.
fn report(violation: &Violation, schema: &Value, findings: &mut Findings) {
    let (mut path, mut keyword, mut node) = (String::new(), "", schema);
    for step in &violation.path {
        (path, node) = match step {
            Step::Property(name) => (field(&path, name), &node["properties"][name]),
            Step::Items => (items(&path), &node["items"]),
            Step::AdditionalProperties => (values(&path), &node["additionalProperties"]),
            Step::Branch(branch_keyword, index) => {
                (branch(&path, branch_keyword, *index), &node[branch_keyword][index])
            }
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

/// Returns whether the violation of `rule` in `node` follows from another violation, whose hint is better: the type is missing beside a
/// `$ref`, or unknown because it is null, or the items are missing because they are a tuple.
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
