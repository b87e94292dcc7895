//! Checks the CEL rules in the schema of a CustomResourceDefinition: their form, their field paths and their use of `oldSelf`. The caller
//! provides the CEL compiler.

use serde_json::Value;

use crate::{
    accessor::{entries, list, text},
    cause::Cause,
    schema_path::SchemaPath,
    violation::{Rule, Violation},
};

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Compiles an entry of `x-kubernetes-validations`. The arguments are the entry, its schema, and its path in the definition.
pub type CompileRule = fn(&Value, &Value, &str) -> CompiledRule;

/// A CEL rule after it was compiled.
#[derive(Debug, Default)]
pub struct CompiledRule {
    /// Whether the expression uses `oldSelf`.
    pub uses_old_self: bool,
    /// The errors of the compiler about the expression and the message expression.
    pub causes: Vec<Cause>,
}

/// Returns the violations of the CEL rules of a schema and of all schemas below it.
pub(super) fn check(schema: &Value, path: &SchemaPath, compile: CompileRule) -> Vec<Violation> {
    let mut found = Vec::new();
    check_recursively(schema, path, None, compile, &mut found);
    found
}

/// Checks the CEL rules of a schema and of all schemas below it. `uncorrelated` is the outermost schema below which the API
/// server can't find the old value of a new one, so that rules can't use `oldSelf`.
fn check_recursively(
    schema: &Value,
    path: &SchemaPath,
    uncorrelated: Option<&SchemaPath>,
    compile: CompileRule,
    found: &mut Vec<Violation>,
) {
    if !schema.is_object() {
        return;
    }
    for (index, rule) in list(schema, "x-kubernetes-validations").iter().enumerate() {
        let path = path.validation(index);
        let before = found.len();
        check_texts(schema, rule, &path, found);
        // A rule with an invalid text is not compiled.
        if found.len() == before {
            check_compiled(schema, rule, &path, uncorrelated, compile, found);
        }
    }
    for (name, property) in entries(schema, "properties") {
        check_recursively(property, &path.property(name), uncorrelated, compile, found);
    }
    check_recursively(&schema["additionalProperties"], &path.additional(), uncorrelated, compile, found);
    // Only the items of a list map have keys by which the API server finds their old value.
    let items_uncorrelated = uncorrelated.or((schema["x-kubernetes-list-type"] != "map").then_some(path));
    check_recursively(&schema["items"], &path.items(), items_uncorrelated, compile, found);
}

/// Checks the expression, messages, reason and field path of a rule, without compiling the expression. The order of the checks and
/// the types of the violations are those of the API server.
fn check_texts(schema: &Value, rule: &Value, path: &SchemaPath, found: &mut Vec<Violation>) {
    let has_line_break = |text: &str| text.contains(['\n', '\r']);
    let is_blank = |text: &str| !text.is_empty() && text.trim().is_empty();
    let (expression, message) = (text(rule, "rule"), text(rule, "message"));
    let message_path = || path.keyword("message");
    if expression.trim().is_empty() {
        found.push(Violation::required(Rule::Expression, path.keyword("rule"), "rule is not specified"));
    } else if is_blank(message) {
        let why = "must be non-empty if specified";
        found.push(Violation::invalid(Rule::Message, message_path(), &message.into(), why));
    } else if has_line_break(message.trim()) {
        found.push(Violation::invalid(Rule::Message, message_path(), &message.into(), "must not contain line breaks"));
    } else if has_line_break(expression.trim()) && message.is_empty() {
        let why = "message must be specified if rule contains line breaks";
        found.push(Violation::required(Rule::Message, message_path(), why));
    }
    if is_blank(text(rule, "messageExpression")) {
        let (path, why) = (path.keyword("messageExpression"), "messageExpression must be non-empty if specified");
        found.push(Violation::required(Rule::MessageExpression, path, why));
    }
    if let Some(reason) = rule["reason"].as_str().filter(|reason| !REASONS.contains(reason)) {
        found.push(Violation::unsupported(Rule::Reason, path.keyword("reason"), reason, &REASONS));
    }
    let field_path = text(rule, "fieldPath");
    let mut refuse = |why: &str| {
        found.push(Violation::invalid(Rule::FieldPath, path.keyword("fieldPath"), &field_path.into(), why));
    };
    if is_blank(field_path) {
        refuse("must be non-empty if specified");
    }
    if has_line_break(field_path) {
        refuse("must not contain line breaks");
    }
    // `at_path` does not parse the notation `['name']`, so such a path is left to the API server.
    if !field_path.is_empty() && !field_path.contains('[') && at_path(schema, field_path).is_err() {
        refuse("must be a valid path");
    }
}

/// Compiles a rule, and checks its use of `oldSelf`.
fn check_compiled(
    schema: &Value,
    rule: &Value,
    path: &SchemaPath,
    uncorrelated: Option<&SchemaPath>,
    compile: CompileRule,
    found: &mut Vec<Violation>,
) {
    let CompiledRule { uses_old_self, causes } = compile(rule, schema, &path.text);
    let violation = |cause| Violation::from_cause(Rule::Expression, path.keyword("rule").steps, cause);
    found.extend(causes.into_iter().map(violation));
    if uses_old_self && let Some(outermost) = uncorrelated {
        let why =
            format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {}", outermost.text);
        found.push(Violation::invalid(Rule::OldSelf, path.keyword("rule"), &rule["rule"], &why));
    }
    if let (false, Some(optional)) = (uses_old_self, rule["optionalOldSelf"].as_bool()) {
        let (path, why) = (path.keyword("optionalOldSelf"), "may not be set if oldSelf is not used in rule");
        found.push(Violation::invalid(Rule::OptionalOldSelf, path, &optional.into(), why));
    }
}

/// Returns the schema of the field at `path`, which has the form `.spec.replicas`.
///
/// # Errors
/// The message of kube-apiserver if the path has another form, or names no field of `schema`.
pub fn at_path<'a>(schema: &'a Value, path: &str) -> Result<&'a Value, &'static str> {
    if path.contains(['[', ']']) {
        return Err("array notation is not allowed");
    }
    let mut fields = path.strip_prefix('.').ok_or("expected . or [")?.split('.');
    fields.try_fold(schema, |schema, field| schema["properties"].get(field).ok_or("does not refer to a valid field"))
}
