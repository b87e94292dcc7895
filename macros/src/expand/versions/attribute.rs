//! Returns a type as a version has it, with the attributes that fit its fields there.

use crate::model::versions::{VersionedType, VersionsModule, attributes_of};
use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::BTreeMap;
use syn::{Attribute, Item, Path, Token, ext::IdentExt, punctuated::Punctuated};

/// Returns the struct or enum of a version.
pub(super) fn item_of_version(module: &VersionsModule, versioned: &VersionedType, version: usize) -> TokenStream {
    let rewrite = Rewrite { module, versioned, version };
    let mut item = versioned.item.clone();
    match &mut item {
        Item::Struct(item) => {
            item.attrs = rewrite.attributes(std::mem::take(&mut item.attrs));
            if let syn::Fields::Named(fields) = &mut item.fields {
                let named = std::mem::take(&mut fields.named).into_iter().zip(&versioned.members);
                let of_version = named.filter(|(_, member)| member.is_in(version)).map(|(mut field, member)| {
                    let name = member.name(version);
                    field.attrs = rewrite.member_attributes(field.attrs, *name != member.ident);
                    if let Some(ty) = member.type_in(version) {
                        field.ty = ty.clone();
                    }
                    field.ident = Some(name.clone());
                    field
                });
                fields.named = of_version.collect();
            }
        }
        Item::Enum(item) => {
            item.attrs = rewrite.attributes(std::mem::take(&mut item.attrs));
            let variants = std::mem::take(&mut item.variants).into_iter().zip(&versioned.members);
            let of_version = variants.filter(|(_, member)| member.is_in(version)).map(|(mut variant, member)| {
                let name = member.name(version);
                variant.attrs = rewrite.member_attributes(variant.attrs, *name != member.ident);
                variant.ident = name.clone();
                variant
            });
            item.variants = of_version.collect();
        }
        _ => {}
    }
    item.to_token_stream()
}

/// Rewrites the attributes of a type for one version.
struct Rewrite<'a> {
    module: &'a VersionsModule,
    versioned: &'a VersionedType,
    version: usize,
}

impl Rewrite<'_> {
    fn is_newest(&self) -> bool {
        self.version + 1 == self.module.versions.len()
    }

    /// Returns the attributes of the type. `Managed` is derived for the newest version; the others have only the rules.
    fn attributes(&self, attributes: Vec<Attribute>) -> Vec<Attribute> {
        let is_kind = attributes.iter().any(|attribute| attribute.path().is_ident("kube"));
        let mut rewritten: Vec<Attribute> = Vec::new();
        for attribute in attributes {
            if attribute.path().is_ident("derive") {
                rewritten.push(self.derives(attribute));
            } else if attribute.path().is_ident("kube") {
                rewritten.extend(self.with_entries(attribute, |entry| self.kube_entry(entry)));
            } else if attribute.path().is_ident("valid") {
                rewritten.extend(self.with_entries(attribute, |entry| self.rule(entry)));
            } else if !attribute.path().is_ident("managed") || self.is_newest() {
                rewritten.push(attribute);
            }
        }
        if is_kind {
            rewritten.extend(self.version_of_kind());
        }
        rewritten
    }

    /// Returns the attributes of a field or variant.
    fn member_attributes(&self, attributes: Vec<Attribute>, has_former_name: bool) -> Vec<Attribute> {
        let mut rewritten = Vec::new();
        for attribute in attributes {
            if attribute.path().is_ident("valid") {
                rewritten.extend(self.with_entries(attribute, |entry| self.rule(entry)));
            } else if attribute.path().is_ident("serde") && has_former_name {
                let is_name = |entry: &TokenStream| entry.clone().into_iter().next().is_some_and(|key| key.to_string() == "rename");
                rewritten.extend(self.with_entries(attribute, |entry| (!is_name(&entry)).then_some(entry)));
            } else if !attribute.path().is_ident("managed") || self.is_newest() {
                rewritten.push(attribute);
            }
        }
        rewritten
    }

    /// Returns the attributes that give the kind its version.
    fn version_of_kind(&self) -> Vec<Attribute> {
        let Some(version) = self.module.versions.get(self.version) else { return Vec::new() };
        let (name, is_stored, is_served) =
            (version.name.to_string(), self.version == self.module.stored(), version.not_served.is_none());
        let deprecated = version.deprecated.then(|| match &version.warning {
            Some(warning) => quote! { , deprecated = #warning },
            None => {
                let newest = self.module.versions.last().map_or_else(String::new, |newest| newest.name.to_string());
                let warning = format!("{name} is deprecated; use {newest}");
                quote! { , deprecated = #warning }
            }
        });
        let mut attributes =
            vec![syn::parse_quote! { #[kube(version = #name, storage = #is_stored, served = #is_served #deprecated)] }];
        if self.is_newest() {
            attributes.push(syn::parse_quote! { #[managed(versions)] });
        }
        attributes
    }

    /// Returns the derives of the version.
    fn derives(&self, attribute: Attribute) -> Attribute {
        if self.is_newest() {
            return attribute;
        }
        let Ok(derives) = attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) else { return attribute };
        let krate = &self.module.paths.krate;
        let derive = |derive: Path| {
            let is_managed = derive.segments.last().is_some_and(|last| last.ident == "Managed");
            if is_managed { syn::parse_quote! { #krate::validation::Validated } } else { derive }
        };
        let derives = derives.into_iter().map(derive);
        syn::parse_quote! { #[derive(#(#derives),*)] }
    }

    /// Returns an attribute with the entries that the function returns; `None` if none is left.
    fn with_entries(
        &self,
        attribute: Attribute,
        rewrite: impl Fn(TokenStream) -> Option<TokenStream>,
    ) -> Option<Attribute> {
        let Ok(list) = attribute.meta.require_list() else { return Some(attribute) };
        let path = &list.path;
        let entries: Vec<_> = split(list.tokens.clone()).into_iter().filter_map(rewrite).collect();
        (!entries.is_empty()).then(|| syn::parse_quote! { #[#path(#(#entries),*)] })
    }

    /// Returns a rule with the names that its fields have in this version; `None` if one of them is not there.
    fn rule(&self, entry: TokenStream) -> Option<TokenStream> {
        let mut tokens = entry.into_iter();
        let key = tokens.next()?;
        // The key in `unique(key)` is a field of another type.
        if key.to_string() == "unique" || key.to_string() == "crate" {
            return Some([key].into_iter().chain(tokens).collect());
        }
        let mut rule = TokenStream::from(key);
        for token in tokens {
            let TokenTree::Group(group) = token else {
                rule.extend([token]);
                continue;
            };
            let arguments: Option<Vec<_>> = split(group.stream()).into_iter().map(|argument| self.rule_argument(argument)).collect();
            let arguments = arguments?;
            let mut renamed = Group::new(group.delimiter(), quote! { #(#arguments),* });
            renamed.set_span(group.span());
            rule.extend([TokenTree::Group(renamed)]);
        }
        Some(rule)
    }

    /// Returns an argument of a rule: a field, perhaps with a value; `None` if this version has no such field.
    fn rule_argument(&self, argument: TokenStream) -> Option<TokenStream> {
        let mut tokens = argument.into_iter();
        let first = tokens.next()?;
        let member = match &first {
            TokenTree::Ident(ident) => self.versioned.members.iter().find(|member| member.ident.unraw() == ident.unraw()),
            _ => None,
        };
        let Some(member) = member else { return Some([first].into_iter().chain(tokens).collect()) };
        if !member.is_in(self.version) {
            return None;
        }
        let mut name = member.name(self.version).clone();
        name.set_span(first.span());
        Some([TokenTree::Ident(name)].into_iter().chain(tokens).collect())
    }

    /// Returns an entry of `#[kube(...)]` with the paths of this version; `None` if one of its fields is not there.
    fn kube_entry(&self, entry: TokenStream) -> Option<TokenStream> {
        entry.into_iter().map(|token| self.kube_token(token)).collect()
    }

    fn kube_token(&self, token: TokenTree) -> Option<TokenTree> {
        match token {
            TokenTree::Literal(literal) => self.json_path(literal).map(TokenTree::Literal),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                let stream: Option<TokenStream> = group.stream().into_iter().map(|token| self.kube_token(token)).collect();
                let mut rewritten = Group::new(group.delimiter(), stream?);
                rewritten.set_span(group.span());
                Some(TokenTree::Group(rewritten))
            }
            token => Some(token),
        }
    }

    /// Returns a literal such as `".spec.replicas"` with the name that the field has in this version.
    fn json_path(&self, literal: Literal) -> Option<Literal> {
        let Ok(syn::Lit::Str(text)) = syn::parse2::<syn::Lit>(literal.to_token_stream()) else { return Some(literal) };
        let text = text.value();
        let status = crate::attrs::kube::read(attributes_of(&self.versioned.item))
            .map(crate::model::kube::Kube::from_entries)
            .and_then(|kube| kube.status)
            .and_then(|status| self.module.versioned_type(&status.get_ident()?.to_string()));
        let parts = BTreeMap::from([("spec", Some(self.versioned)), ("status", status)]);
        for (part, versioned) in parts {
            let (Some(versioned), Some(rest)) = (versioned, text.strip_prefix(&format!(".{part}."))) else { continue };
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, rest) = rest.split_at(end);
            let Some(member) = versioned.by_json_name(name) else { return Some(literal) };
            if !member.is_in(self.version) {
                return None;
            }
            let mut renamed = Literal::string(&format!(".{part}.{}{rest}", versioned.json_name(member, self.version)));
            renamed.set_span(literal.span());
            return Some(renamed);
        }
        Some(literal)
    }
}

/// Splits the content of an attribute at its commas.
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
