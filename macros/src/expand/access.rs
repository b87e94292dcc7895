//! Permissions: as data for the role, and as traits for the compiler.

use crate::{
    attrs::access::Subject,
    model::{
        access::{Access, Part, Verb},
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

/// `impl Get<Node> for Secret {}`: one for each verb of each kind, with the objects and namespaces where it holds. What is
/// declared for the raw client grants the raw client alone.
pub(super) fn grants(node: &Provisioner) -> TokenStream {
    let mut grants: Vec<Grant<'_>> = Vec::new();
    for access in node.access.iter().filter(|access| !access.raw) {
        let Some(kind) = access.kind() else { continue };
        for name in traits(access) {
            let part = part_type(&node.paths, access).map(|part| part.to_string());
            match grants.iter_mut().find(|one| one.kind == kind && one.name == name && one.part == part) {
                Some(grant) => grant.declared.push(access),
                None => grants.push(Grant { kind, name, part, declared: vec![access] }),
            }
        }
    }
    let mut code: TokenStream = grants.iter().map(|grant| grant.expand(node)).collect();
    code.extend(paths(node));
    if node.access.iter().any(|access| access.raw) {
        let (krate, of) = (&node.paths.krate, &node.ident);
        code.extend(quote! {
            #[automatically_derived]
            impl #krate::access::Raw for #of {}
        });
    }
    code
}

/// A trait for a kind, and all that is declared of it.
struct Grant<'a> {
    kind: &'a Path,
    name: &'static str,
    /// The type of the subresource, as text.
    part: Option<String>,
    declared: Vec<&'a Access>,
}

impl Grant<'_> {
    fn expand(&self, node: &Provisioner) -> TokenStream {
        let (krate, of, kind, name) = (&node.paths.krate, &node.ident, self.kind, ident(self.name));
        let part =
            self.declared.first().and_then(|access| part_type(&node.paths, access)).map(|part| quote! { , #part });
        let is_limited = |access: &&Access| access.names.is_some() || access.namespace.is_some();
        let within = self.declared.iter().all(is_limited).then(|| {
            let within = self.declared.iter().map(|access| {
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

/// The paths of the server that the node may read.
fn paths(node: &Provisioner) -> Option<TokenStream> {
    let (krate, of) = (&node.paths.krate, &node.ident);
    let path = |access: &Access| match &access.subject {
        Subject::Url(path) if !access.raw => Some(path.clone()),
        _ => None,
    };
    let paths: Vec<_> = node.access.iter().filter_map(path).collect();
    (!paths.is_empty()).then(|| {
        quote! {
            #[automatically_derived]
            impl #krate::access::GetPath for #of {
                const PATHS: &'static [&'static ::core::primitive::str] = &[#(#paths),*];
            }
        }
    })
}

/// The type that stands for a subresource in the traits.
fn part_type(paths: &Paths, access: &Access) -> Option<TokenStream> {
    let krate = &paths.krate;
    match access.part()? {
        Part::Status | Part::Scale | Part::Word(_) => None,
        Part::Known { name, .. } => {
            let name = ident(name);
            Some(quote! { #krate::part::#name })
        }
        Part::Type(path) => Some(quote! { #path }),
    }
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
        let word = match part {
            Part::Status => quote! { "status" },
            Part::Scale => quote! { "scale" },
            Part::Known { word, .. } => quote! { #word },
            Part::Word(word) => quote! { #word },
            Part::Type(path) => quote! { <#path as #krate::Part>::NAME },
        };
        entry.extend(quote! { .part(#word) });
    }
    if let Some(names) = &access.names {
        entry.extend(quote! { .named(&[#(#names),*]) });
    }
    if let Some(namespace) = &access.namespace {
        entry.extend(quote! { .within(#namespace) });
    }
    entry
}

/// The traits of a permission's verbs.
fn traits(access: &Access) -> Vec<&'static str> {
    let part = access.part();
    let of = |verb: &Verb| match (&part, verb) {
        (None, verb) => Some(verb.name()),
        (Some(Part::Status), Verb::Get) => Some("GetStatus"),
        (Some(Part::Status), Verb::Patch) => Some("PatchStatus"),
        (Some(Part::Status), Verb::Update) => Some("UpdateStatus"),
        (Some(Part::Scale), Verb::Get) => Some("GetScale"),
        (Some(Part::Scale), Verb::Patch) => Some("PatchScale"),
        (Some(Part::Scale), Verb::Update) => Some("UpdateScale"),
        (Some(Part::Known { .. } | Part::Type(_)), Verb::Get) => Some("GetPart"),
        (Some(Part::Known { .. } | Part::Type(_)), Verb::Create) => Some("CreatePart"),
        (Some(Part::Known { .. } | Part::Type(_)), Verb::Patch) => Some("PatchPart"),
        (Some(Part::Known { .. } | Part::Type(_)), Verb::Update) => Some("UpdatePart"),
        (Some(_), _) => None,
    };
    access.verbs.iter().filter_map(of).collect()
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
