//! `impl Provisioner`, and for groups `impl Provision`.

use super::{access, child};
use crate::{
    check::Checked,
    model::{
        child::Child,
        managed::last_segment,
        provisioner::{Node, Order, Provisioner},
    },
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

pub(crate) fn expand(node: &Checked<Provisioner>) -> TokenStream {
    let mut code = shape(node);
    match node.node() {
        Node::Group { up, down } => {
            code.extend(provision(node, up, down));
            code.extend(keyed(node));
            code.extend(readers(node));
        }
        Node::Custom | Node::Open => code.extend(access::grants(node)),
    }
    code.extend(reads(node));
    code
}

fn shape(node: &Provisioner) -> TokenStream {
    let (krate, ident) = (&node.paths.krate, &node.ident);
    let (parameters, arguments, bounds) = node.generics.split_for_impl();
    let kind = match node.node() {
        Node::Group { up, down } => {
            let (up, down) = (order(node, up), order(node, down));
            quote! { Group { up: #up, down: #down } }
        }
        Node::Custom | Node::Open => quote! { Custom },
    };
    let access = access::shape(node);
    let takes = node.takes.iter().map(|taken| &taken.ty);
    let gives = node.gives.as_ref().map_or_else(|| quote! { () }, |gives| quote! { #gives });
    let edges = children(node).iter().map(|child| child::edge(node, child));
    let retired = node.retired.iter().map(|retired| child::retired_edge(node, retired));
    let edges = edges.chain(retired);
    quote! {
        #[automatically_derived]
        impl #parameters #krate::Provisioner for #ident #arguments #bounds {
            type Takes = (#(#krate::Made<#takes>,)*);
            type Gives = #gives;
            const SHAPE: #krate::Shape = #krate::Shape {
                node: #krate::Node::#kind,
                access: &[#access],
                children: &[#(#edges),*],
            };
        }
    }
}

fn order(node: &Provisioner, order: Order) -> TokenStream {
    let krate = &node.paths.krate;
    match order {
        Order::Serial => quote! { #krate::Order::Serial },
        Order::Concurrent => quote! { #krate::Order::Concurrent },
    }
}

/// A hand-written node may have fields; they are no children.
fn children(node: &Provisioner) -> &[Child] {
    if node.node() == Node::Custom { &[] } else { &node.children }
}

/// The owner, and the parameters it needs: only a mended model comes without one, and then it fits every one.
fn owner(node: &Provisioner) -> (TokenStream, TokenStream) {
    let krate = &node.paths.krate;
    match &node.owner {
        Some(owner) => (quote! {}, quote! { #owner }),
        None => (quote! { <__O: #krate::Owner> }, quote! { __O }),
    }
}

fn provision(node: &Provisioner, up: Order, down: Order) -> TokenStream {
    let (krate, ident) = (&node.paths.krate, &node.ident);
    let (_, arguments, _) = node.generics.split_for_impl();
    let (parameters, owner) = owner(node);
    let mut ups: Vec<TokenStream> = node.children.iter().map(|child| child::up(node, child, &owner)).collect();
    ups.extend(node.retired.iter().map(|retired| child::retire(node, retired, &owner, true)));
    let mut downs: Vec<TokenStream> = node.children.iter().map(|child| child::down(node, child, &owner)).collect();
    downs.extend(node.retired.iter().map(|retired| child::retire(node, retired, &owner, false)));
    let before: Vec<Vec<usize>> = (0..ups.len()).map(|at| before(node, at)).collect();
    let up = body(node, up, ups, &before);
    let down = match down {
        Order::Serial => body(node, down, downs.into_iter().rev().collect(), &[]),
        Order::Concurrent => body(node, down, downs, &reversed(&before)),
    };
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

/// The places of the children that one comes after: those it names, and those it reads.
fn before(node: &Provisioner, at: usize) -> Vec<usize> {
    let Some(child) = node.children.get(at) else { return Vec::new() };
    let named = child.after.iter().chain(&child.from).filter_map(|path| node.child(&path.0[0]));
    let mut places: Vec<usize> = named.map(|(place, _)| place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// On the way down a child goes only when those that come after it are gone.
fn reversed(before: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let after = |at: usize| (0..before.len()).filter(move |other| before[*other].contains(&at)).collect();
    (0..before.len()).map(after).collect()
}

/// The calls of all children, one after the other or at once.
fn body(node: &Provisioner, order: Order, calls: Vec<TokenStream>, before: &[Vec<usize>]) -> TokenStream {
    let private = &node.paths.private;
    if calls.is_empty() {
        return quote! {
            let _ = cx;
            ::core::result::Result::Ok(())
        };
    }
    if order == Order::Serial {
        return quote! {
            #(#calls.await?;)*
            ::core::result::Result::Ok(())
        };
    }
    // An async block each, so that a build function that panics is caught with its own child.
    let calls = calls.iter().map(|call| quote! { #private::boxed(async move { #call.await }) });
    if before.iter().all(Vec::is_empty) {
        return quote! { #private::concurrently([#(#calls),*]).await };
    }
    let before = before.iter().map(|places| {
        let places = places.iter().map(|place| Literal::usize_unsuffixed(*place));
        quote! { &[#(#places),*] }
    });
    quote! { #private::in_order([#((#calls, #before)),*]).await }
}

/// A group for the items of an `each` finds its keys again.
fn keyed(node: &Provisioner) -> TokenStream {
    let (krate, private, ident) = (&node.paths.krate, &node.paths.private, &node.ident);
    let Some(owner) = &node.owner else { return quote! {} };
    if last_segment(owner).is_none_or(|segment| segment.ident != "Each") {
        return quote! {};
    }
    let below = node.children.iter().filter(|child| child.is_provisioner() && child.each.is_none()).map(|child| {
        let (ty, name) = (&child.ty, child.name());
        quote_spanned! { ty.span() => keys.extend(#private::keys_below::<#ty, #owner, Self>(cx, #name).await?); }
    });
    quote! {
        #[automatically_derived]
        impl #krate::Keyed<#owner> for #ident {
            async fn keys(cx: &#krate::Teardown<'_, #owner, Self>) -> #krate::Result<#private::Keys> {
                let mut keys = #private::keys_of_objects::<#owner, Self>(cx)?;
                #(#below)*
                ::core::result::Result::Ok(keys)
            }
        }
    }
}

/// How the group above reads what the children made that are always there.
fn readers(node: &Provisioner) -> TokenStream {
    let (krate, private, ident) = (&node.paths.krate, &node.paths.private, &node.ident);
    let (parameters, arguments, bounds) = node.generics.split_for_impl();
    let readable = node.children.iter().filter(|child| child.resource.is_some() && !child.is_conditional());
    let functions: Vec<TokenStream> = readable
        .map(|child| {
            let (ty, function) = (&child.ty, Ident::new(&format!("__read_{}", child.name()), Span::call_site()));
            quote_spanned! { ty.span() =>
                #[doc(hidden)]
                pub fn #function<O: #krate::Owner, P: #krate::Provisioner>(
                    cx: &#krate::Context<'_, O, P>,
                    path: &::core::primitive::str,
                ) -> #krate::Result<#krate::Made<#ty>> {
                    #private::read::<#ty, _, O, P>(cx, path)
                }
            }
        })
        .collect();
    if functions.is_empty() {
        return quote! {};
    }
    quote! {
        #[automatically_derived]
        #[allow(dead_code, missing_docs, unreachable_pub)]
        impl #parameters #ident #arguments #bounds { #(#functions)* }
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
