//! Rewrites field names in attributes (validation rules, printer columns, paths) to the names that the fields have in one version.

use super::attribute::Rewrite;
use crate::model::versions::{Member, VersionedType, items_of, local_name, unwrapped};
use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Lit};

impl Rewrite<'_> {
    /// Rewrites the comma-separated entries of an attribute such as `#[valid(...)]`: each becomes the result of `rewrite`, and `None`
    /// removes it. Returns `None` if no entry remains, so that the attribute is removed. Returns an attribute without a list unchanged.
    pub(super) fn with_entries(
        &self,
        attribute: Attribute,
        rewrite: impl Fn(TokenStream) -> Option<TokenStream>,
    ) -> Option<Attribute> {
        let Ok(list) = attribute.meta.require_list() else { return Some(attribute) };
        let path = &list.path;
        let entries: Vec<_> = split(list.tokens.clone()).into_iter().filter_map(rewrite).collect();
        (!entries.is_empty()).then(|| syn::parse_quote! { #[#path(#(#entries),*)] })
    }

    /// Returns a `#[valid(...)]` rule of the type, or of `field`, with the names that the fields in its arguments have in this version.
    /// Returns `None` if this version lacks one of these fields, so that the rule is removed.
    pub(super) fn rule(&self, entry: TokenStream, field: Option<&Member>) -> Option<TokenStream> {
        let mut tokens = entry.into_iter();
        let key = tokens.next()?;
        let (is_unique, is_crate) = (key.to_string() == "unique", key.to_string() == "crate");
        let mut rule = TokenStream::from(key);
        if is_crate {
            rule.extend(tokens);
            return Some(rule);
        }
        // The key in `unique(key)` is a field of the items.
        let named = if is_unique { field.and_then(|field| self.items(field)) } else { Some(self.versioned) };
        for token in tokens {
            let TokenTree::Group(group) = token else {
                rule.extend([token]);
                continue;
            };
            let arguments = split(group.stream()).into_iter().map(|argument| self.rule_argument(argument, named));
            let arguments = arguments.collect::<Option<Vec<_>>>()?;
            let mut renamed = Group::new(group.delimiter(), quote! { #(#arguments),* });
            renamed.set_span(group.span());
            rule.extend([TokenTree::Group(renamed)]);
        }
        Some(rule)
    }

    /// Returns the type of the items of a list field in this version; `None` if the type has no history.
    fn items(&self, field: &Member) -> Option<&VersionedType> {
        self.module.versioned_type(items_of(field.type_in(self.version)?)?)
    }

    /// Returns an argument of a rule, such as `max` or `mode = "Public"`, with the name of this version for a field of the type `named`.
    /// Returns `None` if this version lacks the field, or the variant that is the value. Any other argument stays unchanged.
    fn rule_argument(&self, argument: TokenStream, named: Option<&VersionedType>) -> Option<TokenStream> {
        let mut tokens = argument.into_iter();
        let first = tokens.next()?;
        let member = match (&first, named) {
            (TokenTree::Ident(ident), Some(named)) => named.position(ident).and_then(|index| named.members.get(index)),
            _ => None,
        };
        let Some(member) = member else { return Some([first].into_iter().chain(tokens).collect()) };
        if !member.is_in(self.version) {
            return None;
        }
        let mut name = member.name(self.version).clone();
        name.set_span(first.span());
        let rest: Option<Vec<_>> = tokens.map(|token| self.rule_value(token, member)).collect();
        Some([TokenTree::Ident(name)].into_iter().chain(rest?).collect())
    }

    /// Returns a token of the value that a rule compares `field` to. If the type of the field is an enum with a history, a string literal
    /// is the JSON name of a variant and becomes its name in this version; `None` if this version lacks the variant. Other tokens stay
    /// unchanged.
    fn rule_value(&self, token: TokenTree, field: &Member) -> Option<TokenTree> {
        let ty = field.type_in(self.version).and_then(|ty| self.module.versioned_type(items_of(unwrapped(ty))?));
        let (TokenTree::Literal(literal), Some(ty)) = (&token, ty.filter(|ty| ty.is_enum())) else {
            return Some(token);
        };
        let Some(text) = text(literal) else { return Some(token) };
        let Some(variant) = ty.by_json_name(&text) else { return Some(token) };
        let name = variant.is_in(self.version).then(|| ty.json_name(variant, self.version))?;
        Some(respanned(&name, literal).into())
    }

    /// Returns an entry of `#[kube(...)]`, such as `printcolumn(...)`, with the JSON paths of this version; `None` if this version lacks a
    /// field on one of the paths.
    pub(super) fn kube_entry(&self, entry: TokenStream) -> Option<TokenStream> {
        entry.into_iter().map(|token| self.kube_token(token)).collect()
    }

    /// Returns a token of `#[kube(...)]` with the JSON paths of this version. Rewrites string literals, also inside parentheses. Returns
    /// `None` if this version lacks a field on a path.
    fn kube_token(&self, token: TokenTree) -> Option<TokenTree> {
        match token {
            TokenTree::Literal(literal) => self.json_path(literal).map(TokenTree::Literal),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                let stream: Option<TokenStream> =
                    group.stream().into_iter().map(|token| self.kube_token(token)).collect();
                let mut rewritten = Group::new(group.delimiter(), stream?);
                rewritten.set_span(group.span());
                Some(TokenTree::Group(rewritten))
            }
            token => Some(token),
        }
    }

    /// Returns a literal such as `".spec.network.port"` with the names that the fields have in this version; `None` if
    /// the version lacks one of them.
    fn json_path(&self, literal: Literal) -> Option<Literal> {
        let Some(text) = text(&literal) else { return Some(literal) };
        let status = || {
            let status = self.versioned.kube.as_ref()?.status.as_ref()?;
            self.module.versioned_type(local_name(status)?)
        };
        let (part, root) = if text.starts_with(".spec.") {
            (".spec", Some(self.versioned))
        } else if text.starts_with(".status.") {
            (".status", status())
        } else {
            return Some(literal);
        };
        // Renames one field after the other, up to a bracket or a field that is not of a struct of this module; `rest` stays as it is.
        let (mut path, mut rest, mut within) = (part.to_owned(), text.get(part.len()..).unwrap_or_default(), root);
        while let (Some(ty), Some(names)) = (within, rest.strip_prefix('.')) {
            let (name, next) = names.split_at(names.find(['.', '[']).unwrap_or(names.len()));
            let Some(member) = ty.by_json_name(name) else { break };
            if !member.is_in(self.version) {
                return None;
            }
            path = format!("{path}.{}", ty.json_name(member, self.version));
            rest = next;
            within = member.type_in(self.version).and_then(|ty| self.module.type_of_object(ty));
        }
        Some(respanned(&format!("{path}{rest}"), &literal))
    }
}

/// Returns the value of a literal that is a string.
fn text(literal: &Literal) -> Option<String> {
    match syn::parse2::<Lit>(literal.to_token_stream()).ok()? {
        Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// Returns a string literal with the content `text` and the span of another literal.
fn respanned(text: &str, literal: &Literal) -> Literal {
    let mut respanned = Literal::string(text);
    respanned.set_span(literal.span());
    respanned
}

/// Splits the content of an attribute at its commas, and drops empty entries. Commas inside parentheses are part of an entry, since a group
/// is one token.
fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let mut entries = vec![TokenStream::new()];
    for token in tokens {
        match (&token, entries.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => entries.push(TokenStream::new()),
            (_, Some(last)) => last.extend([token]),
            (_, None) => {}
        }
    }
    entries.retain(|entry| !entry.is_empty());
    entries
}
