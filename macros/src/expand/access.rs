//! Permissions: as data for the role, and as traits for the compiler.

use crate::{
    attrs::access::Subject,
    model::{
        access::{Access, Verb},
        provisioner::Provisioner,
    },
    paths::Paths,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Path, spanned::Spanned};

/// Permissions as data: of a hand-written node, or those that a role hands on.
pub(super) fn entries(paths: &Paths, access: &[Access]) -> TokenStream {
    let entries = access.iter().map(|access| entry(paths, access));
    quote! { &[#(#entries),*] }
}

/// `impl Get<Node> for Secret {}`, one for each verb of each kind, however often and for which objects it is given.
pub(super) fn grants(node: &Provisioner) -> TokenStream {
    let mut given = Vec::new();
    for access in &node.access {
        let Some(kind) = access.kind() else { continue };
        for name in traits(access) {
            if !given.contains(&(kind, name)) {
                given.push((kind, name));
            }
        }
    }
    given.into_iter().map(|(kind, name)| grant(node, kind, name)).collect()
}

fn entry(paths: &Paths, access: &Access) -> TokenStream {
    let (krate, private) = (&paths.krate, &paths.private);
    let verbs = access.verbs.iter().map(|verb| ident(verb.name()));
    let verbs = quote! { &[#(#krate::Verb::#verbs),*] };
    let span = match &access.subject {
        Subject::Kind(kind) => kind.span(),
        Subject::Url(path) => path.span(),
    };
    let line = quote_spanned! { span => ::core::line!() };
    let place = quote! { #krate::Place { file: ::core::file!(), line: #line } };
    let mut entry = match &access.subject {
        Subject::Kind(kind) => {
            let kind_of = quote_spanned! { span => #private::kind_of::<#kind> };
            quote! { #krate::Access::to(#kind_of, #verbs, #place) }
        }
        Subject::Url(path) => quote! { #krate::Access::to_url(#path, #verbs, #place) },
    };
    if let Some(part) = access.part() {
        entry.extend(quote! { .part(#part) });
    }
    if let Some(names) = &access.names {
        entry.extend(quote! { .named(&[#(#names),*]) });
    }
    if let Some(namespace) = &access.namespace {
        entry.extend(quote! { .within(#namespace) });
    }
    entry
}

/// Of the subresources, only a status has calls with bounds of their own.
fn traits(access: &Access) -> Vec<&'static str> {
    match access.part().as_deref() {
        None => access.verbs.iter().map(|verb| verb.name()).collect(),
        Some("status") => {
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

fn grant(node: &Provisioner, kind: &Path, name: &str) -> TokenStream {
    let (krate, of, name) = (&node.paths.krate, &node.ident, ident(name));
    quote! {
        #[automatically_derived]
        impl #krate::access::#name<#of> for #kind {}
    }
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
