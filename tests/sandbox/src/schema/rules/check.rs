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
    /// Everything that Kubernetes' CEL has functions for.
    static FUNCTIONS: Context<'static> = functions();
}

fn functions() -> Context<'static> {
    let mut functions = Context::default().with_all();
    for name in ["int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "optional_type"] {
        functions.add_variable_from_value(name, type_named(name));
    }
    functions.add_function("type", of_any);
    functions
}

/// A type as a value, for rules about values of more than one type.
fn type_named(name: &str) -> Cel {
    Cel::String(Arc::new(format!("type {name}")))
}

fn of_any(Arguments(arguments): Arguments) -> Result<Cel, ExecutionError> {
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

/// What the rules of a schema say against an object.
pub(crate) fn check(rules: &RuleTree, outline: &Keywords, new: &Value, old: OldValue<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    FUNCTIONS.with(|functions| walk(functions, rules, outline, new, old, "", &mut causes));
    causes
}

/// `outline` is the schema of the value; the rules are those of the schema, or of one of its `allOf`.
fn walk(
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
        RuleScope { outline, new, old, path }.check(functions, &tree.rules, causes);
    }
    for all in &tree.all_of {
        walk(functions, all, outline, new, old, path, causes);
    }
    match new {
        Value::Array(items) => {
            let (Some(schema), Some(outline_items)) = (&tree.items, &outline.items) else { return };
            for (index, item) in items.iter().enumerate() {
                let old = old.item(outline, item);
                walk(functions, schema, outline_items, item, old, &format!("{path}[{index}]"), causes);
            }
        }
        Value::Object(map) => {
            let old = if outline.atomic { OldValue { value: None, ..old } } else { old };
            for (name, value) in map {
                let old = old.field(name, value);
                let dot = if path.is_empty() { "" } else { "." };
                if let (Some(schema), Some(outline)) = (tree.properties.get(name), outline.field(name)) {
                    walk(functions, schema, outline, value, old, &format!("{path}{dot}{name}"), causes);
                } else if let (false, Some(schema), Some(outline)) =
                    (outline.properties.contains_key(name), &tree.additional, &outline.additional)
                {
                    walk(functions, schema, outline, value, old, &format!("{path}[{name}]"), causes);
                }
            }
        }
        _ => {}
    }
}

/// A value that has rules.
struct RuleScope<'a> {
    outline: &'a Keywords,
    new: &'a Value,
    old: OldValue<'a>,
    path: &'a str,
}

impl RuleScope<'_> {
    fn check(&self, functions: &Context<'_>, rules: &[ValidationRule], causes: &mut Vec<Cause>) {
        let mut scope = functions.new_inner_scope();
        scope.add_variable_from_value("self", value::of(self.new, Some(self.outline)));
        let old = self.old.value.filter(|old| !old.is_null()).map(|old| value::of(old, Some(self.outline)));
        for rule in rules {
            let optional = rule.optional_old == Some(true);
            if rule.is_transition && old.is_none() && !optional {
                continue;
            }
            let mut scope = scope.new_inner_scope();
            if optional {
                let held = old.clone().map_or_else(OptionalValue::none, OptionalValue::of);
                scope.add_variable_from_value("oldSelf", Cel::Opaque(Arc::new(held)));
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

    fn evaluate(&self, rule: &ValidationRule, scope: &Context<'_>) -> Option<Cause> {
        let program = match &rule.program {
            Ok(program) => program,
            Err(error) => return Some(self.typed(&format!("rule compile error: {error}"))),
        };
        match program.execute(scope) {
            Ok(Cel::Bool(true)) => None,
            Ok(Cel::Bool(false)) => Some(self.refused(rule, scope)),
            Ok(_) => Some(
                self.typed(&format!("rule compile error: cel expression must evaluate to a bool: {}", rule.written)),
            ),
            Err(error) => Some(self.typed(&format!("{} evaluating rule: {}", error_text(&error), rule.name()))),
        }
    }

    fn refused(&self, rule: &ValidationRule, scope: &Context<'_>) -> Cause {
        let detail = self.detail(rule, scope);
        let dot = if self.path.is_empty() || rule.field_path.is_empty() { "" } else { "." };
        let field = match format!("{}{dot}{}", self.path, rule.field_path) {
            field if field.is_empty() => "<nil>".to_owned(),
            field => field,
        };
        let whole = self.outline.has_type("object") || self.outline.has_type("array");
        let value = if whole { String::new() } else { format!(": {}", format_value(self.new)) };
        let (reason, message) = match rule.reason.as_deref() {
            Some("FieldValueForbidden") => ("FieldValueForbidden", format!("Forbidden: {detail}")),
            Some("FieldValueRequired") => ("FieldValueRequired", format!("Required value: {detail}")),
            Some("FieldValueDuplicate") => ("FieldValueDuplicate", format!("Duplicate value{value}")),
            _ => ("FieldValueInvalid", format!("Invalid value{value}: {detail}")),
        };
        Cause { reason, message, field }
    }

    /// The message of a rule that does not hold: by its expression, if that gives a proper one.
    fn detail(&self, rule: &ValidationRule, scope: &Context<'_>) -> String {
        if let Some(Ok(program)) = &rule.message_program
            && let Ok(Cel::String(text)) = program.execute(scope)
            && !text.trim().is_empty()
            && !text.contains('\n')
        {
            return text.trim().to_owned();
        }
        if rule.message.is_empty() { format!("failed rule: {}", rule.name()) } else { rule.message.clone() }
    }

    /// An error of a rule, in which the type stands for the value.
    fn typed(&self, detail: &str) -> Cause {
        let type_ = self.outline.types.first().map_or("", String::as_str);
        let field = if self.path.is_empty() { "<nil>" } else { self.path };
        let message = format!("Invalid value: {type_:?}: {detail}");
        Cause { reason: "FieldValueInvalid", message, field: field.to_owned() }
    }
}

/// An error as cel-go words it.
fn error_text(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::IndexOutOfBounds(Cel::Int(index)) => format!("index out of bounds: {index}"),
        other => other.to_string(),
    }
}
