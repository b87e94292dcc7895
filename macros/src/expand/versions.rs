//! Expands a module with versions: the types of each version, and the conversions between them.

use crate::{
    check::Checked,
    model::versions::{Member, Replacement, VersionedType, VersionsModule, attributes_of, type_name, type_text},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, Type, visit_mut::{self, VisitMut}};

mod attribute;

/// Expands the module: the shared items, and a module for each version.
pub(crate) fn expand(module: &Checked<VersionsModule>) -> TokenStream {
    let (visibility, name, attributes) = (&module.visibility, &module.name, &module.attributes);
    let shared = &module.shared;
    let versions = (0..module.versions.len()).map(|version| expand_version(module, version));
    let kinds = module.types.iter().filter_map(|versioned| Some(expand_versions_of(module, versioned, &root(versioned)?)));
    quote! {
        #(#attributes)*
        #visibility mod #name {
            #(#shared)*
            #(#versions)*
            #(#kinds)*
        }
    }
}

/// Expands the module of one version.
fn expand_version(module: &VersionsModule, version: usize) -> TokenStream {
    let Some(input) = module.versions.get(version) else { return TokenStream::new() };
    let name = &input.name;
    let types = module.types.iter().map(|versioned| attribute::item_of_version(module, versioned, version));
    let conversions = module.types.iter().filter(|_| version > 0).map(|versioned| expand_conversion(module, versioned, version));
    let kinds = module.types.iter().filter_map(|versioned| Some(expand_kind(module, name, &root(versioned)?)));
    let doc = format!("The version `{name}`.");
    quote! {
        #[doc = #doc]
        pub mod #name {
            #[allow(unused_imports)]
            use super::*;
            #(#types)*
            #(#conversions)*
            #(#kinds)*
        }
    }
}

/// Returns the name of the struct that kube generates for a spec; `None` for other types.
fn root(versioned: &VersionedType) -> Option<Ident> {
    let kube = crate::attrs::kube::read(attributes_of(&versioned.item)).map(crate::model::kube::Kube::from_entries)?;
    kube.root()?.parse().ok()
}

/// Returns the name of the function that returns the versions of a kind.
fn versions_function(root: &Ident) -> Ident {
    format_ident!("versions_of_{}", root)
}

/// Implements `VersionedKind` for a kind in one version.
fn expand_kind(module: &VersionsModule, version: &Ident, root: &Ident) -> TokenStream {
    let (krate, text, function) = (&module.paths.krate, version.to_string(), versions_function(root));
    quote! {
        #[automatically_derived]
        impl #krate::versions::VersionedKind for #root {
            const VERSION: &'static ::core::primitive::str = #text;
            fn versions() -> #krate::versions::Versions {
                super::#function()
            }
        }
    }
}

/// Expands the function that returns all versions of a kind.
fn expand_versions_of(module: &VersionsModule, versioned: &VersionedType, root: &Ident) -> TokenStream {
    let (krate, private, function) = (&module.paths.krate, &module.paths.private, versions_function(root));
    let spec = type_name(&versioned.item);
    let kube = crate::attrs::kube::read(attributes_of(&versioned.item)).map(crate::model::kube::Kube::from_entries);
    let status = kube.and_then(|kube| kube.status);
    let versions = module.versions.iter().map(|version| {
        let (name, text) = (&version.name, version.name.to_string());
        let status = status.as_ref().map(|status| {
            let mut path = status.clone();
            Qualified { module, prefix: quote! { #name } }.visit_path_mut(&mut path);
            quote! { #private::HistoryOf::<#path>::NEW.conversion() }
        });
        let status = status.unwrap_or_else(|| quote! { ::core::option::Option::None });
        quote! {
            #krate::versions::Version {
                name: #text,
                definition: <#name::#root as #private::CustomResourceExt>::crd,
                schema: #private::schema_by_names::<#name::#root>,
                validation: #private::TypeOfField::<#name::#spec>::NEW.validation(),
                spec: #private::HistoryOf::<#name::#spec>::NEW.conversion(),
                status: #status,
            }
        }
    });
    let stored = module.versions.get(module.stored()).map(|version| version.name.to_string());
    quote! {
        #[allow(non_snake_case)]
        fn #function() -> #krate::versions::Versions {
            #[allow(unused_imports)]
            use #private::{WithoutHistory as _, WithoutRules as _};
            #krate::versions::Versions::new(::core::convert::Into::into([#(#versions),*]), #stored)
        }
    }
}

/// Implements `Versioned` for a type: its conversion from the version before.
fn expand_conversion(module: &VersionsModule, versioned: &VersionedType, version: usize) -> TokenStream {
    let (krate, private) = (&module.paths.krate, &module.paths.private);
    let name = type_name(&versioned.item);
    let conversion = Conversion { module, versioned, version };
    let body = if versioned.is_enum() { conversion.of_enum() } else { conversion.of_struct() };
    quote! {
        #[automatically_derived]
        impl #krate::versions::Versioned for #name {
            fn conversion() -> #krate::versions::Conversion {
                #[allow(unused_imports)]
                use #private::{Infallible as _, WithoutHistory as _};
                #body
            }
        }
    }
}

/// The conversion of a type from the version before `version`.
struct Conversion<'a> {
    module: &'a VersionsModule,
    versioned: &'a VersionedType,
    version: usize,
}

impl Conversion<'_> {
    fn of_struct(&self) -> TokenStream {
        let krate = &self.module.paths.krate;
        let members = self.versioned.members.iter().filter(|member| !member.hints.skip);
        let (mut changes, mut fields) = (Vec::new(), Vec::new());
        for member in members {
            match self.change_of(member) {
                Some(change) => changes.push(change),
                None if member.is_in(self.version) && member.is_in(self.version - 1) => fields.push(self.nested(member)),
                None => {}
            }
        }
        let replaced = self.versioned.replacements.iter().filter(|replaced| replaced.version == self.version);
        changes.extend(replaced.map(|replaced| self.replacement(replaced)));
        quote! { #krate::versions::Conversion::of_struct(::core::convert::Into::into([#(#changes),*])) #(#fields)* }
    }

    /// Returns the call that adds the conversion of a field of both versions.
    fn nested(&self, member: &Member) -> TokenStream {
        let (private, ty, keys) = (&self.module.paths.private, &member.ty, &member.hints.list_keys);
        let conversion = quote! { #private::HistoryOf::<#ty>::NEW.conversion() };
        if member.hints.flatten {
            return quote! { .with_flattened(#conversion) };
        }
        let name = self.versioned.json_name(member, self.version);
        quote! { .with_field(#name, &[#(#keys),*], #conversion) }
    }

    /// Returns the change of a field with this version; `None` if it stays, or is part of a replacement.
    fn change_of(&self, member: &Member) -> Option<TokenStream> {
        let krate = &self.module.paths.krate;
        let (old, new) = (self.version - 1, self.version);
        let change = quote! { #krate::versions::FieldChange };
        let path = |version: usize| {
            let name = self.versioned.json_name(member, version);
            quote! { &[&[#name]] }
        };
        if let Some(from) = member.moved_from.as_ref().filter(|_| member.since == new) {
            let (from, new_path, nested) = (self.moved_path(from), path(new), self.history_of(member.type_in(new)?));
            return Some(quote! { #change::moved(&[&[#(#from),*]], #new_path, #nested) });
        }
        if member.since == new && !member.is_replaced {
            let path = path(new);
            let ty = member.type_in(new)?;
            let default = self.default(member.added_default.as_ref(), ty, new);
            return Some(quote! { #change::added(#path, #default) });
        }
        if member.until == new && !member.is_replaced {
            let path = path(old);
            let default = self.default(member.removed_default.as_ref(), member.type_in(old)?, old);
            return Some(quote! { #change::removed(#path, #default) });
        }
        if !member.is_in(old) || !member.is_in(new) {
            return None;
        }
        let (old_type, new_type) = (member.type_in(old)?, member.type_in(new)?);
        if let Some(retype) = member.retypes.iter().find(|retype| retype.version == new) {
            let old_type = self.at(old, old_type);
            let up = retype.up.as_ref().map_or_else(|| quote! { <#new_type as ::core::convert::TryFrom<#old_type>>::try_from }, ToTokens::to_token_stream);
            let down = retype.down.as_ref().map_or_else(|| quote! { <#old_type as ::core::convert::TryFrom<#new_type>>::try_from }, ToTokens::to_token_stream);
            let (up, down) = (self.function(&up, &[&old_type], &[new_type.to_token_stream()]), self.function(&down, &[&new_type.to_token_stream()], &[old_type.clone()]));
            let (old, new) = (path(old), path(new));
            return Some(quote! { #change::replaced(#old, #new, #up, #down) });
        }
        let (old_name, new_name) = (self.versioned.json_name(member, old), self.versioned.json_name(member, new));
        if old_name == new_name {
            debug_assert_eq!(type_text(old_type), type_text(new_type), "a change of the type is a retype");
            return None;
        }
        let (old, new, nested, keys) = (path(old), path(new), self.history_of(new_type), &member.hints.list_keys);
        Some(quote! { #change { list_keys: &[#(#keys),*], ..#change::moved(#old, #new, #nested) } })
    }

    /// Returns the value of a field that only one version has, as a function.
    fn default(&self, value: Option<&Expr>, ty: &Type, version: usize) -> TokenStream {
        let private = &self.module.paths.private;
        let Some(value) = value else { return quote! { ::core::option::Option::None } };
        let (ty, value) = (self.at(version, ty), self.at(version, value));
        quote! { ::core::option::Option::Some(|| { let value: #ty = #value; #private::write(value).unwrap_or_default() }) }
    }

    fn replacement(&self, replaced: &Replacement) -> TokenStream {
        let krate = &self.module.paths.krate;
        let (old, new) = (self.version - 1, self.version);
        let fields = |members: &[usize], version: usize| -> (Vec<String>, Vec<TokenStream>) {
            let members = members.iter().filter_map(|index| self.versioned.members.get(*index));
            members
                .filter_map(|member| {
                    let ty = self.at(version, member.type_in(version)?);
                    Some((self.versioned.json_name(member, version), ty))
                })
                .unzip()
        };
        let ((old_names, old_types), (new_names, new_types)) = (fields(&replaced.from, old), fields(&replaced.to, new));
        let up = self.function(&replaced.up.to_token_stream(), &old_types.iter().collect::<Vec<_>>(), &new_types);
        let down = self.function(&replaced.down.to_token_stream(), &new_types.iter().collect::<Vec<_>>(), &old_types);
        quote! {
            #krate::versions::FieldChange::replaced(&[#(&[#old_names]),*], &[#(&[#new_names]),*], #up, #down)
        }
    }

    /// Returns a function of JSON values that calls the function of the user.
    fn function(&self, function: &TokenStream, sources: &[&TokenStream], targets: &[TokenStream]) -> TokenStream {
        let private = &self.module.paths.private;
        let reads = sources.iter().enumerate().map(|(index, ty)| quote! { #private::read::<#ty>(values.get(#index))? });
        let names: Vec<_> = (0..targets.len()).map(|index| Ident::new(&format!("target_{index}"), Span::call_site())).collect();
        let pattern = match names.as_slice() {
            [name] => quote! { #name },
            names => quote! { (#(#names),*) },
        };
        quote! {
            |values| {
                let #pattern = #private::Converted(#function(#(#reads),*)).into_result()?;
                ::core::result::Result::Ok(::core::convert::Into::into([#(#private::write::<#targets>(#names)?),*]))
            }
        }
    }

    /// Returns the names in JSON of a field of another field, in the version before.
    fn moved_path(&self, path: &[Ident]) -> Vec<String> {
        let old = self.version - 1;
        let (mut names, mut within) = (Vec::new(), Some(self.versioned));
        for ident in path {
            let member = within.and_then(|within| {
                within.members.iter().find(|member| member.is_in(old) && member.name(old) == ident)
            });
            names.push(match (within, member) {
                (Some(within), Some(member)) => within.json_name(member, old),
                _ => ident.to_string(),
            });
            let ty = member.and_then(|member| member.type_in(old));
            within = ty.and_then(innermost).and_then(|name| self.module.versioned_type(&name.to_string()));
        }
        names
    }

    fn history_of(&self, ty: &Type) -> TokenStream {
        let private = &self.module.paths.private;
        quote! { #private::HistoryOf::<#ty>::NEW.conversion() }
    }

    fn of_enum(&self) -> TokenStream {
        let (krate, private) = (&self.module.paths.krate, &self.module.paths.private);
        let (old, new) = (self.version - 1, self.version);
        let tag = self.versioned.hints.tagging.as_ref().and_then(|tag| match tag {
            syn::Meta::NameValue(pair) => Some(pair.value.to_token_stream()),
            _ => None,
        });
        let tag = tag.map_or_else(|| quote! { ::core::option::Option::None }, |tag| quote! { ::core::option::Option::Some(#tag) });
        let instead = |value: Option<&Expr>, version: usize| {
            let name = type_name(&self.versioned.item);
            let path = self.at::<Type>(version, &syn::parse_quote! { #name });
            let value = value.map(|value| self.content_at(version, value));
            quote! { || #private::write(#path::#value).unwrap_or_default() }
        };
        let change = quote! { #krate::versions::VariantChange };
        let (mut changes, mut contents) = (Vec::new(), Vec::new());
        for member in &self.versioned.members {
            let name = |version: usize| self.versioned.json_name(member, version);
            if member.since == new {
                let (name, instead) = (name(new), instead(member.added_default.as_ref(), old));
                changes.push(quote! { #change::Added(#name, #instead) });
            } else if member.until == new {
                let (name, instead) = (name(old), instead(member.removed_default.as_ref(), new));
                changes.push(quote! { #change::Removed(#name, #instead) });
            } else if member.is_in(old) && member.is_in(new) {
                let (old_name, new_name) = (name(old), name(new));
                if old_name != new_name {
                    changes.push(quote! { #change::Renamed(#old_name, #new_name) });
                }
                if let Some(ty) = &member.ty {
                    contents.push(quote! { .with_variant(#new_name, #private::HistoryOf::<#ty>::NEW.conversion()) });
                }
            }
        }
        quote! { #krate::versions::Conversion::of_enum(#tag, ::core::convert::Into::into([#(#changes),*])) #(#contents)* }
    }

    /// Returns a variant with the types of a version in its content.
    fn content_at(&self, version: usize, value: &Expr) -> Expr {
        let mut value = value.clone();
        let at = |content: &mut Expr| *content = Expr::Verbatim(self.at(version, &*content));
        match &mut value {
            Expr::Call(call) => call.args.iter_mut().for_each(at),
            Expr::Struct(value) => value.fields.iter_mut().map(|field| &mut field.expr).for_each(at),
            _ => {}
        }
        value
    }

    /// Returns a type or an expression with the types of a version.
    fn at<T: ToTokens + Clone + Qualify>(&self, version: usize, part: &T) -> TokenStream {
        if version == self.version {
            return part.to_token_stream();
        }
        let Some(input) = self.module.versions.get(version) else { return part.to_token_stream() };
        let name = &input.name;
        let mut part = part.clone();
        part.qualify(&mut Qualified { module: self.module, prefix: quote! { super::#name } });
        part.to_token_stream()
    }
}

/// Returns the name of the type within `Option`, `Box` and the like.
fn innermost(ty: &Type) -> Option<&Ident> {
    let last = crate::model::type_path::last_segment(ty)?;
    match crate::model::type_path::type_arguments(last).as_slice() {
        [inner] => innermost(inner),
        _ => Some(&last.ident),
    }
}

/// A part whose types can be those of another version.
trait Qualify {
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

/// Puts a module before the names of the types that each version has.
struct Qualified<'a> {
    module: &'a VersionsModule,
    prefix: TokenStream,
}

impl VisitMut for Qualified<'_> {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        let is_versioned = path.leading_colon.is_none()
            && path.segments.first().is_some_and(|first| self.module.versioned_type(&first.ident.to_string()).is_some());
        if is_versioned {
            let prefix = &self.prefix;
            *path = syn::parse_quote! { #prefix::#path };
        }
    }
}
