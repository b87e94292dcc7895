//! `#[kube(...)]`, read leniently: its syntax and its unknown keys are reported by kube's own derive.

use darling::{ToTokens, ast::NestedMeta};
use proc_macro2::TokenStream;
use syn::{Attribute, Expr, ExprLit, Lit, LitBool, LitStr, Meta, Path};

/// One `key`, `key = value` or `key(...)`.
pub(crate) struct Entry {
    pub(crate) key: Path,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Word,
    Text(LitStr),
    Bool(LitBool),
    Path(Path),
    List(Vec<Item>),
    Other(TokenStream),
}

/// What stands in a list: another entry, or a literal (`annotation("key", "value")`).
pub(crate) enum Item {
    Entry(Entry),
    Text(LitStr),
}

/// The entries of all `#[kube(...)]` of an item; `None` where there is no such attribute.
pub(crate) fn read(attributes: &[Attribute]) -> Option<Vec<Entry>> {
    let mut lists = attributes.iter().filter(|attribute| attribute.path().is_ident("kube")).peekable();
    lists.peek()?;
    let items = lists.filter_map(|attribute| attribute.meta.require_list().ok()).flat_map(|list| items(&list.tokens));
    Some(items.filter_map(Item::into_entry).collect())
}

impl Item {
    fn into_entry(self) -> Option<Entry> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Text(_) => None,
        }
    }
}

fn items(tokens: &TokenStream) -> Vec<Item> {
    let nested = NestedMeta::parse_meta_list(tokens.clone()).unwrap_or_default();
    let item = |nested| match nested {
        NestedMeta::Meta(meta) => Some(Item::Entry(entry(meta))),
        NestedMeta::Lit(Lit::Str(text)) => Some(Item::Text(text)),
        _ => None,
    };
    nested.into_iter().filter_map(item).collect()
}

fn entry(meta: Meta) -> Entry {
    let key = meta.path().clone();
    let value = match meta {
        Meta::Path(_) => Value::Word,
        Meta::List(list) => Value::List(items(&list.tokens)),
        Meta::NameValue(pair) => value(pair.value),
    };
    Entry { key, value }
}

fn value(expression: Expr) -> Value {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Value::Text(text),
        Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => Value::Bool(flag),
        Expr::Path(path) => Value::Path(path.path),
        other => Value::Other(other.to_token_stream()),
    }
}
