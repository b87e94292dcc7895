//! What a group does with a child, on the way up and down.

use super::{access, data};
use crate::{
    attrs::provisioner::{Manifest, Typed},
    model::{
        child::{Child, plain},
        provisioner::Provisioner,
    },
    paths::located,
};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Expr, spanned::Spanned};

pub(super) fn edge(node: &Provisioner, child: &Child) -> TokenStream {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &child.ty, child.name());
    // The line is that of the tokens, so of the field.
    let line = quote_spanned! { child.ident.span() => ::core::line!() };
    let edge = match (&child.resource, &child.manifest) {
        (Some(_), _) => quote_spanned! { ty.span() => #private::resource_edge::<#ty, _>(#name, #line) },
        (_, Some((_, manifest))) => manifest_edge(node, manifest, &name, &line),
        _ => quote_spanned! { ty.span() => #private::edge::<#ty>(#name, #line) },
    };
    let mut terms = Vec::new();
    for (field, asked) in [("when", &child.when), ("each", &child.each)] {
        if let Some(asked) = asked {
            let (field, said) = (format_ident!("{field}"), said(asked));
            terms.push(quote! { #field: #said });
        }
    }
    if !child.after.is_empty() {
        let names = child.after.iter().map(|after| plain(&after.0[0]));
        terms.push(quote! { after: &[#(#names),*] });
    }
    let reads: Vec<String> =
        child.from.iter().filter(|from| node.taken(&from.0[0]).is_none()).map(|from| from.text("/")).collect();
    if !reads.is_empty() {
        terms.push(quote! { reads: &[#(#reads),*] });
    }
    if let Some(options) = own_options(node, child) {
        terms.push(quote! { resource: #options });
    }
    let resource = child.resource.as_ref();
    if let Some((_, rights)) = resource.and_then(|resource| resource.hands_on.as_ref()) {
        let rights = access::entries(&node.paths, rights);
        terms.push(quote! { access: #rights });
    } else if resource.is_some_and(|resource| resource.pods.is_some()) {
        terms.push(quote! { access: #private::PODS });
    }
    if terms.is_empty() {
        edge
    } else {
        quote! { #krate::Edge { #(#terms,)* ..#edge } }
    }
}

/// A manifest, as a child of the shape. The compiler follows the file; its kinds are read when the role is made.
fn manifest_edge(node: &Provisioner, manifest: &Manifest, name: &str, line: &TokenStream) -> TokenStream {
    let (krate, private) = (&node.paths.krate, &node.paths.private);
    let (file, text) = match &manifest.file {
        Some(file) => {
            let path = quote! { ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #file) };
            (quote! { #file }, quote_spanned! { file.span() => ::core::include_str!(#path) })
        }
        None => (quote! { "" }, quote! { "" }),
    };
    let access = manifest.kinds.iter().map(|kind| quote_spanned! { kind.span() => #private::applied::<#kind>() });
    quote! {
        {
            const MANIFEST: #krate::Shape = #krate::Shape {
                node: #krate::Node::Manifest(#krate::Embedded { file: #file, text: #text }),
                access: &[#(#access),*],
                children: &[],
            };
            #private::manifest_edge(#name, &MANIFEST, #line)
        }
    }
}

/// A node of an earlier release, as a child of the shape.
pub(super) fn retired_edge(node: &Provisioner, retired: &Typed) -> TokenStream {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &retired.ty, plain(&retired.name));
    let line = quote_spanned! { retired.name.span() => ::core::line!() };
    quote_spanned! { ty.span() =>
        #krate::Edge {
            resource: #krate::ResourceOptions::RETIRED,
            ..#private::resource_edge::<#ty, _>(#name, #line)
        }
    }
}

/// The way up of a child: a future that does nothing before its turn.
pub(super) fn up(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let private = &node.paths.private;
    let (reads, build) = (data::reads(node, child), wanted(node, child, owner));
    let Some(when) = &child.when else {
        let is_call = child.from.is_empty() && child.each.is_none();
        return if is_call {
            build
        } else {
            quote! { #private::boxed(async move { #reads #build.await }) }
        };
    };
    let (down, name, answer) = (down(node, child, owner), child.name(), data::ask(node, child, when));
    let (before, inside) = if data::takes_all(child, when) { (reads, quote! {}) } else { (quote! {}, reads) };
    quote! {
        #private::boxed(async move {
            #before
            if #private::is_wanted(cx, #name, #answer)? {
                #inside
                #build.await
            } else {
                let cx = &#private::not_wanted(cx);
                #down.await
            }
        })
    }
}

/// A child that is wanted.
///
/// The function's name has the field's span, all else the type's: a missing function is reported at the name, a function
/// that gives something else at the type.
fn wanted(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let (private, ty, name, function) = (&node.paths.private, &child.ty, child.name(), &child.ident);
    if child.resource.is_some() {
        let hands_on = hands_on(node, child);
        if child.from.is_empty() && own_options(node, child).is_none() && hands_on.is_none() {
            return quote_spanned! { ty.span() =>
                #private::apply::<#ty, _, _, _, _>(cx, #name, |draft| Self::#function(draft))
            };
        }
        let (options, inputs) = (options(node, child), data::inputs(node, child));
        let (names, values) = (data::value_names(child), data::values(node, child));
        let objects = hands_on.unwrap_or_else(|| quote_spanned! { ty.span() => #private::wanted::<#ty, _>(built) });
        return quote_spanned! { ty.span() =>
            #private::apply_with::<#ty, _, _, _>(cx, #name, #options, #inputs, |draft| {
                #(let #names = #values;)*
                let built = Self::#function(draft, #(#names),*);
                #objects
            })
        };
    }
    if let Some((_, manifest)) = &child.manifest {
        if manifest.file.is_some() {
            return quote! { #private::apply_file::<#owner, Self>(cx, #name) };
        }
        let (names, values) = (data::value_names(child), data::values(node, child));
        return quote_spanned! { ty.span() =>
            #private::apply_manifest::<#owner, Self>(cx, #name, || {
                #(let #names = #values;)*
                let built = Self::#function(&#private::draft(cx), #(#names),*);
                #private::text_of(built)
            })
        };
    }
    let place = located(ty.span());
    let (private, handed, inputs) = (node.paths.private_at(place), data::handed(child), data::inputs(node, child));
    match (&child.each, &child.key) {
        (Some(each), Some(key)) => {
            let items = data::items(node, child, each, key, owner);
            quote_spanned! { place =>
                #private::up_each::<#ty, _, _, #owner, _, _>(cx, #name, #handed, #inputs, #items)
            }
        }
        _ if child.from.is_empty() => quote_spanned! { place => #private::up::<#ty, #owner, _>(cx, #name) },
        _ => quote_spanned! { place => #private::up_with::<#ty, #owner, _, _>(cx, #name, #handed, #inputs) },
    }
}

/// Roles with the rights that the tree's shape has for them.
fn hands_on(node: &Provisioner, child: &Child) -> Option<TokenStream> {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &child.ty, child.name());
    child.resource.as_ref()?.hands_on.as_ref()?;
    let (at, _) = node.child(&child.ident)?;
    let at = Literal::usize_unsuffixed(at);
    Some(quote_spanned! { ty.span() =>
        #private::hand_on::<#ty, _>(#name, <Self as #krate::Provisioner>::SHAPE.children[#at].access, built)
    })
}

/// The way down of a child: a future.
pub(super) fn down(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let (private, ty, name) = (&node.paths.private, &child.ty, child.name());
    if child.resource.is_some() {
        match own_options(node, child) {
            Some(options) => {
                quote_spanned! { ty.span() => #private::remove_with::<#ty, _, _, _>(cx, #name, #options) }
            }
            None => quote_spanned! { ty.span() => #private::remove::<#ty, _, _, _>(cx, #name) },
        }
    } else if child.manifest.is_some() {
        quote! { #private::remove_manifest::<#owner, Self>(cx, #name) }
    } else if child.each.is_some() {
        quote_spanned! { ty.span() => #private::down_each::<#ty, _, #owner, _>(cx, #name) }
    } else {
        quote_spanned! { ty.span() => #private::down::<#ty, #owner, _>(cx, #name) }
    }
}

/// What is left of a node of an earlier release goes, on the way up as on the way down.
pub(super) fn retire(node: &Provisioner, retired: &Typed, up: bool) -> TokenStream {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &retired.ty, plain(&retired.name));
    if up {
        return quote_spanned! { ty.span() => #private::retire::<#ty, _, _, _>(cx, #name) };
    }
    quote_spanned! { ty.span() => #private::remove_with::<#ty, _, _, _>(cx, #name, #krate::ResourceOptions::RETIRED) }
}

fn options(node: &Provisioner, child: &Child) -> TokenStream {
    let krate = &node.paths.krate;
    own_options(node, child).unwrap_or_else(|| quote! { #krate::ResourceOptions::DEFAULT })
}

/// `None` if nothing is said.
fn own_options(node: &Provisioner, child: &Child) -> Option<TokenStream> {
    let krate = &node.paths.krate;
    let resource = child.resource.as_ref()?;
    let mut said = Vec::new();
    if resource.once.is_some() {
        said.push(quote! { once: true });
    }
    if let Some((_, from)) = &resource.adopt {
        said.push(quote! { adopt: true, adopt_from: &[#(#from),*] });
    }
    if child.if_api.is_some() {
        said.push(quote! { if_api: true });
    }
    if resource.pods.is_some() {
        said.push(quote! { pods: true });
    }
    (!said.is_empty()).then(|| quote! { #krate::ResourceOptions { #(#said,)* ..#krate::ResourceOptions::DEFAULT } })
}

/// A predicate as a person would write it: of a closure the body.
fn said(asked: &Expr) -> String {
    let body = match asked {
        Expr::Closure(closure) => &*closure.body,
        other => other,
    };
    let mut text = quote! { #body }.to_string();
    for (spaced, tight) in [
        (" . ", "."),
        (" :: ", "::"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("& ", "&"),
        (" ,", ","),
        ("! ", "!"),
        (" !", " !"),
    ] {
        text = text.replace(spaced, tight);
    }
    text
}
