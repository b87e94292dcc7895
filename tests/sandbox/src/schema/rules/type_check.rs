//! Checks that a CEL rule of a CustomResourceDefinition uses only declared names and fields of the schema, and that the result can have the
//! required type.

use kube_cel::cel::{
    Program,
    common::ast::{Expr, IdedExpr, LiteralValue},
};
use serde_json::Value;

use super::{rule::ValidationRule, value::escape_field_name};
use crate::object::text;

/// The names that a rule can use without declaring them as variables: values, types, and prefixes of functions.
const PREDECLARED: [&str; 15] = [
    "self",
    "oldSelf",
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "bytes",
    "list",
    "map",
    "null_type",
    "type",
    "optional",
    "google",
    "format",
];

/// The names of function libraries, such as `sets` in `sets.contains`.
const LIBRARIES: [&str; 5] = ["sets", "math", "optional", "base64", "cel"];

/// Returns the error for a rule that does not compile, uses unknown names, or can't be a boolean; `None` if it is valid.
pub(crate) fn type_errors(rule: &ValidationRule, schema: &Value) -> Option<String> {
    let program = match &rule.program {
        Ok(program) => program,
        Err(error) => return Some(format!("compilation failed: {}", error.replace("\n|", "\n |"))),
    };
    if let Some(unknown) = unknown_names(program, &rule.expression, schema) {
        return Some(format!("compilation failed: {unknown}"));
    }
    (!may_be_boolean(program, schema)).then(|| "cel expression must evaluate to a bool".to_owned())
}

/// Returns the errors about variables and fields in an expression that the schema doesn't have; `None` if there are
/// none.
pub(crate) fn unknown_names(program: &Program, source: &str, schema: &Value) -> Option<String> {
    let mut errors = Vec::new();
    RuleTypeCheck { source, schema, errors: &mut errors }.check_expression(program.expression(), &mut Vec::new());
    (!errors.is_empty()).then(|| errors.join("\n"))
}

/// Returns whether an expression is a literal, list, map, comprehension or `has(…)` whose result can't be a string.
pub(crate) fn is_not_string(program: &Program) -> bool {
    match &program.expression().expr {
        Expr::Literal(literal) => !matches!(literal, LiteralValue::String(_)),
        Expr::List(_) | Expr::Map(_) | Expr::Comprehension(_) => true,
        // `has(...)` is a boolean.
        Expr::Select(select) => select.test,
        _ => false,
    }
}

/// The operators whose result is a number, a text or a list, and never a boolean.
const ARITHMETIC: [&str; 6] = ["_+_", "_-_", "_*_", "_/_", "_%_", "-_"];

/// Returns whether the result of an expression may be a boolean. Looks only at the outermost operation, and at the type of
/// a field in the schema.
fn may_be_boolean(program: &Program, schema: &Value) -> bool {
    match &program.expression().expr {
        Expr::Literal(literal) => matches!(literal, LiteralValue::Boolean(_)),
        Expr::List(_) | Expr::Map(_) => false,
        Expr::Call(call) => !ARITHMETIC.contains(&call.func_name.as_str()),
        Expr::Select(select) if !select.test => {
            let declared = declared_schema(program.expression(), schema);
            !declared.is_some_and(|schema| !matches!(text(schema, &["type"]), "" | "boolean"))
        }
        _ => true,
    }
}

/// Returns the schema of an expression such as `self.a.b`; `None` if the expression has another form or the schema no
/// such field.
fn declared_schema<'a>(expression: &IdedExpr, schema: &'a Value) -> Option<&'a Value> {
    match &expression.expr {
        Expr::Ident(name) if name == "self" || name == "oldSelf" => Some(schema),
        Expr::Select(select) => {
            let operand = declared_schema(&select.operand, schema)?;
            let properties = operand["properties"].as_object()?;
            properties.iter().find(|(name, _)| escape_field_name(name) == select.field).map(|(_, schema)| schema)
        }
        _ => None,
    }
}

/// Collects the errors about unknown names in a rule.
struct RuleTypeCheck<'a> {
    source: &'a str,
    schema: &'a Value,
    errors: &'a mut Vec<String>,
}

impl RuleTypeCheck<'_> {
    /// Checks the names in an expression and its operands. `bound` are the variables that enclosing macros declare.
    fn check_expression(&mut self, expression: &IdedExpr, bound: &mut Vec<String>) {
        match &expression.expr {
            Expr::Ident(name) => {
                // The expansion of a macro uses such names.
                let is_internal = name.starts_with('@') || name.starts_with("__");
                if !is_internal && !PREDECLARED.contains(&name.as_str()) && !bound.contains(name) {
                    self.report(name, &format!("undeclared reference to '{name}' (in container '')"));
                }
            }
            Expr::Select(select) => {
                self.check_expression(&select.operand, bound);
                self.check_field(&select.operand, &select.field);
            }
            Expr::Call(call) => {
                // `sets.contains(a, b)` is parsed as a call on a variable `sets`, which is not declared.
                let is_library_call = call.target.as_deref().is_some_and(
                    |target| matches!(&target.expr, Expr::Ident(name) if LIBRARIES.contains(&name.as_str())),
                );
                if let Some(target) = call.target.as_deref().filter(|_| !is_library_call) {
                    self.check_expression(target, bound);
                }
                call.args.iter().for_each(|argument| self.check_expression(argument, bound));
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.check_expression(element, bound)),
            Expr::Comprehension(comprehension) => {
                self.check_expression(&comprehension.iter_range, bound);
                let before = bound.len();
                bound.push(comprehension.iter_var.clone());
                bound.extend(comprehension.iter_var2.clone());
                bound.push(comprehension.accu_var.clone());
                for part in [
                    &comprehension.accu_init,
                    &comprehension.loop_cond,
                    &comprehension.loop_step,
                    &comprehension.result,
                ] {
                    self.check_expression(part, bound);
                }
                bound.truncate(before);
            }
            _ => {}
        }
    }

    /// Reports a selected field that the schema of the operand doesn't declare. Reports nothing if the schema of the operand
    /// is unknown or has no declared fields.
    fn check_field(&mut self, operand: &IdedExpr, field: &str) {
        let Some(schema) = declared_schema(operand, self.schema) else { return };
        let Some(properties) = schema["properties"].as_object() else { return };
        let accepts_unknown = schema["x-kubernetes-preserve-unknown-fields"] == true;
        // Each object has these fields; their schemas need not declare them.
        let is_type_or_metadata = ["apiVersion", "kind", "metadata"].contains(&field);
        if !accepts_unknown && !is_type_or_metadata && !properties.keys().any(|name| escape_field_name(name) == field) {
            self.report(&format!(".{field}"), &format!("undefined field '{field}'"));
        }
    }

    /// Records an error in the format of cel-go, with the line and column at which `word` first occurs in the rule.
    fn report(&mut self, word: &str, message: &str) {
        let offset = self.source.find(word).unwrap_or(0);
        let text_before = self.source.get(..offset).unwrap_or_default();
        let (line, column) =
            (text_before.matches('\n').count(), text_before.rsplit('\n').next().map_or(0, |line| line.chars().count()));
        let source_line = self.source.split('\n').nth(line).unwrap_or_default();
        let dots = ".".repeat(column);
        self.errors.push(format!(
            "ERROR: <input>:{}:{}: {message}\n | {source_line}\n | {dots}^",
            line + 1,
            column + 1
        ));
    }
}
