//! `impl Provisioner`, and for groups `impl Provision`.

use super::access;
use crate::{
    check::Checked,
    model::provisioner::{Child, Node, Provisioner},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

pub(crate) fn expand(node: &Checked<Provisioner>) -> TokenStream {
    let mut code = shape(node);
    match node.node {
        Node::Serial | Node::Concurrent => code.extend(provision(node)),
        Node::Custom | Node::Open => code.extend(access::grants(node)),
    }
    code.extend(reads(node));
    code
}

fn shape(node: &Provisioner) -> TokenStream {
    let (krate, ident) = (&node.paths.krate, &node.ident);
    let (parameters, arguments, bounds) = node.generics.split_for_impl();
    let kind = match node.node {
        Node::Serial => Ident::new("Serial", Span::call_site()),
        Node::Concurrent => Ident::new("Concurrent", Span::call_site()),
        Node::Custom | Node::Open => Ident::new("Custom", Span::call_site()),
    };
    let access = access::shape(node);
    let edges = children(node).iter().map(|child| edge(node, child));
    quote! {
        #[automatically_derived]
        impl #parameters #krate::Provisioner for #ident #arguments #bounds {
            const SHAPE: #krate::Shape = #krate::Shape {
                node: #krate::Node::#kind,
                access: &[#access],
                children: &[#(#edges),*],
            };
        }
    }
}

/// A hand-written node may have fields; they are no children.
fn children(node: &Provisioner) -> &[Child] {
    if node.node == Node::Custom { &[] } else { &node.children }
}

fn edge(node: &Provisioner, child: &Child) -> TokenStream {
    let (private, ty, name) = (&node.paths.private, &child.ty, child.name());
    if child.resource.is_some() {
        quote_spanned! { ty.span() => #private::resource_edge::<#ty, _>(#name) }
    } else {
        quote_spanned! { ty.span() => #private::edge::<#ty>(#name) }
    }
}

fn provision(node: &Provisioner) -> TokenStream {
    let (krate, ident) = (&node.paths.krate, &node.ident);
    let (_, arguments, _) = node.generics.split_for_impl();
    // Only a mended model comes here without an owner; then it fits every one.
    let (parameters, owner) = match &node.owner {
        Some(owner) => (quote! {}, quote! { #owner }),
        None => (quote! { <__O: #krate::Owner> }, quote! { __O }),
    };
    let up = body(node, node.children.iter().map(|child| up(node, child, &owner)).collect());
    let mut down: Vec<TokenStream> = node.children.iter().map(|child| down(node, child, &owner)).collect();
    if node.node == Node::Serial {
        down.reverse();
    }
    let down = body(node, down);
    quote! {
        #[automatically_derived]
        impl #parameters #krate::Provision<#owner> for #ident #arguments {
            async fn provision(cx: &#krate::Context<'_, #owner, Self>) -> #krate::Result<()> {
                #up
            }
            async fn deprovision(cx: &#krate::Teardown<'_, #owner, Self>) -> #krate::Result<()> {
                #down
            }
        }
    }
}

/// The calls of all children, one after the other or at once.
fn body(node: &Provisioner, calls: Vec<TokenStream>) -> TokenStream {
    let private = &node.paths.private;
    if calls.is_empty() {
        return quote! {
            let _ = cx;
            ::core::result::Result::Ok(())
        };
    }
    if node.node == Node::Concurrent {
        // An async block each, so that a build function that panics is caught with its own child.
        return quote! { #private::concurrently([#(#private::boxed(async move { #calls.await })),*]).await };
    }
    quote! {
        #(#calls.await?;)*
        ::core::result::Result::Ok(())
    }
}

/// The function's name has the field's span, all else the type's: a missing function is reported at the name, a function
/// that gives something else at the type.
fn up(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let (private, ty, name, function) = (&node.paths.private, &child.ty, child.name(), &child.ident);
    if child.resource.is_none() {
        return quote_spanned! { ty.span() => #private::up::<#ty, #owner, Self>(cx, #name) };
    }
    quote_spanned! { ty.span() =>
        #private::apply::<#ty, _, #owner, Self>(cx, #name, {
            let built = Self::#function(&#private::draft(cx));
            #private::wanted::<#ty, _>(built)
        })
    }
}

fn down(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let (private, ty, name) = (&node.paths.private, &child.ty, child.name());
    if child.resource.is_some() {
        quote_spanned! { ty.span() => #private::remove::<#ty, _, #owner, Self>(cx, #name) }
    } else {
        quote_spanned! { ty.span() => #private::down::<#ty, #owner, Self>(cx, #name) }
    }
}

/// A tree is never constructed; these reads keep the compiler from calling its fields dead.
fn reads(node: &Provisioner) -> TokenStream {
    let ident = &node.ident;
    let (parameters, arguments, bounds) = node.generics.split_for_impl();
    let fields = children(node).iter().map(|child| &child.ident);
    quote! {
        const _: () = {
            #[allow(dead_code)]
            fn reads #parameters (node: &#ident #arguments) #bounds {
                let _ = (node, #(&node.#fields),*);
            }
        };
    }
}
