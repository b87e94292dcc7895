//! Parses comma-separated lists in parentheses, and skips tokens after a syntax error.

use proc_macro2::TokenTree;
use syn::{Token, parenthesized, parse::ParseStream, punctuated::Punctuated};

/// Parses a list in parentheses, `(a, b)`: consumes the parentheses and calls `element` for each element between the commas. A comma after
/// the last element is allowed.
pub(super) fn parenthesized_list<T>(
    input: ParseStream<'_>,
    element: fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    let inside;
    parenthesized!(inside in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated_with(&inside, element)?.into_iter().collect())
}

/// Skips tokens until `end` returns true, or until the end of the input.
pub(super) fn skip_until(input: ParseStream<'_>, end: impl Fn(ParseStream<'_>) -> bool) {
    while !input.is_empty() && !end(input) && input.parse::<TokenTree>().is_ok() {}
}
