//! Type checks a CEL expression when its policy is written: undeclared names, unknown fields, the type of its result.

use kube_cel::cel::{
    common::ast::{EntryExpr, Expr, LiteralValue, operators},
    parser::Expression as Tree,
};

use super::program::Expression;

/// The names that an expression may use.
pub(crate) struct Declarations<'a> {
    pub(crate) params: bool,
    pub(crate) authorizer: bool,
    /// Whether it may construct `Object{...}` and `JSONPatch{...}`.
    pub(crate) structs: bool,
    /// The preceding variables; `None` if variables are not allowed.
    pub(crate) variables: Option<&'a [String]>,
}

/// The required type of an expression's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultType {
    Any,
    Bool,
    Text,
    Object,
    Patches,
}

/// Compiles an expression; errors are worded as by kube-apiserver.
pub(crate) fn check(source: &str, declared: &Declarations<'_>, wanted: ResultType) -> Result<Expression, String> {
    let expression = Expression::compile(source)?;
    let mut search = ExpressionTypeCheck { declared, local: Vec::new(), wrong: Vec::new() };
    search.visit(&expression.parsed);
    if let Some(wrong) = search.wrong.first() {
        return Err(wrong.located(source));
    }
    let is = shape(&expression.parsed.expr);
    let named = match wanted {
        ResultType::Any => return Ok(expression),
        ResultType::Bool => "bool",
        ResultType::Text => "string",
        ResultType::Object => "Object",
        ResultType::Patches => "list(JSONPatch)",
    };
    match is {
        Some(is) if is != named => Err(format!("must evaluate to {named} but got {is}")),
        _ => Ok(expression),
    }
}

/// An unknown name.
enum TypeError {
    Undeclared(String),
    Field(String),
}

impl TypeError {
    /// Returns the message with line and column, found by name because the parser does not report them.
    fn located(&self, source: &str) -> String {
        let (message, at) = match self {
            Self::Undeclared(name) => {
                let at = find(source, name).map(|at| if name.contains('.') { at + name.len() } else { at });
                (format!("undeclared reference to '{name}' (in container '')"), at)
            }
            Self::Field(name) => {
                let at = source.find(&format!("variables.{name}")).map(|at| at + "variables".len());
                (format!("undefined field '{name}'"), at)
            }
        };
        let at = at.unwrap_or(0);
        let before = source.get(..at).unwrap_or_default();
        let (line, start) = (before.matches('\n').count(), before.rfind('\n').map_or(0, |end| end + 1));
        let column = before.get(start..).unwrap_or_default().chars().count();
        let text = source.lines().nth(line).unwrap_or_default();
        format!(
            "compilation failed: ERROR: <input>:{}:{}: {message}\n | {text}\n | {}^",
            line + 1,
            column + 1,
            ".".repeat(column)
        )
    }
}

/// Returns the first position of a name as a whole word.
fn find(source: &str, name: &str) -> Option<usize> {
    let word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    source
        .match_indices(name)
        .map(|(at, _)| at)
        .find(|at| !word(source[..*at].chars().next_back()) && !word(source[at + name.len()..].chars().next()))
}

struct ExpressionTypeCheck<'a> {
    declared: &'a Declarations<'a>,
    local: Vec<String>,
    wrong: Vec<TypeError>,
}

impl ExpressionTypeCheck<'_> {
    fn visit(&mut self, tree: &Tree) {
        match &tree.expr {
            Expr::Ident(name) => self.name(name),
            Expr::Select(select) => match (&select.operand.expr, self.declared.variables) {
                (Expr::Ident(name), Some(variables)) if name == "variables" => {
                    if !variables.contains(&select.field) {
                        self.wrong.push(TypeError::Field(select.field.clone()));
                    }
                }
                _ => self.visit(&select.operand),
            },
            Expr::Call(call) => {
                // In `sets.contains(...)` the target is part of the function's name.
                if let Some(target) = &call.target
                    && !matches!(&target.expr, Expr::Ident(name) if is_namespace(name))
                {
                    self.visit(target);
                }
                call.args.iter().for_each(|argument| self.visit(argument));
            }
            Expr::Comprehension(loop_) => {
                self.visit(&loop_.iter_range);
                self.visit(&loop_.accu_init);
                let outer = self.local.len();
                self.local.extend([loop_.iter_var.clone(), loop_.accu_var.clone()]);
                self.local.extend(loop_.iter_var2.clone());
                [&loop_.loop_cond, &loop_.loop_step, &loop_.result].into_iter().for_each(|part| self.visit(part));
                self.local.truncate(outer);
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.visit(element)),
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr)),
            Expr::Struct(made) => {
                let known = made.type_name == "Object" || made.type_name == "JSONPatch";
                if !self.declared.structs || !known && !made.type_name.starts_with("Object.") {
                    self.wrong.push(TypeError::Undeclared(made.type_name.clone()));
                }
                self.entries(made.entries.iter().map(|entry| &entry.expr));
            }
            Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn entries<'b>(&mut self, entries: impl Iterator<Item = &'b EntryExpr>) {
        for entry in entries {
            match entry {
                EntryExpr::StructField(field) => self.visit(&field.value),
                EntryExpr::MapEntry(entry) => {
                    self.visit(&entry.key);
                    self.visit(&entry.value);
                }
            }
        }
    }

    fn name(&mut self, name: &str) {
        const TYPES: [&str; 12] =
            ["int", "uint", "double", "bool", "string", "bytes", "list", "map", "type", "null_type", "optional", "dyn"];
        let known = matches!(name, "object" | "oldObject" | "request" | "namespaceObject")
            || name == "params" && self.declared.params
            || name == "authorizer" && self.declared.authorizer
            || name == "variables" && self.declared.variables.is_some()
            || name.starts_with('@')
            || TYPES.contains(&name)
            || self.local.iter().any(|local| local == name);
        if !known {
            self.wrong.push(TypeError::Undeclared(name.to_owned()));
        }
    }
}

/// Whether the name is a namespace of functions.
fn is_namespace(name: &str) -> bool {
    const WORDS: [&str; 11] =
        ["sets", "math", "lists", "strings", "base64", "format", "jsonpatch", "optional", "ip", "cidr", "url"];
    WORDS.contains(&name)
}

/// Returns the type of an expression, if it is obvious.
fn shape(expr: &Expr) -> Option<String> {
    let plain = |word: &str| Some(word.to_owned());
    match expr {
        Expr::Literal(LiteralValue::Boolean(_)) => plain("bool"),
        Expr::Literal(LiteralValue::Int(_)) => plain("int"),
        Expr::Literal(LiteralValue::UInt(_)) => plain("uint"),
        Expr::Literal(LiteralValue::Double(_)) => plain("double"),
        Expr::Literal(LiteralValue::String(_)) => plain("string"),
        Expr::Literal(LiteralValue::Bytes(_)) => plain("bytes"),
        Expr::Literal(LiteralValue::Null) => plain("null_type"),
        Expr::Select(select) if select.test => plain("bool"),
        Expr::Struct(made) => Some(made.type_name.clone()),
        Expr::List(list) => {
            let first = shape(&list.elements.first()?.expr)?;
            let same = list.elements.iter().all(|element| shape(&element.expr).as_ref() == Some(&first));
            same.then(|| format!("list({first})"))
        }
        Expr::Call(call) => match call.func_name.as_str() {
            operators::LOGICAL_AND
            | operators::LOGICAL_OR
            | operators::LOGICAL_NOT
            | operators::EQUALS
            | operators::NOT_EQUALS
            | operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS
            | operators::IN => plain("bool"),
            operators::ADD | operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO => {
                let first = shape(&call.args.first()?.expr)?;
                (shape(&call.args.get(1)?.expr)? == first).then_some(first)
            }
            operators::CONDITIONAL => shape(&call.args.get(1)?.expr),
            _ => None,
        },
        _ => None,
    }
}
