//! Compiles and checks a CEL rule of a CustomResourceDefinition when the CustomResourceDefinition is created or updated.

use opgen_schema::CompiledRule;
use serde_json::Value;

use super::{
    rule::ValidationRule,
    type_check::{is_not_string, type_errors, unknown_names},
};
use crate::{failure::Cause, object::text};

/// Compiles a rule of a schema and its message expression. Returns the compile errors of both, and whether the rule uses
/// `oldSelf`. `field_path` is the path of the rule in the CRD.
pub(crate) fn compile(rule_json: &Value, schema: &Value, field_path: &str) -> CompiledRule {
    let rule = ValidationRule::of(rule_json);
    let mut causes = Vec::new();
    if let Some(why) = type_errors(&rule, schema) {
        causes.push(invalid_rule(format!("{field_path}.rule"), rule_json, &why));
    }
    if rule.message_program.as_ref().is_some_and(|program| program.as_ref().is_ok_and(is_not_string)) {
        let why = "messageExpression must evaluate to a string";
        causes.push(invalid_rule(format!("{field_path}.messageExpression"), rule_json, why));
    }
    let unknown = |program| unknown_names(program, text(rule_json, &["messageExpression"]), schema);
    let error = match &rule.message_program {
        Some(Ok(program)) => unknown(program),
        Some(Err(why)) => Some(why.clone()),
        None => None,
    };
    if let Some(why) = error {
        let why = format!("messageExpression compilation failed: {why}");
        causes.push(invalid_rule(format!("{field_path}.messageExpression"), rule_json, &why));
    }
    CompiledRule { uses_old_self: rule.is_transition, causes }
}

/// Returns the error for an invalid rule. Its message quotes the rule with the field names of upstream's internal Go type.
fn invalid_rule(field_path: String, rule: &Value, why: &str) -> Cause {
    // Go's JSON encoder escapes these characters for HTML.
    let escaped = |text: String| text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let json_of = |key: &str| escaped(Value::from(text(rule, &[key])).to_string());
    let message = format!(
        "Invalid value: {{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}: {why}",
        json_of("rule"),
        json_of("message"),
        json_of("messageExpression"),
        rule["reason"],
        json_of("fieldPath"),
        rule["optionalOldSelf"],
    );
    Cause { reason: "FieldValueInvalid", message, field: field_path }
}
