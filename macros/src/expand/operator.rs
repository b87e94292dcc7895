//! Generates `fn operator`, which returns the operator of a binary, and `fn main`, which runs it.

use crate::{
    check::Checked,
    model::operator::{Kind, KindOption, Operator, Source},
};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Expr, LitStr, spanned::Spanned};

/// Expands `operator!` to `fn main`. If the input lists kinds, it also expands to `fn operator`, which `main` calls; if it is an
/// expression, `main` runs the operator that the expression returns.
pub(crate) fn expand(operator: &Checked<Operator>) -> TokenStream {
    match &operator.source {
        Source::Expression(expression) => {
            let runner = if matches!(**expression, Expr::Closure(_)) {
                quote! { main_with }
            } else {
                quote! { main }
            };
            main_fn(operator, &runner, &quote! { #expression })
        }
        Source::Kinds { name, kinds } => {
            let mut code = operator_fn(operator, name.as_ref(), kinds);
            code.extend(main_fn(operator, &quote! { main }, &quote! { operator() }));
            code
        }
    }
}

/// Expands the function `main`, which calls `runner` (`main` or `main_with` of opgen) with the operator.
fn main_fn(operator: &Operator, runner: &TokenStream, argument: &TokenStream) -> TokenStream {
    let private = &operator.paths.private;
    quote! {
        fn main() -> ::std::process::ExitCode {
            #private::#runner(#argument)
        }
    }
}

/// Returns the function `operator`, which builds the operator of the listed kinds.
fn operator_fn(operator: &Operator, name: Option<&LitStr>, kinds: &[Kind]) -> TokenStream {
    let krate = &operator.paths.krate;
    let name = match name {
        Some(name) => quote! { #name },
        None => quote! { ::core::env!("CARGO_PKG_NAME") },
    };
    let controls = kinds.iter().map(controls_call);
    let distinct_kinds = (kinds.len() > 1).then(|| distinct_kinds(kinds));
    quote! {
        #distinct_kinds
        /// The operator of this binary: its kinds with their trees.
        pub fn operator() -> #krate::Operator {
            #krate::Operator::new(#name).version(::core::env!("CARGO_PKG_VERSION")) #(#controls)*
        }
    }
}

/// Implements a local trait for each kind. If two paths name the same type, the compiler reports conflicting implementations: a kind that
/// is listed twice.
fn distinct_kinds(kinds: &[Kind]) -> TokenStream {
    let kinds = kinds.iter().map(|Kind { kind, .. }| quote_spanned! { kind.span() => impl ListedOnce for #kind {} });
    quote! {
        const _: () = {
            #[allow(dead_code)]
            trait ListedOnce {}
            #(#kinds)*
        };
    }
}

/// Returns the method call that adds the controller of a kind to the operator, with its options.
fn controls_call(kind: &Kind) -> TokenStream {
    let (primary, tree) = (&kind.kind, &kind.tree);
    if kind.options.is_empty() {
        return quote! { .controls::<#primary, #tree>() };
    }
    let options = kind.options.iter().map(option_call);
    quote! { .controls_with::<#primary, #tree>(|c| c #(#options)*) }
}

/// Returns the method call that sets one option of a controller, such as `.workers(4)`.
fn option_call(option: &KindOption) -> TokenStream {
    match option {
        KindOption::ResyncPeriod { every, .. } => {
            let milliseconds = u64::try_from(every.as_millis()).unwrap_or(u64::MAX);
            quote! { .resync_period(::core::time::Duration::from_millis(#milliseconds)) }
        }
        KindOption::Events(on) => quote! { .events(#on) },
        KindOption::Workers { count, .. } => quote! { .workers(#count) },
        KindOption::Finalizer(finalizer) => quote! { .finalizer(#finalizer) },
        KindOption::Labels { labels, .. } => {
            let pairs = labels.iter().map(|(name, value)| quote! { (#name, #value) });
            quote! { .labels([#(#pairs),*]) }
        }
    }
}
