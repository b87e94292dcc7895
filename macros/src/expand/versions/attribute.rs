//! Rewrites the attributes of a type and of its fields for one version.

use crate::model::versions::{Member, VersionedType, VersionsModule};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Field, Fields, Item, Path, Token, punctuated::Punctuated};

/// Returns the struct or enum as the version with the index `version` has it: with the fields or variants of that version, under the names
/// and types that they have there, and with rewritten attributes.
pub(super) fn item_of_version(module: &VersionsModule, versioned: &VersionedType, version: usize) -> TokenStream {
    let rewrite = Rewrite { module, versioned, version };
    let mut item = versioned.item.clone();
    match &mut item {
        Item::Struct(item) => {
            item.attrs = rewrite.attributes(std::mem::take(&mut item.attrs));
            if let Fields::Named(fields) = &mut item.fields {
                let named = std::mem::take(&mut fields.named).into_iter().zip(&versioned.members);
                let of_version = named.filter(|(_, member)| member.is_in(version)).map(|(mut field, member)| {
                    field.attrs = rewrite.member_attributes(field.attrs, member);
                    if let Some(ty) = member.type_in(version) {
                        field.ty = ty.clone();
                    }
                    field.ident = Some(member.name(version).clone());
                    if versioned.needs_default(member, version) {
                        field.attrs.push(syn::parse_quote! { #[serde(default)] });
                    } else if versioned.needs_omission(&field.ty, &member.hints) {
                        omit_none(&mut field);
                    }
                    field
                });
                fields.named = of_version.collect();
            }
        }
        Item::Enum(item) => {
            item.attrs = rewrite.attributes(std::mem::take(&mut item.attrs));
            let variants = std::mem::take(&mut item.variants).into_iter().zip(&versioned.members);
            let of_version = variants.filter(|(_, member)| member.is_in(version)).map(|(mut variant, member)| {
                variant.attrs = rewrite.member_attributes(variant.attrs, member);
                variant.ident = member.name(version).clone();
                omit_none_of_variant(versioned, member, &mut variant.fields);
                variant
            });
            item.variants = of_version.collect();
        }
        _ => {}
    }
    item.to_token_stream()
}

/// Returns a struct or enum that is the same in all versions. Its `Option` fields get the attribute that leaves absent values out of JSON.
pub(super) fn shared_item(shared: &VersionedType) -> TokenStream {
    let mut item = shared.item.clone();
    match &mut item {
        Item::Struct(item) => {
            if let Fields::Named(fields) = &mut item.fields {
                for (field, member) in fields.named.iter_mut().zip(&shared.members) {
                    if shared.needs_omission(&field.ty, &member.hints) {
                        omit_none(field);
                    }
                }
            }
        }
        Item::Enum(item) => {
            for (variant, member) in item.variants.iter_mut().zip(&shared.members) {
                omit_none_of_variant(shared, member, &mut variant.fields);
            }
        }
        _ => {}
    }
    item.to_token_stream()
}

/// Adds `skip_serializing_if` to those named fields of a variant that are an `Option` and that serde would write as `null`.
fn omit_none_of_variant(versioned: &VersionedType, member: &Member, fields: &mut Fields) {
    let Fields::Named(fields) = fields else { return };
    for (field, hints) in fields.named.iter_mut().zip(&member.fields) {
        if versioned.needs_omission(&field.ty, hints) {
            omit_none(field);
        }
    }
}

/// Adds `#[serde(skip_serializing_if = ...)]` to an `Option` field, so that serde leaves `None` out of JSON and does not write `null`.
fn omit_none(field: &mut Field) {
    field.attrs.push(syn::parse_quote! { #[serde(skip_serializing_if = "::core::option::Option::is_none")] });
}

/// Rewrites the attributes of a type for one version.
pub(super) struct Rewrite<'a> {
    pub(super) module: &'a VersionsModule,
    pub(super) versioned: &'a VersionedType,
    pub(super) version: usize,
}

impl Rewrite<'_> {
    fn is_newest(&self) -> bool {
        self.version + 1 == self.module.versions.len()
    }

    /// Returns the attributes of the type for this version. Only the newest version derives `Managed`, since the operator works with it;
    /// older versions derive only `Validated`, the rules. Names of fields in `#[kube(...)]` and `#[valid(...)]` become those of this
    /// version.
    fn attributes(&self, attributes: Vec<Attribute>) -> Vec<Attribute> {
        let mut rewritten: Vec<Attribute> = Vec::new();
        for attribute in attributes {
            let path = attribute.path();
            if path.is_ident("derive") && !self.is_newest() {
                rewritten.extend(self.derives(attribute));
            } else if path.is_ident("kube") {
                rewritten.extend(self.with_entries(attribute, |entry| self.kube_entry(entry)));
            } else if path.is_ident("valid") {
                rewritten.extend(self.with_entries(attribute, |entry| self.rule(entry, None)));
            } else if !path.is_ident("managed") || self.is_newest() {
                rewritten.push(attribute);
            }
        }
        if self.versioned.kube.is_some() {
            rewritten.extend(self.version_of_kind());
        }
        rewritten
    }

    /// Returns the attributes of a field or variant for this version. Removes `rename` of serde and schemars if the member has a former
    /// name in this version, since `rename` sets the JSON name for the newest name.
    fn member_attributes(&self, attributes: Vec<Attribute>, member: &Member) -> Vec<Attribute> {
        let has_former_name = *member.name(self.version) != member.ident;
        let is_rename =
            |entry: &TokenStream| entry.clone().into_iter().next().is_some_and(|key| key.to_string() == "rename");
        let is_schema =
            |attribute: &Attribute| attribute.path().is_ident("serde") || attribute.path().is_ident("schemars");
        let mut rewritten = Vec::new();
        for attribute in attributes {
            if attribute.path().is_ident("valid") {
                rewritten.extend(self.with_entries(attribute, |entry| self.rule(entry, Some(member))));
            } else if is_schema(&attribute) && has_former_name {
                rewritten.extend(self.with_entries(attribute, |entry| (!is_rename(&entry)).then_some(entry)));
            } else if !attribute.path().is_ident("managed") || self.is_newest() {
                rewritten.push(attribute);
            }
        }
        rewritten
    }

    /// Returns the attributes that a kind gets for this version: `#[kube(version = ..., storage = ..., served = ...)]`, with a deprecation
    /// warning if the version is deprecated, and for the newest version the marker `#[managed(versions)]`.
    fn version_of_kind(&self) -> Vec<Attribute> {
        let Some(version) = self.module.versions.get(self.version) else { return Vec::new() };
        let name = version.name.to_string();
        let (is_stored, is_served) = (self.version == self.module.stored(), version.option("not_served").is_none());
        let deprecated = version.option("deprecated").map(|deprecated| match &deprecated.value {
            Some(warning) => quote! { , deprecated = #warning },
            None => {
                let newest = self.module.versions.len().saturating_sub(1);
                let warning = format!("{name} is deprecated; use {}", self.module.version_name(newest));
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

    /// Returns `#[derive(...)]` for a version before the newest one: `Validated` in place of `Managed`, since only the newest version is
    /// managed. Adds `#[valid(crate = "...")]` if `#[versions(...)]` sets the path of opgen. Returns other attributes unchanged.
    fn derives(&self, attribute: Attribute) -> Vec<Attribute> {
        let Ok(derives) = attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) else {
            return vec![attribute];
        };
        let krate = &self.module.paths.krate;
        let is_managed = |derive: &Path| derive.segments.last().is_some_and(|last| last.ident == "Managed");
        let path_of_rules = derives.iter().any(is_managed).then_some(self.module.crates.first()).flatten();
        let path_of_rules = path_of_rules.map(|path| {
            let path = path.to_token_stream().to_string().replace(' ', "");
            syn::parse_quote! { #[valid(crate = #path)] }
        });
        let derives = derives.iter().map(|derive| {
            if is_managed(derive) {
                syn::parse_quote! { #krate::validation::Validated }
            } else {
                derive.clone()
            }
        });
        let derive: Attribute = syn::parse_quote! { #[derive(#(#derives),*)] };
        [derive].into_iter().chain(path_of_rules).collect()
    }
}
