//! Checks the closures in `up = ...` and `down = ...`.

use crate::{attrs::versions::ChangeInput, diag::Diags};
use proc_macro2::Ident;
use syn::Expr;

/// Checks the closures in `up = ...` and `down = ...` of a change. Reports an `async` closure, and a closure whose number of parameters is
/// not the number of fields that it converts: those in `from(...)` for `up`, those in `to(...)` for `down`, and one for `retyped`.
pub(super) fn check(change: &ChangeInput, diags: &mut Diags) {
    let count = |list: &str| change.fields(list).map_or(1, <[Ident]>::len);
    for (name, fields) in [("up", count("from")), ("down", count("to"))] {
        let Some(Expr::Closure(closure)) = change.function(name) else { continue };
        let parameters = closure.inputs.len();
        if let Some(asyncness) = &closure.asyncness {
            diags.error(asyncness, format!("the closure of `{name}` is `async`"), "remove `async`");
        } else if parameters != fields {
            let problem = format!(
                "`{name}` of `{}` converts {}, but its closure has {}",
                change.key,
                counted(fields, "field"),
                counted(parameters, "parameter"),
            );
            diags.error(closure.inputs_begin, problem, "write one parameter for each field");
        }
    }
}

/// Returns a number with its noun in singular or plural: `1 field`, `2 fields`.
fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
