//! Adapts the visibilities and the `self` and `super` paths of a type, so that it can be in the module of a version, one level deeper.

use super::items::type_text;
use crate::attrs::versions::{ChangeInput, ChangeValue, TypeInput};
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, Item, LitStr, Macro, Path, PathSegment, Token, Type, VisRestricted, Visibility,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

/// Adapts a type to the module of a version, which is nested in the module where the user wrote the type. Private items and fields become
/// `pub(super)`, so that they are visible in the outer module as before, and paths with `self` and `super` are adapted.
pub(super) fn nested(mut input: TypeInput) -> TypeInput {
    match &mut input.item {
        Item::Struct(item) => {
            expose(&mut item.vis, item.ident.span());
            for field in &mut item.fields {
                let span = field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span);
                expose(&mut field.vis, span);
            }
        }
        Item::Enum(item) => expose(&mut item.vis, item.ident.span()),
        _ => {}
    }
    Nesting.visit_item_mut(&mut input.item);
    let of_members = input.members.iter_mut().flat_map(|member| &mut member.changes);
    input.changes.iter_mut().chain(of_members).for_each(nest_change);
    input
}

/// Replaces the inherited (private) visibility of an item or field by the equivalent `pub(self)`, which [`Nesting`] then changes to
/// `pub(super)`.
fn expose(visibility: &mut Visibility, span: Span) {
    if matches!(visibility, Visibility::Inherited) {
        *visibility = Visibility::Restricted(VisRestricted {
            pub_token: Token![pub](span),
            paren_token: syn::token::Paren(span),
            in_token: None,
            path: Box::new(PathSegment::from(Ident::new("self", span)).into()),
        });
    }
}

/// Adapts the paths in the values, functions and types of a change's arguments, since the expansion puts these into the module of a
/// version.
fn nest_change(change: &mut ChangeInput) {
    for argument in &mut change.arguments {
        match &mut argument.value {
            ChangeValue::Expression(value) | ChangeValue::Function(value) => Nesting.visit_expr_mut(value),
            ChangeValue::Type(ty) => Nesting.visit_type_mut(ty),
            ChangeValue::Path(_) | ChangeValue::Fields(_) | ChangeValue::Flag => {}
        }
    }
}

/// Rewrites `super` to `super::super`, and removes `self` before `::`, since a version imports all items of its module.
struct Nesting;

impl VisitMut for Nesting {
    /// Adapts a restricted visibility: `pub(self)` becomes `pub(super)`, and `pub(super)` becomes `pub(in super::super)`.
    fn visit_visibility_mut(&mut self, visibility: &mut Visibility) {
        let Visibility::Restricted(restricted) = visibility else { return };
        let path = &mut restricted.path;
        if let Some(first) = path.segments.first_mut().filter(|first| first.ident == "self") {
            first.ident = Ident::new("super", first.ident.span());
        } else {
            self.visit_path_mut(path);
        }
        // A path of several segments is only valid after `in`.
        if path.segments.len() > 1 && restricted.in_token.is_none() {
            restricted.in_token = Some(Token![in](path.span()));
        }
    }

    /// Adds a `super` before a path that begins with `super`, and removes a leading `self::`.
    fn visit_path_mut(&mut self, path: &mut Path) {
        visit_mut::visit_path_mut(self, path);
        let Some(first) = path.segments.first().filter(|_| path.leading_colon.is_none()) else { return };
        if first.ident == "super" {
            let first = first.clone();
            path.segments.insert(0, first);
        } else if first.ident == "self" && path.segments.len() > 1 {
            path.segments = std::mem::take(&mut path.segments).into_iter().skip(1).collect();
        }
    }

    /// Adapts the path of a macro, and the paths in its arguments, which are tokens and no syntax tree.
    fn visit_macro_mut(&mut self, invocation: &mut Macro) {
        self.visit_path_mut(&mut invocation.path);
        invocation.tokens = nest_tokens(std::mem::take(&mut invocation.tokens));
    }

    /// Adapts the paths in the arguments of an attribute, such as `#[serde(...)]`, to the nested module. Attributes of the form
    /// `#[name = ...]` have no paths.
    fn visit_attribute_mut(&mut self, attribute: &mut Attribute) {
        if let syn::Meta::List(list) = &mut attribute.meta {
            list.tokens = nest_tokens(std::mem::take(&mut list.tokens));
        }
    }
}

/// Adapts paths in tokens (of macros and attributes) to a module one level deeper: `super` at the start of a path becomes `super::super`,
/// and `self::` at the start is removed. Also adapts strings that contain a path, as in `#[serde(default = "super::port")]`.
fn nest_tokens(tokens: TokenStream) -> TokenStream {
    let mut nested: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(first) if first == "super" && !ends_in_colons(&nested) => {
                let colons = [Spacing::Joint, Spacing::Alone].map(|spacing| Punct::new(':', spacing).into());
                nested.push(first.clone().into());
                nested.extend(colons);
                nested.push(first.into());
            }
            TokenTree::Ident(first)
                if first == "self" && !ends_in_colons(&nested) && tokens.peek().is_some_and(begins_colons) =>
            {
                // Skips the two colons after `self`.
                drop((tokens.next(), tokens.next()));
            }
            TokenTree::Group(group) => {
                let mut inside = Group::new(group.delimiter(), nest_tokens(group.stream()));
                inside.set_span(group.span());
                nested.push(inside.into());
            }
            TokenTree::Literal(literal) => nested.extend(match syn::parse2::<LitStr>(literal.to_token_stream()) {
                Ok(text) => nest_text(&text).unwrap_or_else(|| literal.into_token_stream()),
                Err(_) => literal.into_token_stream(),
            }),
            token => nested.push(token),
        }
    }
    nested.into_iter().collect()
}

/// Returns whether the tokens end with `::`.
fn ends_in_colons(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [.., first, TokenTree::Punct(second)] if begins_colons(first) && second.as_char() == ':')
}

/// Returns whether the token is the first one of `::`.
fn begins_colons(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint)
}

/// Adapts a string literal that contains a path or type with `self::` or `super::`; `None` if the literal is something else.
fn nest_text(text: &LitStr) -> Option<TokenStream> {
    let value = text.value();
    if !value.contains("super::") && !value.contains("self::") {
        return None;
    }
    let mut ty: Type = text.parse().ok()?;
    Nesting.visit_type_mut(&mut ty);
    Some(LitStr::new(&type_text(&ty), text.span()).into_token_stream())
}
