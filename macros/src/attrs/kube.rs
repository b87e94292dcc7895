//! Parses `#[kube(...)]` leniently: kube's own derive reports its syntax errors and unknown keys.

use darling::{ToTokens, ast::NestedMeta};
use proc_macro2::TokenStream;
use syn::{Attribute, Expr, ExprLit, Lit, LitBool, LitStr, Meta, Path};

/// One argument: `key`, `key = value` or `key(...)`.
pub(crate) struct KubeEntry {
    pub(crate) key: Path,
    pub(crate) value: KubeValue,
}

pub(crate) enum KubeValue {
    Flag,
    Text(LitStr),
    Bool(LitBool),
    Path(Path),
    List(Vec<KubeItem>),
    Other(TokenStream),
}

/// An element of a list: another entry, or a literal (`annotation("key", "value")`).
pub(crate) enum KubeItem {
    Entry(KubeEntry),
    Text(LitStr),
}

/// Parses the arguments in all `#[kube(...)]` attributes of an item, such as `group = "..."` or `scale(...)`. Returns `None` if the item
/// has no such attribute.
pub(crate) fn read(attributes: &[Attribute]) -> Option<Vec<KubeEntry>> {
    let mut lists = attributes.iter().filter(|attribute| attribute.path().is_ident("kube")).peekable();
    lists.peek()?;
    let items =
        lists.filter_map(|attribute| attribute.meta.require_list().ok()).flat_map(|list| parse_items(&list.tokens));
    Some(items.filter_map(KubeItem::into_entry).collect())
}

impl KubeItem {
    /// Returns the entry; `None` for a literal.
    fn into_entry(self) -> Option<KubeEntry> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Text(_) => None,
        }
    }
}

/// Parses the comma-separated elements of a list: arguments and string literals. Returns an empty list after a syntax error, which kube's
/// derive reports.
fn parse_items(tokens: &TokenStream) -> Vec<KubeItem> {
    let nested = NestedMeta::parse_meta_list(tokens.clone()).unwrap_or_default();
    let item = |nested| match nested {
        NestedMeta::Meta(meta) => Some(KubeItem::Entry(to_entry(meta))),
        NestedMeta::Lit(Lit::Str(text)) => Some(KubeItem::Text(text)),
        _ => None,
    };
    nested.into_iter().filter_map(item).collect()
}

/// Converts a parsed argument (`key`, `key = value` or `key(...)`) to a [`KubeEntry`]; a list in parentheses is parsed into its elements.
fn to_entry(meta: Meta) -> KubeEntry {
    let key = meta.path().clone();
    let value = match meta {
        Meta::Path(_) => KubeValue::Flag,
        Meta::List(list) => KubeValue::List(parse_items(&list.tokens)),
        Meta::NameValue(pair) => to_value(pair.value),
    };
    KubeEntry { key, value }
}

/// Converts the expression after `=` to a value. An expression other than a string, a `bool` or a path becomes `Other`, as tokens.
fn to_value(expression: Expr) -> KubeValue {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => KubeValue::Text(text),
        Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => KubeValue::Bool(flag),
        Expr::Path(path) => KubeValue::Path(path.path),
        other => KubeValue::Other(other.to_token_stream()),
    }
}
