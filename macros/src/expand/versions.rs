//! Expands a module with versions: the types of each version, and the conversions between them.

use crate::{
    check::Checked,
    model::versions::{VersionedType, VersionsModule, local_name},
};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{AttrStyle, Attribute};

mod attribute;
mod callee;
mod conversion;
mod qualified;
mod rule;

use conversion::expand_conversion;

/// Expands a module with `#[versions(...)]`: the items that all versions share, one nested module for each version with its types, and for
/// each kind a function that returns its versions.
pub(crate) fn expand(module: &Checked<VersionsModule>) -> TokenStream {
    let (visibility, name) = (&module.visibility, &module.name);
    let is_inner = |attribute: &&Attribute| matches!(attribute.style, AttrStyle::Inner(_));
    let (inner, outer): (Vec<_>, Vec<_>) = module.attributes.iter().partition(is_inner);
    let (shared, others) = (module.shared_types.iter().map(attribute::shared_item), &module.others);
    let versions = (0..module.versions.len()).map(|version| expand_version(module, version));
    let kinds =
        module.types.iter().filter_map(|versioned| Some(expand_versions_of(module, versioned, &versioned.root()?)));
    quote! {
        #(#outer)*
        #visibility mod #name {
            #(#inner)*
            #(#shared)*
            #(#others)*
            #(#versions)*
            #(#kinds)*
        }
    }
}

/// Expands the module of one version: its types, their conversions from the version before, and `VersionedKind` for its kinds. `version` is
/// the index of the version; the oldest one has no conversions.
fn expand_version(module: &VersionsModule, version: usize) -> TokenStream {
    let Some(input) = module.versions.get(version) else { return TokenStream::new() };
    let name = &input.name;
    let types = module.types.iter().map(|versioned| attribute::item_of_version(module, versioned, version));
    let conversions =
        module.types.iter().filter(|_| version > 0).map(|versioned| expand_conversion(module, versioned, version));
    let kinds = module.types.iter().filter_map(|versioned| Some(expand_kind(module, name, &versioned.root()?)));
    let doc = format!(" The version `{name}`.");
    quote! {
        #[doc = #doc]
        #[allow(dead_code)]
        pub mod #name {
            #[allow(unused_imports)]
            use super::*;
            #(#types)*
            #(#conversions)*
            #(#kinds)*
        }
    }
}

/// Returns the name of the function that returns the versions of a kind.
fn versions_function(root: &Ident) -> Ident {
    format_ident!("versions_of_{}", root)
}

/// Implements `VersionedKind` for the struct `root` of a kind in the module of one version: the name of the version, and all versions of
/// the kind.
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

/// Expands the function that returns all versions of a kind, each with its definition, its validation rules, and the conversions of its
/// spec and status from the version before.
fn expand_versions_of(module: &VersionsModule, versioned: &VersionedType, root: &Ident) -> TokenStream {
    let (krate, private, function) = (&module.paths.krate, &module.paths.private, versions_function(root));
    let spec = versioned.name();
    let status = versioned.kube.as_ref().and_then(|kube| local_name(kube.status.as_ref()?));
    let status = status.filter(|status| module.versioned_type(status).is_some());
    let versions = module.versions.iter().enumerate().map(|(index, version)| {
        let (name, text) = (&version.name, version.name.to_string());
        // The oldest version (index 0) has no version before it, so it has no conversion.
        let conversion = |ty: Option<&Ident>| match ty.filter(|_| index > 0) {
            Some(ty) => {
                quote! { ::core::option::Option::Some(<#name::#ty as #krate::versions::Versioned>::conversion) }
            }
            None => quote! { ::core::option::Option::None },
        };
        let (of_spec, of_status) = (conversion(spec), conversion(status));
        quote! {
            #krate::versions::Version::new(
                #text,
                <#name::#root as #private::CustomResourceExt>::crd,
                #private::schema_by_names::<#name::#root>,
            )
            .with_rules(#private::TypeOfField::<#name::#spec>::NEW.validation())
            .converted(#of_spec, #of_status)
        }
    });
    let stored = module.version_name(module.stored());
    quote! {
        #[allow(non_snake_case)]
        fn #function() -> #krate::versions::Versions {
            #[allow(unused_imports)]
            use #private::WithoutRules as _;
            #krate::versions::Versions::new(::core::convert::Into::into([#(#versions),*]), #stored)
        }
    }
}
