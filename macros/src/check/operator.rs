//! Checks the input of `operator!`: its name, its kinds and their options.

use super::{Checked, names};
use crate::{
    diag::Diags,
    model::{
        operator::{Kind, KindOption, Operator, Source},
        type_path::starts_upper,
    },
};
use quote::ToTokens;
use syn::{Expr, ExprClosure, LitStr, Pat, Path};

/// Checks the input of `operator!`, and wraps the model in `Checked` if `diags` has no errors. Otherwise it returns the model as the error,
/// from which the macro still generates a `main` to avoid follow-up errors.
pub(crate) fn check(model: Operator, diags: &mut Diags) -> Result<Checked<Operator>, Box<Operator>> {
    match &model.source {
        Source::Expression(operator) => check_expression(operator, diags),
        Source::Kinds { name, kinds } => {
            if let Some(name) = name {
                check_operator_name(name, diags);
            }
            if kinds.is_empty() && !diags.has_errors() {
                diags.missing(
                    "`operator!` lists no kind",
                    "write `Kind => Tree`, or the name of a function: `my_lib::operator()`",
                );
            }
            for (at, kind) in kinds.iter().enumerate() {
                check_kind(kind, &kinds[..at], diags);
            }
        }
    }
    if diags.has_errors() { Err(Box::new(model)) } else { Ok(Checked(model)) }
}

/// Reports expressions that are no operator: a type, a function that is not called, or a literal.
fn check_expression(operator: &Expr, diags: &mut Diags) {
    match operator {
        Expr::Path(path) if starts_upper(&path.path) => {
            let text = path_text(&path.path);
            diags.error(path, format!("`{text}` has no tree"), format!("write `{text} => Tree`"));
        }
        Expr::Path(path) => {
            let text = path.to_token_stream().to_string().replace(' ', "");
            diags.error(path, format!("`{text}` is not called"), format!("write `{text}()`"));
        }
        Expr::Closure(closure) => check_options_closure(closure, diags),
        Expr::Lit(literal) => {
            diags.error(literal, "this is not an operator", "write `Kind => Tree`, or call a function that returns one")
        }
        _ => (),
    }
}

/// Checks that a closure in `operator!` has one parameter with a type, as in `|options: Options| ...`. The type has the command-line flags
/// of the operator.
fn check_options_closure(closure: &ExprClosure, diags: &mut Diags) {
    let fix = "write `|options: Options| my_lib::operator(options)`";
    match closure.inputs.iter().collect::<Vec<_>>()[..] {
        [Pat::Type(_)] => (),
        [untyped] => diags.error(untyped, "the type of the options is missing", fix),
        [_, second, ..] => diags.error(second, "an operator takes one value of options", fix),
        [] => diags.error(closure.inputs_begin, "this closure takes no options", fix),
    }
}

/// Checks that the name of the operator is a DNS label.
fn check_operator_name(name: &LitStr, diags: &mut Diags) {
    if !names::is_label(&name.value()) {
        let problem = format!("`\"{}\"` is not a valid name of an operator", name.value());
        let fix = format!(
            "use at most 63 lower case letters, digits and hyphens, for example `{}`",
            names::label(&name.value())
        );
        diags.error(name, problem, fix);
    }
}

/// Checks one entry `Kind => Tree { options }` of `operator!`. `earlier` are the entries before it, which must not have the same kind.
fn check_kind(kind: &Kind, earlier: &[Kind], diags: &mut Diags) {
    if let Some(first) = earlier.iter().find(|first| first.kind == kind.kind) {
        let problem = format!("`{}` is listed twice", path_text(&kind.kind));
        diags.conflict(&kind.kind, problem, "keep one; a kind has one tree", &first.kind, "first listed here");
    }
    if kind.kind == kind.tree {
        diags.error(&kind.tree, "a kind can't be its own tree", "use the struct that derives `Provisioner`");
    }
    for path in [&kind.kind, &kind.tree].into_iter().filter(|path| !starts_upper(path)) {
        diags.error(path, format!("`{}` is not a type", path_text(path)), "write `Kind => Tree`, two types");
    }
    for option in &kind.options {
        check_option(option, diags);
    }
}

/// Reports a value that an option of a kind can't have: a resync period of zero, no workers, an invalid finalizer, or a label
/// without value.
fn check_option(option: &KindOption, diags: &mut Diags) {
    match option {
        KindOption::ResyncPeriod { literal, every } if every.is_zero() => {
            diags.error(
                literal,
                "a resync period of zero would never pause",
                "remove it to wait for changes only, or use for example `\"60s\"`",
            );
        }
        KindOption::Workers { literal, count: 0 } => {
            diags.error(literal, "a controller needs at least one worker", "use a whole number, at least 1");
        }
        KindOption::Finalizer(finalizer) if !names::is_finalizer(&finalizer.value()) => {
            let fix = "use `domain/name`, for example `demo.example.com/webapp`, the name at most 63 characters";
            diags.error(finalizer, format!("`\"{}\"` is not a valid finalizer", finalizer.value()), fix);
        }
        KindOption::Labels { literal, .. } => {
            let text = literal.value();
            if let Some(wrong) = text.split(',').map(str::trim).find(|part| !is_pair(part)) {
                let fix = "write `name=value`, separated by commas, for example `\"team=web,tier=front\"`";
                diags.error(literal, format!("`{wrong}` is not a label with its value"), fix);
            }
        }
        _ => (),
    }
}

/// Returns whether a text is a valid label with its value: `name=value`.
fn is_pair(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(name, value)| names::is_qualified(name.trim()) && names::is_label_value(value.trim()))
}

fn path_text(path: &Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}
