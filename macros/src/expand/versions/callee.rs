//! Writes a function of the user as the callee of a call: a path, or a closure whose parameters have types.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, Pat, PatType, Token, Type};

/// Returns a function of the user as the callee of a call: a path unchanged, and a closure in parentheses. Each closure parameter without a
/// type gets the type of its argument from `types`, since the compiler does not infer it from the arguments of the call.
pub(super) fn callee(function: &Expr, types: &[TokenStream]) -> TokenStream {
    let Expr::Closure(closure) = function else { return function.to_token_stream() };
    let mut closure = closure.clone();
    for (parameter, ty) in closure.inputs.iter_mut().zip(types) {
        if !matches!(parameter, Pat::Type(_)) {
            *parameter = Pat::Type(PatType {
                attrs: Vec::new(),
                pat: Box::new(parameter.clone()),
                colon_token: Token![:](Span::call_site()),
                ty: Box::new(Type::Verbatim(ty.clone())),
            });
        }
    }
    quote! { (#closure) }
}
