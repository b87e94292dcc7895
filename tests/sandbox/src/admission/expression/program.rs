//! Compiles the CEL expressions of policies and match conditions.

use std::sync::LazyLock;

use kube_cel::{
    KubeCelExt as _,
    cel::{
        Context, ExecutionError, Value,
        parser::{Expression as Tree, Parser},
    },
};

use super::{authorizer, rewrite};

/// All CEL functions.
pub(super) static FUNCTIONS: LazyLock<Context<'static>> = LazyLock::new(|| {
    let mut context = Context::default().with_all();
    authorizer::register(&mut context);
    context
});

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) source: String,
    tree: Tree,
    /// The syntax tree before the rewrite, for type checks.
    pub(super) parsed: Tree,
}

impl Expression {
    /// Parses an expression, and keeps the parsed tree for type checks and the rewritten tree for the evaluation. An error begins as that
    /// of the API server, with `compilation failed: `; its details are those of this parser and differ from those of cel-go.
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        let parsed = Parser::default().enable_optional_syntax(true).parse(source);
        let parsed = parsed.map_err(|errors| format!("compilation failed: {}", errors.to_string().trim_end()))?;
        let tree = rewrite::rewrite_tree(parsed.clone());
        Ok(Self { source: source.to_owned(), tree, parsed })
    }

    /// Evaluates the expression with the variables and functions of a context.
    pub(super) fn evaluate(&self, context: &Context<'_>) -> Result<Value, ExecutionError> {
        Value::resolve(&self.tree, context)
    }
}

/// Returns the message of an evaluation error, as cel-go words it.
pub(super) fn error_message(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::NoSuchOverload => "no such overload".to_owned(),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::IndexOutOfBounds(Value::Int(index)) => format!("index out of bounds: {index}"),
        ExecutionError::FunctionError { function, message } => match function.as_str() {
            "int" | "uint" | "double" => format!("type conversion error from 'string' to '{function}'"),
            _ => message.clone(),
        },
        other => other.to_string(),
    }
}
