//! The rules for an operator.

use super::{Checked, names};
use crate::{
    diag::Diags,
    model::{
        operator::{Kind, KindOption, Operator, Source},
        provisioner::starts_upper,
    },
};
use quote::ToTokens;
use syn::{Expr, ExprClosure, LitStr, Pat, Path};

pub(crate) fn check(model: Operator, diags: &mut Diags) -> Result<Checked<Operator>, Box<Operator>> {
    match &model.source {
        Source::Built(built) => expression(built, diags),
        Source::Listed { name, kinds } => {
            if let Some(name) = name {
                operator_name(name, diags);
            }
            if kinds.is_empty() && !diags.has_errors() {
                diags.missing(
                    "`operator!` lists no kind",
                    "write `Kind => Tree`, or name a function: `my_lib::operator()`",
                );
            }
            for (at, kind) in kinds.iter().enumerate() {
                one_kind(kind, &kinds[..at], diags);
            }
        }
    }
    if diags.has_errors() { Err(Box::new(model)) } else { Ok(Checked(model)) }
}

fn expression(built: &Expr, diags: &mut Diags) {
    match built {
        Expr::Path(path) if starts_upper(&path.path) => {
            let said = path.to_token_stream().to_string().replace(' ', "");
            diags.error(path, format!("`{said}` has no tree"), format!("write `{said} => Tree`"));
        }
        Expr::Path(path) => {
            let said = path.to_token_stream().to_string().replace(' ', "");
            diags.error(path, format!("`{said}` is not called"), format!("write `{said}()`"));
        }
        Expr::Closure(closure) => takes_options(closure, diags),
        Expr::Lit(literal) => {
            diags.error(literal, "this is not an operator", "write `Kind => Tree`, or call a function that makes one")
        }
        _ => (),
    }
}

/// A closure has no type of its own to tell what the flags are.
fn takes_options(closure: &ExprClosure, diags: &mut Diags) {
    let fix = "write `|options: Options| my_lib::operator(options)`";
    match closure.inputs.iter().collect::<Vec<_>>()[..] {
        [Pat::Type(_)] => (),
        [untyped] => diags.error(untyped, "the type of the options is not said", fix),
        [_, second, ..] => diags.error(second, "an operator is made of one value of options", fix),
        [] => diags.error(closure.inputs_begin, "this closure takes no options", fix),
    }
}

fn operator_name(name: &LitStr, diags: &mut Diags) {
    if !names::is_label(&name.value()) {
        let what = format!("`\"{}\"` is not a valid name of an operator", name.value());
        let fix = format!(
            "use at most 63 lower case letters, digits and hyphens, for example `{}`",
            names::label(&name.value())
        );
        diags.error(name, what, fix);
    }
}

fn one_kind(kind: &Kind, earlier: &[Kind], diags: &mut Diags) {
    if let Some(first) = earlier.iter().find(|first| first.kind == kind.kind) {
        let what = format!("`{}` is listed twice", shown(&kind.kind));
        diags.conflict(&kind.kind, what, "keep one; a kind has one tree", &first.kind, "first listed here");
    }
    if kind.kind == kind.tree {
        diags.error(&kind.tree, "a kind is not its own tree", "name the struct that derives `Provisioner`");
    }
    for path in [&kind.kind, &kind.tree].into_iter().filter(|path| !starts_upper(path)) {
        diags.error(path, format!("`{}` is not a type", shown(path)), "write `Kind => Tree`, two types");
    }
    for option in &kind.options {
        check_option(option, diags);
    }
}

fn check_option(option: &KindOption, diags: &mut Diags) {
    match option {
        KindOption::Poll { written, every } if every.is_zero() => {
            diags.error(
                written,
                "a poll without pause never ends",
                "remove it to wait for changes only, or use for example `\"60s\"`",
            );
        }
        KindOption::Workers { written, count: 0 } => {
            diags.error(written, "without workers nothing is reconciled", "write a whole number from 1 on");
        }
        KindOption::Finalizer(finalizer) if !names::is_finalizer(&finalizer.value()) => {
            let fix = "use `domain/name`, for example `demo.example.com/webapp`, the name at most 63 characters";
            diags.error(finalizer, format!("`\"{}\"` is not a valid finalizer", finalizer.value()), fix);
        }
        KindOption::Labels { written, .. } => {
            let text = written.value();
            if let Some(wrong) = text.split(',').map(str::trim).find(|part| !is_pair(part)) {
                let fix = "write `name=value` with commas between, for example `\"team=web,tier=front\"`";
                diags.error(written, format!("`{wrong}` is not a label with its value"), fix);
            }
        }
        _ => (),
    }
}

fn is_pair(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(name, value)| names::is_qualified(name.trim()) && names::is_label_value(value.trim()))
}

fn shown(path: &Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}
