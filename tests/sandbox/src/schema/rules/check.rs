//! Evaluates the CEL rules of a schema against an object.

use std::sync::Arc;

use kube_cel::{
    KubeCelExt as _,
    cel::{Context, ExecutionError, Value as Cel, extractors::Arguments, objects::OptionalValue},
};
use opgen_schema::{Keywords, OldValue, format_value};
use serde_json::Value;

use super::{rule::ValidationRule, tree::RuleTree, value};
use crate::failure::Cause;

thread_local! {
    /// The CEL context with the functions of Kubernetes.
    static FUNCTIONS: Context<'static> = function_context();
}

/// Builds the CEL context with all functions of Kubernetes, the types as values, and the function `type`.
fn function_context() -> Context<'static> {
    let mut context = Context::default().with_all();
    for name in ["int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "optional_type"] {
        context.add_variable_from_value(name, type_named(name));
    }
    context.add_function("type", type_of);
    context
}

/// Returns the value that stands for a type in rules such as `type(self) == int`.
fn type_named(name: &str) -> Cel {
    Cel::String(Arc::new(format!("type {name}")))
}

/// Implements the CEL function `type`: returns the type of its argument.
fn type_of(Arguments(arguments): Arguments) -> Result<Cel, ExecutionError> {
    Ok(type_named(match arguments.first().unwrap_or(&Cel::Null) {
        Cel::Int(_) => "int",
        Cel::UInt(_) => "uint",
        Cel::Float(_) => "double",
        Cel::Bool(_) => "bool",
        Cel::String(_) => "string",
        Cel::Bytes(_) => "bytes",
        Cel::List(_) => "list",
        Cel::Map(_) => "map",
        Cel::Null => "null_type",
        _ => "other",
    }))
}

/// Evaluates the CEL rules of a schema against an object. Returns the errors; none if all rules hold. `outline` has the
/// JSON Schema keywords of the schema.
pub(crate) fn check(rules: &RuleTree, outline: &Keywords, new: &Value, old: OldValue<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    FUNCTIONS.with(|functions| check_value(functions, rules, outline, new, old, "", &mut causes));
    causes
}

/// Evaluates the rules of a value and, recursively, of its items and fields. `outline` is the schema of the value; `tree`
/// holds the rules of this schema or of one of the schemas in its `allOf`. `path` is the path of the value in the object.
/// Adds the errors to `causes`.
fn check_value(
    functions: &Context<'_>,
    tree: &RuleTree,
    outline: &Keywords,
    new: &Value,
    old: OldValue<'_>,
    path: &str,
    causes: &mut Vec<Cause>,
) {
    if new.is_null() {
        return;
    }
    if !tree.rules.is_empty() {
        RuleScope { outline, new, old, path }.check_rules(functions, &tree.rules, causes);
    }
    for subtree in &tree.all_of {
        check_value(functions, subtree, outline, new, old, path, causes);
    }
    match new {
        Value::Array(items) => {
            let (Some(subtree), Some(item_outline)) = (&tree.items, &outline.items) else { return };
            for (index, item) in items.iter().enumerate() {
                let old = old.item(outline, item);
                check_value(functions, subtree, item_outline, item, old, &format!("{path}[{index}]"), causes);
            }
        }
        Value::Object(map) => {
            // The fields of an atomic map have no old values to compare with.
            let old = if outline.atomic { OldValue { value: None, ..old } } else { old };
            for (name, value) in map {
                let old = old.field(name, value);
                let dot = if path.is_empty() { "" } else { "." };
                if let (Some(subtree), Some(outline)) = (tree.properties.get(name), outline.field(name)) {
                    check_value(functions, subtree, outline, value, old, &format!("{path}{dot}{name}"), causes);
                } else if let (false, Some(subtree), Some(outline)) =
                    (outline.properties.contains_key(name), &tree.additional, &outline.additional)
                {
                    check_value(functions, subtree, outline, value, old, &format!("{path}[{name}]"), causes);
                }
            }
        }
        _ => {}
    }
}

/// A value with its schema, its old value and its path, against which rules are evaluated.
struct RuleScope<'a> {
    outline: &'a Keywords,
    new: &'a Value,
    old: OldValue<'a>,
    path: &'a str,
}

impl RuleScope<'_> {
    /// Evaluates the rules of the value, and adds the errors to `causes`. Skips a transition rule (a rule that uses
    /// `oldSelf`) if there is no old value, unless the rule has `optionalOldSelf`. Ignores errors of other rules if the
    /// value is unchanged.
    fn check_rules(&self, functions: &Context<'_>, rules: &[ValidationRule], causes: &mut Vec<Cause>) {
        let mut scope = functions.new_inner_scope();
        scope.add_variable_from_value("self", value::to_cel(self.new, Some(self.outline)));
        let old = self.old.value.filter(|old| !old.is_null()).map(|old| value::to_cel(old, Some(self.outline)));
        for rule in rules {
            let is_old_optional = rule.optional_old == Some(true);
            if rule.is_transition && old.is_none() && !is_old_optional {
                continue;
            }
            let mut scope = scope.new_inner_scope();
            if is_old_optional {
                let old_value = old.clone().map_or_else(OptionalValue::none, OptionalValue::of);
                scope.add_variable_from_value("oldSelf", Cel::Opaque(Arc::new(old_value)));
            } else if let Some(old) = &old {
                scope.add_variable_from_value("oldSelf", old.clone());
            }
            if let Some(cause) = self.evaluate(rule, &scope)
                && (rule.is_transition || !self.old.unchanged)
            {
                causes.push(cause);
            }
        }
    }

    /// Evaluates a rule. Returns the error if it does not hold, can't be evaluated or was not compiled; `None` if it
    /// holds.
    fn evaluate(&self, rule: &ValidationRule, scope: &Context<'_>) -> Option<Cause> {
        let program = match &rule.program {
            Ok(program) => program,
            Err(error) => return Some(self.rule_error(&format!("rule compile error: {error}"))),
        };
        match program.execute(scope) {
            Ok(Cel::Bool(true)) => None,
            Ok(Cel::Bool(false)) => Some(self.rule_violation(rule, scope)),
            Ok(_) => Some(self.rule_error(&format!(
                "rule compile error: cel expression must evaluate to a bool: {}",
                rule.expression
            ))),
            Err(error) => Some(self.rule_error(&format!("{} evaluating rule: {}", error_text(&error), rule.name()))),
        }
    }

    /// Returns the error for a rule that doesn't hold, with the reason and the field that the rule specifies.
    fn rule_violation(&self, rule: &ValidationRule, scope: &Context<'_>) -> Cause {
        let detail = self.rule_message(rule, scope);
        let dot = if self.path.is_empty() || rule.field_path.is_empty() { "" } else { "." };
        let field = match format!("{}{dot}{}", self.path, rule.field_path) {
            field if field.is_empty() => "<nil>".to_owned(),
            field => field,
        };
        let hides_value = self.outline.has_type("object") || self.outline.has_type("array");
        let value = if hides_value { String::new() } else { format!(": {}", format_value(self.new)) };
        let (reason, message) = match rule.reason.as_deref() {
            Some("FieldValueForbidden") => ("FieldValueForbidden", format!("Forbidden: {detail}")),
            Some("FieldValueRequired") => ("FieldValueRequired", format!("Required value: {detail}")),
            Some("FieldValueDuplicate") => ("FieldValueDuplicate", format!("Duplicate value{value}")),
            _ => ("FieldValueInvalid", format!("Invalid value{value}: {detail}")),
        };
        Cause { reason, message, field }
    }

    /// Returns the message for a rule that doesn't hold: the result of `messageExpression` if it is a text of one line that
    /// is not blank, else `message` or the rule itself.
    fn rule_message(&self, rule: &ValidationRule, scope: &Context<'_>) -> String {
        if let Some(Ok(program)) = &rule.message_program
            && let Ok(Cel::String(text)) = program.execute(scope)
            && !text.trim().is_empty()
            && !text.contains('\n')
        {
            return text.trim().to_owned();
        }
        if rule.message.is_empty() { format!("failed rule: {}", rule.name()) } else { rule.message.clone() }
    }

    /// Returns the error for a rule that can't be evaluated. Its message shows the type of the value instead of the
    /// value.
    fn rule_error(&self, detail: &str) -> Cause {
        let type_ = self.outline.types.first().map_or("", String::as_str);
        let field = if self.path.is_empty() { "<nil>" } else { self.path };
        let message = format!("Invalid value: {type_:?}: {detail}");
        Cause { reason: "FieldValueInvalid", message, field: field.to_owned() }
    }
}

/// Returns the message of cel-go for an evaluation error; the message of the CEL library for other errors.
fn error_text(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::IndexOutOfBounds(Cel::Int(index)) => format!("index out of bounds: {index}"),
        other => other.to_string(),
    }
}
