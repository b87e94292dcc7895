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

/// Expands access rights to an array of `shape::Access` constants, from which opgen generates the role of the operator.
pub(super) fn entries(paths: &Paths, access: &[Access]) -> TokenStream {
    let entries = access.iter().map(|access| expand_entry(paths, access));
    quote! { &[#(#entries),*] }
}

/// Expands the access rights of a hand-written node to trait implementations, without which its typed calls do not compile. For example
/// `Secret: get` becomes `impl Get<Node> for Secret`, one implementation for each verb and kind, with the object names and namespaces to
/// which the right is limited. Rights in `raw(...)` only implement `Raw` for the node, which gives access to the raw client.
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
        let (krate, node_type) = (&node.paths.krate, &node.ident);
        code.extend(quote! {
            #[automatically_derived]
            impl #krate::access::Raw for #node_type {}
        });
    }
    code
}

/// A trait such as `Get`, the kind for which it is implemented, and the declared rights that include its verb.
struct Grant<'a> {
    kind: &'a Path,
    name: &'static str,
    /// The type of the subresource, as text.
    subresource: Option<String>,
    access: Vec<&'a Access>,
}

impl Grant<'_> {
    /// Implements the trait for the kind. If each of the rights is limited to object names or a namespace, the constant `WITHIN` lists
    /// these limits; if one right is unlimited, all objects are allowed, and the default of the trait applies.
    fn expand_impl(&self, node: &Provisioner) -> TokenStream {
        let (krate, node_type, kind, name) = (&node.paths.krate, &node.ident, self.kind, ident(self.name));
        let subresource =
            self.access.first().and_then(|access| subresource_type(&node.paths, access)).map(|ty| quote! { , #ty });
        let is_limited = |access: &&Access| access.names.is_some() || access.namespace.is_some();
        let within = self.access.iter().all(is_limited).then(|| {
            let limits = self.access.iter().map(|access| {
                let names = access.names.iter().flatten();
                let namespace = match &access.namespace {
                    Some(namespace) => quote! { ::core::option::Option::Some(#namespace) },
                    None => quote! { ::core::option::Option::None },
                };
                quote! { #krate::access::Within { names: &[#(#names),*], namespace: #namespace } }
            });
            quote! { const WITHIN: &'static [#krate::access::Within] = &[#(#limits),*]; }
        });
        quote! {
            #[automatically_derived]
            impl #krate::access::#name<#node_type #subresource> for #kind { #within }
        }
    }
}

/// Implements `GetPath` for a node, with the non-resource URLs such as `/metrics` that it may read. Returns `None` if it declares none.
fn expand_url_grants(node: &Provisioner) -> Option<TokenStream> {
    let (krate, node_type) = (&node.paths.krate, &node.ident);
    let url = |access: &Access| match &access.target {
        AccessTarget::Url(path) if !access.raw => Some(path.clone()),
        _ => None,
    };
    let paths: Vec<_> = node.access.iter().filter_map(url).collect();
    (!paths.is_empty()).then(|| {
        quote! {
            #[automatically_derived]
            impl #krate::access::GetPath for #node_type {
                const PATHS: &'static [&'static ::core::primitive::str] = &[#(#paths),*];
            }
        }
    })
}

/// Returns the type of a subresource, such as `Log` for `log`, which is a type argument of traits such as `GetSubresource`. Returns `None`
/// for rights on the object itself, for `status` and `scale`, whose traits (`GetStatus`) have no such argument, and for unknown
/// subresources.
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

/// Expands one access right to the expression of a `shape::Access` constant, from which opgen generates the role. The expression has the
/// span of the kind or URL in the attribute, so that the compiler reports a wrong kind there.
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

/// Returns the names of the traits that permit the typed calls of the verbs: `Get` for `get`, `PatchStatus` for `patch` on `status`. Verbs
/// on a subresource without typed calls have no trait.
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
