//! Compiles a CEL expression of an admission policy or a webhook, and checks for undeclared names, unknown fields and a wrong type of the
//! result.

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

/// Compiles an expression, and checks the names that it uses and the type of its result. Returns the message of kube-apiserver for the
/// first error.
pub(crate) fn check(source: &str, declared: &Declarations<'_>, expected: ResultType) -> Result<Expression, String> {
    let expression = Expression::compile(source)?;
    let mut type_check = ExpressionTypeCheck { declared, local: Vec::new(), errors: Vec::new() };
    type_check.visit(&expression.parsed);
    if let Some(error) = type_check.errors.first() {
        return Err(error.message(source));
    }
    let actual = static_type(&expression.parsed.expr);
    let expected_name = match expected {
        ResultType::Any => return Ok(expression),
        ResultType::Bool => "bool",
        ResultType::Text => "string",
        ResultType::Object => "Object",
        ResultType::Patches => "list(JSONPatch)",
    };
    match actual {
        Some(actual) if actual != expected_name => Err(format!("must evaluate to {expected_name} but got {actual}")),
        _ => Ok(expression),
    }
}

/// A name in an expression that is not declared.
enum TypeError {
    Undeclared(String),
    Field(String),
}

impl TypeError {
    /// Returns the message of kube-apiserver with line, column and a marker below the source. Finds the position by searching the name in
    /// the source, because the parser does not report positions.
    fn message(&self, source: &str) -> String {
        let (message, offset) = match self {
            Self::Undeclared(name) => {
                // The position of a struct name such as `Object.spec` in `Object.spec{...}` is its end.
                let offset =
                    find_word(source, name).map(|offset| if name.contains('.') { offset + name.len() } else { offset });
                (format!("undeclared reference to '{name}' (in container '')"), offset)
            }
            Self::Field(name) => {
                let offset = source.find(&format!("variables.{name}")).map(|offset| offset + "variables".len());
                (format!("undefined field '{name}'"), offset)
            }
        };
        let offset = offset.unwrap_or(0);
        let before = source.get(..offset).unwrap_or_default();
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

/// Returns the offset of the first occurrence of a name as a whole word; `None` if the source does not contain it.
fn find_word(source: &str, name: &str) -> Option<usize> {
    let in_word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    source.match_indices(name).map(|(offset, _)| offset).find(|offset| {
        !in_word(source[..*offset].chars().next_back()) && !in_word(source[offset + name.len()..].chars().next())
    })
}

/// The type check of an expression: the variables of the enclosing comprehensions, and the errors so far.
struct ExpressionTypeCheck<'a> {
    declared: &'a Declarations<'a>,
    local: Vec<String>,
    errors: Vec<TypeError>,
}

impl ExpressionTypeCheck<'_> {
    /// Checks the names that a node of the syntax tree and everything below it use. The variables of a comprehension
    /// are known only inside it.
    fn visit(&mut self, tree: &Tree) {
        match &tree.expr {
            Expr::Ident(name) => self.check_name(name),
            Expr::Select(select) => match (&select.operand.expr, self.declared.variables) {
                (Expr::Ident(name), Some(variables)) if name == "variables" => {
                    if !variables.contains(&select.field) {
                        self.errors.push(TypeError::Field(select.field.clone()));
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
                [&loop_.loop_cond, &loop_.loop_step, &loop_.result].into_iter().for_each(|subtree| self.visit(subtree));
                self.local.truncate(outer);
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.visit(element)),
            Expr::Map(map) => self.visit_entries(map.entries.iter().map(|entry| &entry.expr)),
            Expr::Struct(object) => {
                let known = object.type_name == "Object" || object.type_name == "JSONPatch";
                if !self.declared.structs || !known && !object.type_name.starts_with("Object.") {
                    self.errors.push(TypeError::Undeclared(object.type_name.clone()));
                }
                self.visit_entries(object.entries.iter().map(|entry| &entry.expr));
            }
            Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    /// Checks the names in the fields of a struct or the entries of a map.
    fn visit_entries<'b>(&mut self, entries: impl Iterator<Item = &'b EntryExpr>) {
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

    /// Records an error for a name that is neither declared, nor a variable of an enclosing comprehension, nor a CEL type.
    fn check_name(&mut self, name: &str) {
        const TYPES: [&str; 12] =
            ["int", "uint", "double", "bool", "string", "bytes", "list", "map", "type", "null_type", "optional", "dyn"];
        // The parser names the accumulators of its macros with `@`.
        let known = matches!(name, "object" | "oldObject" | "request" | "namespaceObject")
            || name == "params" && self.declared.params
            || name == "authorizer" && self.declared.authorizer
            || name == "variables" && self.declared.variables.is_some()
            || name.starts_with('@')
            || TYPES.contains(&name)
            || self.local.iter().any(|local| local == name);
        if !known {
            self.errors.push(TypeError::Undeclared(name.to_owned()));
        }
    }
}

/// Returns whether a name is the prefix of a function library, such as `sets` in `sets.contains(...)`.
fn is_namespace(name: &str) -> bool {
    const NAMESPACES: [&str; 11] =
        ["sets", "math", "lists", "strings", "base64", "format", "jsonpatch", "optional", "ip", "cidr", "url"];
    NAMESPACES.contains(&name)
}

/// Returns the name of the type of an expression in CEL; `None` if the type does not follow from the syntax alone.
fn static_type(expr: &Expr) -> Option<String> {
    let named = |name: &str| Some(name.to_owned());
    match expr {
        Expr::Literal(LiteralValue::Boolean(_)) => named("bool"),
        Expr::Literal(LiteralValue::Int(_)) => named("int"),
        Expr::Literal(LiteralValue::UInt(_)) => named("uint"),
        Expr::Literal(LiteralValue::Double(_)) => named("double"),
        Expr::Literal(LiteralValue::String(_)) => named("string"),
        Expr::Literal(LiteralValue::Bytes(_)) => named("bytes"),
        Expr::Literal(LiteralValue::Null) => named("null_type"),
        Expr::Select(select) if select.test => named("bool"),
        Expr::Struct(object) => Some(object.type_name.clone()),
        Expr::List(list) => {
            let first = static_type(&list.elements.first()?.expr)?;
            let same = list.elements.iter().all(|element| static_type(&element.expr).as_ref() == Some(&first));
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
            | operators::IN => named("bool"),
            operators::ADD | operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO => {
                let first = static_type(&call.args.first()?.expr)?;
                (static_type(&call.args.get(1)?.expr)? == first).then_some(first)
            }
            operators::CONDITIONAL => static_type(&call.args.get(1)?.expr),
            _ => None,
        },
        _ => None,
    }
}
