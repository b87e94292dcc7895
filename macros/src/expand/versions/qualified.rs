//! Qualifies the paths of versioned types with the module of a version.

use crate::model::versions::VersionsModule;
use proc_macro2::{Group, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Expr, Macro, Path, Type,
    visit_mut::{self, VisitMut},
};

/// Syntax in which [`Qualified`] can qualify the names of versioned types: a type or an expression.
pub(super) trait Qualify {
    /// Visits itself with the visitor `qualified`, which puts the module of a version before the names of versioned types.
    fn qualify(&mut self, qualified: &mut Qualified<'_>);
}

impl Qualify for Type {
    fn qualify(&mut self, qualified: &mut Qualified<'_>) {
        qualified.visit_type_mut(self);
    }
}

impl Qualify for Expr {
    fn qualify(&mut self, qualified: &mut Qualified<'_>) {
        qualified.visit_expr_mut(self);
    }
}

/// A visitor that puts `prefix`, the path of the module of a version, before the names of types with a history.
pub(super) struct Qualified<'a> {
    module: &'a VersionsModule,
    prefix: TokenStream,
}

/// Returns a type or an expression for use in the module of another version: each name of a type with a history gets the path of the
/// version's module, so that `Port` becomes `super::v1::Port`.
pub(super) fn qualified<T: ToTokens + Clone + Qualify>(
    module: &VersionsModule,
    version: usize,
    part: &T,
) -> TokenStream {
    let Some(input) = module.versions.get(version) else { return part.to_token_stream() };
    let name = &input.name;
    let mut part = part.clone();
    part.qualify(&mut Qualified { module, prefix: quote! { super::#name } });
    part.to_token_stream()
}

impl VisitMut for Qualified<'_> {
    /// Puts the prefix before a path that begins with the name of a type with a history.
    fn visit_path_mut(&mut self, path: &mut Path) {
        visit_mut::visit_path_mut(self, path);
        let first = path.segments.first().filter(|_| path.leading_colon.is_none());
        if first.is_some_and(|first| self.module.versioned_type(&first.ident).is_some()) {
            let prefix = &self.prefix;
            *path = syn::parse_quote! { #prefix::#path };
        }
    }

    /// Qualifies the names in the arguments of a macro, which are tokens and no syntax tree.
    fn visit_macro_mut(&mut self, invocation: &mut Macro) {
        invocation.tokens = self.tokens(std::mem::take(&mut invocation.tokens));
    }
}

impl Qualified<'_> {
    /// Puts the prefix before each name of a type with a history in the tokens of a macro such as `vec![Port::default()]`.
    fn tokens(&self, tokens: TokenStream) -> TokenStream {
        let mut qualified = TokenStream::new();
        let mut before: Option<TokenTree> = None;
        for token in tokens {
            // A name after `.` is a method or field, and after `::` it belongs to the path before it.
            let follows_separator = matches!(&before, Some(TokenTree::Punct(punct))
                if punct.as_char() == '.' || punct.as_char() == ':' && punct.spacing() == Spacing::Alone);
            before = Some(token.clone());
            match token {
                TokenTree::Ident(name) if !follows_separator && self.module.versioned_type(&name).is_some() => {
                    let prefix = &self.prefix;
                    qualified.extend(quote! { #prefix::#name });
                }
                TokenTree::Group(group) => {
                    let mut inside = Group::new(group.delimiter(), self.tokens(group.stream()));
                    inside.set_span(group.span());
                    qualified.extend([TokenTree::Group(inside)]);
                }
                token => qualified.extend([token]),
            }
        }
        qualified
    }
}
