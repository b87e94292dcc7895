//! Permissions: as data for the role, and as traits for the compiler.

use crate::model::{
    access::{Access, Verb},
    provisioner::Provisioner,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// The entries of `Shape::access`.
pub(super) fn shape(node: &Provisioner) -> TokenStream {
    node.access.iter().map(|access| entry(node, access)).collect()
}

/// `impl Get<Node> for Secret {}`, one for each verb of each kind.
pub(super) fn grants(node: &Provisioner) -> TokenStream {
    node.access.iter().flat_map(|access| traits(access).into_iter().map(|name| grant(node, access, name))).collect()
}

fn entry(node: &Provisioner, access: &Access) -> TokenStream {
    let (krate, private, kind) = (&node.paths.krate, &node.paths.private, &access.kind);
    let subresource = access.subresource.as_ref().map(ToString::to_string).unwrap_or_default();
    let verbs = access.verbs.iter().map(|verb| ident(verb.name()));
    let line = quote_spanned! { kind.span() => ::core::line!() };
    let kind_of = quote_spanned! { kind.span() => #private::kind_of::<#kind> };
    quote! {
        #krate::Access {
            kind: #kind_of,
            subresource: #subresource,
            verbs: &[#(#krate::Verb::#verbs),*],
            place: #krate::Place { file: ::core::file!(), line: #line },
        },
    }
}

/// Of the subresources, only a status has calls with bounds of their own.
fn traits(access: &Access) -> Vec<&'static str> {
    match &access.subresource {
        None => access.verbs.iter().map(|verb| verb.name()).collect(),
        Some(subresource) if subresource == "status" => {
            let status = access.verbs.iter().filter_map(|verb| match verb {
                Verb::Patch => Some("PatchStatus"),
                Verb::Update => Some("UpdateStatus"),
                _ => None,
            });
            status.collect()
        }
        Some(_) => Vec::new(),
    }
}

fn grant(node: &Provisioner, access: &Access, name: &str) -> TokenStream {
    let (krate, of, kind, name) = (&node.paths.krate, &node.ident, &access.kind, ident(name));
    quote! {
        #[automatically_derived]
        impl #krate::access::#name<#of> for #kind {}
    }
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
