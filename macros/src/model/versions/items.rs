//! Reads the names and attributes of structs and enums in the module of `#[versions(...)]`, and formats types as text.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Attribute, Item, Path, Token, Type, punctuated::Punctuated};

/// Returns the name of a struct or enum; `None` for other items.
pub(crate) fn type_name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Struct(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        _ => None,
    }
}

/// Returns the attributes of a struct or enum; none for other items.
pub(crate) fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns whether a `#[derive(...)]` among the attributes lists the trait `name`. Compares only the last segment of its path.
pub(crate) fn derives(attributes: &[Attribute], name: &str) -> bool {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths =
        derives.filter_map(|derive| derive.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok());
    paths.flatten().any(|path| path.segments.last().is_some_and(|last| last.ident == name))
}

/// Returns a type as source text, for messages and comparisons, without the spaces that the text of a token stream has around punctuation.
pub(crate) fn type_text(ty: &Type) -> String {
    let text = ty.to_token_stream().to_string();
    [(" :: ", "::"), (" < ", "<"), (" >", ">"), (" ,", ",")]
        .into_iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}
