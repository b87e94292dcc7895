//! Checks that a CEL rule of a CustomResourceDefinition uses only declared names and fields of the schema, and that the result can have the
//! required type.

use kube_cel::cel::{
    Program,
    common::ast::{Expr, IdedExpr, LiteralValue},
};
use serde_json::Value;

use super::{rule::ValidationRule, value::escape_field_name};
use crate::object::text;

/// The names that a rule can use without declaring them.
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

/// Returns the compile error of a rule in the schema; `None` if it compiles.
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

/// Returns whether the form of an expression shows that its result is no string.
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

/// Returns whether the result of an expression may be a boolean, as far as its form shows.
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
                let internal = name.starts_with('@') || name.starts_with("__");
                if !internal && !PREDECLARED.contains(&name.as_str()) && !bound.contains(name) {
                    self.report(name, &format!("undeclared reference to '{name}' (in container '')"));
                }
            }
            Expr::Select(select) => {
                self.check_expression(&select.operand, bound);
                self.check_field(&select.operand, &select.field);
            }
            Expr::Call(call) => {
                let of_library = call.target.as_deref().is_some_and(
                    |target| matches!(&target.expr, Expr::Ident(name) if LIBRARIES.contains(&name.as_str())),
                );
                if let Some(target) = call.target.as_deref().filter(|_| !of_library) {
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

    /// Reports a field that the schema of the operand doesn't have.
    fn check_field(&mut self, operand: &IdedExpr, field: &str) {
        let Some(schema) = declared_schema(operand, self.schema) else { return };
        let Some(properties) = schema["properties"].as_object() else { return };
        let accepts_unknown = schema["x-kubernetes-preserve-unknown-fields"] == true;
        let is_type_or_metadata = ["apiVersion", "kind", "metadata"].contains(&field);
        if !accepts_unknown && !is_type_or_metadata && !properties.keys().any(|name| escape_field_name(name) == field) {
            self.report(&format!(".{field}"), &format!("undefined field '{field}'"));
        }
    }

    /// Records an error in the format of cel-go, with the position of `word` in the rule.
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
