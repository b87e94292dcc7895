//! One compiled rule of `x-kubernetes-validations`.

use kube_cel::cel::Program;
use serde_json::Value;

use crate::object::text;

/// A rule of a schema.
#[derive(Debug)]
pub(crate) struct ValidationRule {
    pub(crate) written: String,
    pub(crate) program: Result<Program, String>,
    pub(crate) message: String,
    pub(crate) message_program: Option<Result<Program, String>>,
    pub(crate) reason: Option<String>,
    /// Without the leading dot.
    pub(crate) field_path: String,
    /// Whether it compares with the old value.
    pub(crate) is_transition: bool,
    /// Whether the old value may be missing.
    pub(crate) optional_old: Option<bool>,
}

impl ValidationRule {
    pub(crate) fn of(written: &Value) -> Self {
        let compile = |text: &str| Program::compile(text).map_err(|error| error.to_string());
        let rule = text(written, &["rule"]);
        let program = compile(rule);
        let is_transition = program.as_ref().is_ok_and(|program| program.references().has_variable("oldSelf"));
        let message_written = written["messageExpression"].as_str().filter(|text| !text.trim().is_empty());
        Self {
            written: rule.to_owned(),
            message: text(written, &["message"]).trim().to_owned(),
            message_program: message_written.map(compile),
            reason: written["reason"].as_str().map(str::to_owned),
            field_path: text(written, &["fieldPath"]).trim().trim_start_matches('.').to_owned(),
            optional_old: written["optionalOldSelf"].as_bool(),
            program,
            is_transition,
        }
    }

    /// What stands for the rule in errors.
    pub(super) fn name(&self) -> &str {
        if self.message.is_empty() { self.written.trim() } else { &self.message }
    }
}
