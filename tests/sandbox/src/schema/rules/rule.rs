//! Compiles one CEL rule of `x-kubernetes-validations`, with its message expression.

use kube_cel::cel::Program;
use serde_json::Value;

use crate::object::text;

/// A compiled rule, with its error message and the field that it blames.
#[derive(Debug)]
pub(crate) struct ValidationRule {
    /// The CEL expression.
    pub(crate) expression: String,
    pub(crate) program: Result<Program, String>,
    pub(crate) message: String,
    pub(crate) message_program: Option<Result<Program, String>>,
    pub(crate) reason: Option<String>,
    /// The path of the field that errors refer to, without the leading dot.
    pub(crate) field_path: String,
    /// Whether the rule refers to the old value (`oldSelf`).
    pub(crate) is_transition: bool,
    /// Whether the rule is also evaluated if there is no old value (`optionalOldSelf`).
    pub(crate) optional_old: Option<bool>,
}

impl ValidationRule {
    /// Compiles a rule of a schema and its message expression. Compile errors become part of the result.
    pub(crate) fn of(rule_json: &Value) -> Self {
        let compile = |text: &str| Program::compile(text).map_err(|error| error.to_string());
        let expression = text(rule_json, &["rule"]);
        let program = compile(expression);
        let is_transition = program.as_ref().is_ok_and(|program| program.references().has_variable("oldSelf"));
        let message_expression = rule_json["messageExpression"].as_str().filter(|text| !text.trim().is_empty());
        Self {
            expression: expression.to_owned(),
            message: text(rule_json, &["message"]).trim().to_owned(),
            message_program: message_expression.map(compile),
            reason: rule_json["reason"].as_str().map(str::to_owned),
            field_path: text(rule_json, &["fieldPath"]).trim().trim_start_matches('.').to_owned(),
            optional_old: rule_json["optionalOldSelf"].as_bool(),
            program,
            is_transition,
        }
    }

    /// Returns the text by which errors refer to the rule: its message, or its expression.
    pub(super) fn name(&self) -> &str {
        if self.message.is_empty() { self.expression.trim() } else { &self.message }
    }
}
