//! Type checks of a CEL rule when its CustomResourceDefinition is written: undeclared names and unknown fields.

use kube_cel::cel::{
    Program,
    common::ast::{Expr, IdedExpr, LiteralValue},
};
use serde_json::Value;

use super::{rule::ValidationRule, value::escaped};
use crate::object::text;

/// Names that mean something without being declared.
const KNOWN: [&str; 15] = [
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

/// Names before a dot and a function: `sets.contains`.
const LIBRARIES: [&str; 5] = ["sets", "math", "optional", "base64", "cel"];

/// Why a rule can't be one of a schema; `None` if nothing speaks against it.
pub(crate) fn type_errors(rule: &ValidationRule, schema: &Value) -> Option<String> {
    let program = match &rule.program {
        Ok(program) => program,
        Err(error) => return Some(format!("compilation failed: {}", error.replace("\n|", "\n |"))),
    };
    if let Some(unknown) = unknown_names(program, &rule.written, schema) {
        return Some(format!("compilation failed: {unknown}"));
    }
    (!may_be_true(program, schema)).then(|| "cel expression must evaluate to a bool".to_owned())
}

/// The variables and fields of an expression that the schema doesn't have; `None` if there are none.
pub(crate) fn unknown_names(program: &Program, source: &str, schema: &Value) -> Option<String> {
    let mut found = Vec::new();
    RuleTypeCheck { source, schema, found: &mut found }.walk(program.expression(), &mut Vec::new());
    (!found.is_empty()).then(|| found.join("\n"))
}

/// Whether an expression is plainly no text.
pub(crate) fn is_not_string(program: &Program) -> bool {
    match &program.expression().expr {
        Expr::Literal(literal) => !matches!(literal, LiteralValue::String(_)),
        Expr::List(_) | Expr::Map(_) | Expr::Comprehension(_) => true,
        Expr::Select(select) => select.test,
        _ => false,
    }
}

/// Operators that make numbers, texts and lists, and never a truth.
const ARITHMETIC: [&str; 6] = ["_+_", "_-_", "_*_", "_/_", "_%_", "-_"];

/// Whether the result may be a truth, as far as it is plain to see.
fn may_be_true(program: &Program, schema: &Value) -> bool {
    match &program.expression().expr {
        Expr::Literal(literal) => matches!(literal, LiteralValue::Boolean(_)),
        Expr::List(_) | Expr::Map(_) => false,
        Expr::Call(call) => !ARITHMETIC.contains(&call.func_name.as_str()),
        Expr::Select(select) if !select.test => {
            let declared = declared(program.expression(), schema);
            !declared.is_some_and(|schema| !matches!(text(schema, &["type"]), "" | "boolean"))
        }
        _ => true,
    }
}

/// The schema of `self.a.b`, if it says.
fn declared<'a>(expression: &IdedExpr, schema: &'a Value) -> Option<&'a Value> {
    match &expression.expr {
        Expr::Ident(name) if name == "self" || name == "oldSelf" => Some(schema),
        Expr::Select(select) => {
            let operand = declared(&select.operand, schema)?;
            let properties = operand["properties"].as_object()?;
            properties.iter().find(|(name, _)| escaped(name) == select.field).map(|(_, schema)| schema)
        }
        _ => None,
    }
}

struct RuleTypeCheck<'a> {
    source: &'a str,
    schema: &'a Value,
    found: &'a mut Vec<String>,
}

impl RuleTypeCheck<'_> {
    fn walk(&mut self, expression: &IdedExpr, bound: &mut Vec<String>) {
        match &expression.expr {
            Expr::Ident(name) => {
                let internal = name.starts_with('@') || name.starts_with("__");
                if !internal && !KNOWN.contains(&name.as_str()) && !bound.contains(name) {
                    self.report(name, &format!("undeclared reference to '{name}' (in container '')"));
                }
            }
            Expr::Select(select) => {
                self.walk(&select.operand, bound);
                self.field(&select.operand, &select.field);
            }
            Expr::Call(call) => {
                let of_library = call.target.as_deref().is_some_and(
                    |target| matches!(&target.expr, Expr::Ident(name) if LIBRARIES.contains(&name.as_str())),
                );
                if let Some(target) = call.target.as_deref().filter(|_| !of_library) {
                    self.walk(target, bound);
                }
                call.args.iter().for_each(|argument| self.walk(argument, bound));
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.walk(element, bound)),
            Expr::Comprehension(comprehension) => {
                self.walk(&comprehension.iter_range, bound);
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
                    self.walk(part, bound);
                }
                bound.truncate(before);
            }
            _ => {}
        }
    }

    /// A field that the schema doesn't have.
    fn field(&mut self, operand: &IdedExpr, field: &str) {
        let Some(schema) = declared(operand, self.schema) else { return };
        let Some(properties) = schema["properties"].as_object() else { return };
        let open = schema["x-kubernetes-preserve-unknown-fields"] == true;
        let whole = ["apiVersion", "kind", "metadata"].contains(&field);
        if !open && !whole && !properties.keys().any(|name| escaped(name) == field) {
            self.report(&format!(".{field}"), &format!("undefined field '{field}'"));
        }
    }

    /// Words an error as cel-go does, with the place of a word in the rule.
    fn report(&mut self, word: &str, what: &str) {
        let offset = self.source.find(word).unwrap_or(0);
        let before = self.source.get(..offset).unwrap_or_default();
        let (line, column) =
            (before.matches('\n').count(), before.rsplit('\n').next().map_or(0, |line| line.chars().count()));
        let shown = self.source.split('\n').nth(line).unwrap_or_default();
        let dots = ".".repeat(column);
        self.found.push(format!("ERROR: <input>:{}:{}: {what}\n | {shown}\n | {dots}^", line + 1, column + 1));
    }
}
