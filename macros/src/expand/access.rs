//! Expands the access rights of a tree node: into constants for the operator's role, and into trait implementations that permit the node's
//! calls.

use crate::{
    attrs::access::AccessTarget,
    model::{
        access::{Access, Subresource, Verb},
        provisioner::Provisioner,
    },
    paths::Paths,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Path, spanned::Spanned};

/// Returns the rights as an array of constants.
pub(super) fn entries(paths: &Paths, access: &[Access]) -> TokenStream {
    let entries = access.iter().map(|access| expand_entry(paths, access));
    quote! { &[#(#entries),*] }
}

/// Implements `Get<Node> for Secret`: one trait for each verb of each kind, with the objects and namespaces it is limited to.
/// Rights in `raw(...)` implement `Raw` only.
pub(super) fn grants(node: &Provisioner) -> TokenStream {
    let mut grants: Vec<Grant<'_>> = Vec::new();
    for access in node.access.iter().filter(|access| !access.raw) {
        let Some(kind) = access.kind() else { continue };
        for name in trait_names(access) {
            let subresource = subresource_type(&node.paths, access).map(|ty| ty.to_string());
            match grants
                .iter_mut()
                .find(|grant| grant.kind == kind && grant.name == name && grant.subresource == subresource)
            {
                Some(grant) => grant.access.push(access),
                None => grants.push(Grant { kind, name, subresource, access: vec![access] }),
            }
        }
    }
    let mut code: TokenStream = grants.iter().map(|grant| grant.expand_impl(node)).collect();
    code.extend(expand_url_grants(node));
    if node.access.iter().any(|access| access.raw) {
        let (krate, of) = (&node.paths.krate, &node.ident);
        code.extend(quote! {
            #[automatically_derived]
            impl #krate::access::Raw for #of {}
        });
    }
    code
}

/// A trait for a kind, and the rights that imply it.
struct Grant<'a> {
    kind: &'a Path,
    name: &'static str,
    /// The type of the subresource, as text.
    subresource: Option<String>,
    access: Vec<&'a Access>,
}

impl Grant<'_> {
    /// Implements the trait for the kind. The constant `WITHIN` lists the objects and namespaces if all rights are limited to
    /// some.
    fn expand_impl(&self, node: &Provisioner) -> TokenStream {
        let (krate, of, kind, name) = (&node.paths.krate, &node.ident, self.kind, ident(self.name));
        let part =
            self.access.first().and_then(|access| subresource_type(&node.paths, access)).map(|part| quote! { , #part });
        let is_limited = |access: &&Access| access.names.is_some() || access.namespace.is_some();
        let within = self.access.iter().all(is_limited).then(|| {
            let within = self.access.iter().map(|access| {
                let names = access.names.iter().flatten();
                let namespace = match &access.namespace {
                    Some(namespace) => quote! { ::core::option::Option::Some(#namespace) },
                    None => quote! { ::core::option::Option::None },
                };
                quote! { #krate::access::Within { names: &[#(#names),*], namespace: #namespace } }
            });
            quote! { const WITHIN: &'static [#krate::access::Within] = &[#(#within),*]; }
        });
        quote! {
            #[automatically_derived]
            impl #krate::access::#name<#of #part> for #kind { #within }
        }
    }
}

/// Implements `GetPath` for the non-resource URLs that the node may read; `None` if there are none.
fn expand_url_grants(node: &Provisioner) -> Option<TokenStream> {
    let (krate, of) = (&node.paths.krate, &node.ident);
    let url = |access: &Access| match &access.target {
        AccessTarget::Url(path) if !access.raw => Some(path.clone()),
        _ => None,
    };
    let paths: Vec<_> = node.access.iter().filter_map(url).collect();
    (!paths.is_empty()).then(|| {
        quote! {
            #[automatically_derived]
            impl #krate::access::GetPath for #of {
                const PATHS: &'static [&'static ::core::primitive::str] = &[#(#paths),*];
            }
        }
    })
}

/// Returns the type argument for a subresource in the traits; `None` for the object itself and for `status` and `scale`, which
/// have traits of their own.
fn subresource_type(paths: &Paths, access: &Access) -> Option<TokenStream> {
    let krate = &paths.krate;
    match access.subresource()? {
        Subresource::Status | Subresource::Scale | Subresource::Other(_) => None,
        Subresource::Known { type_name, .. } => {
            let type_name = ident(type_name);
            Some(quote! { #krate::access::subresource::#type_name })
        }
        Subresource::Type(path) => Some(quote! { #path }),
    }
}

/// Expands one entry to a `shape::Access`, from which the role is generated. Its spans make the compiler report at the kind.
fn expand_entry(paths: &Paths, access: &Access) -> TokenStream {
    let (krate, private) = (&paths.krate, &paths.private);
    let verbs = access.verbs.iter().map(|verb| ident(verb.name()));
    let verbs = quote! { &[#(#krate::shape::Verb::#verbs),*] };
    let span = match &access.target {
        AccessTarget::Kind(kind) => kind.span(),
        AccessTarget::Url(path) => path.span(),
    };
    let line = quote_spanned! { span => ::core::line!() };
    let place = quote! { #krate::shape::SourceLocation { file: ::core::file!(), line: #line } };
    let mut entry = match &access.target {
        AccessTarget::Kind(kind) => {
            let kind_of = quote_spanned! { span => #private::kind_of::<#kind> };
            quote! { #krate::shape::Access::to(#kind_of, #verbs, #place).in_bucket(#private::bucket_of!(#kind)) }
        }
        AccessTarget::Url(path) => quote! { #krate::shape::Access::to_url(#path, #verbs, #place) },
    };
    if let Some(subresource) = access.subresource() {
        let name = match subresource {
            Subresource::Status => quote! { "status" },
            Subresource::Scale => quote! { "scale" },
            Subresource::Known { name, .. } => quote! { #name },
            Subresource::Other(name) => quote! { #name },
            Subresource::Type(path) => quote! { <#path as #krate::Subresource>::NAME },
        };
        entry.extend(quote! { .subresource(#name) });
    }
    if let Some(names) = &access.names {
        entry.extend(quote! { .named(&[#(#names),*]) });
    }
    if let Some(namespace) = &access.namespace {
        entry.extend(quote! { .within(#namespace) });
    }
    entry
}

/// Returns the names of the traits that the verbs imply. A verb on a subresource without typed calls has none.
fn trait_names(access: &Access) -> Vec<&'static str> {
    let subresource = access.subresource();
    let trait_name = |verb: &Verb| match (&subresource, verb) {
        (None, verb) => Some(verb.name()),
        (Some(Subresource::Status), Verb::Get) => Some("GetStatus"),
        (Some(Subresource::Status), Verb::Patch) => Some("PatchStatus"),
        (Some(Subresource::Status), Verb::Update) => Some("UpdateStatus"),
        (Some(Subresource::Scale), Verb::Get) => Some("GetScale"),
        (Some(Subresource::Scale), Verb::Patch) => Some("PatchScale"),
        (Some(Subresource::Scale), Verb::Update) => Some("UpdateScale"),
        (Some(Subresource::Known { .. } | Subresource::Type(_)), Verb::Get) => Some("GetSubresource"),
        (Some(Subresource::Known { .. } | Subresource::Type(_)), Verb::Create) => Some("CreateSubresource"),
        (Some(Subresource::Known { .. } | Subresource::Type(_)), Verb::Patch) => Some("PatchSubresource"),
        (Some(Subresource::Known { .. } | Subresource::Type(_)), Verb::Update) => Some("UpdateSubresource"),
        (Some(_), _) => None,
    };
    access.verbs.iter().filter_map(trait_name).collect()
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
