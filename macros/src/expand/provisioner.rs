//! `impl Provisioner`, and for groups `impl Provision`.

use super::{access, child, data};
use crate::{
    check::Checked,
    model::{
        child::Child,
        managed::last_segment,
        provisioner::{Node, Order, Provisioner},
    },
};
use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Generics, parse_quote, spanned::Spanned};

pub(crate) fn expand(node: &Checked<Provisioner>) -> TokenStream {
    let mut code = shape(node);
    match node.node() {
        Node::Group { up, down } => {
            code.extend(provision(node, up, down));
            code.extend(keyed(node));
        }
        Node::Custom | Node::Open => code.extend(access::grants(node)),
    }
    code.extend(gives(node));
    code.extend(beside(node));
    code
}

fn shape(node: &Provisioner) -> TokenStream {
    let (krate, ident) = (&node.paths.krate, &node.ident);
    let generics = generics(node);
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let kind = match node.node() {
        Node::Group { up, down } => group(node, up, down),
        Node::Custom | Node::Open => quote! { #krate::Node::Custom },
    };
    let access = access::entries(&node.paths, &node.access);
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
                node: #kind,
                access: #access,
                children: &[#(#edges),*],
            };
        }
    }
}

fn group(node: &Provisioner, up: Order, down: Order) -> TokenStream {
    let krate = &node.paths.krate;
    let order = |order| match order {
        Order::Serial => quote! { #krate::Order::Serial },
        Order::Concurrent => quote! { #krate::Order::Concurrent },
    };
    match (up, down) {
        (Order::Serial, Order::Serial) => quote! { #krate::Node::SERIAL },
        (Order::Concurrent, Order::Concurrent) => quote! { #krate::Node::CONCURRENT },
        _ => {
            let (up, down) = (order(up), order(down));
            quote! { #krate::Node::Group { up: #up, down: #down } }
        }
    }
}

/// The parameters of a type that has none, unless it is a mended one; then they hold as long as a node has to.
fn generics(node: &Provisioner) -> Generics {
    let mut generics = node.generics.clone();
    if !generics.params.is_empty() {
        generics.make_where_clause().predicates.push(parse_quote! { Self: 'static });
    }
    generics
}

/// A hand-written node may have fields; they are no children.
fn children(node: &Provisioner) -> &[Child] {
    if node.node() == Node::Custom { &[] } else { &node.children }
}

/// The owner, and the parameters of an implementation for it: only a mended model comes without one, and then it fits
/// every one.
fn owner(node: &Provisioner) -> (Generics, TokenStream) {
    let (krate, mut generics) = (&node.paths.krate, generics(node));
    match &node.owner {
        Some(owner) => (generics, quote! { #owner }),
        None => {
            generics.params.push(parse_quote! { __O: #krate::Owner });
            (generics, quote! { __O })
        }
    }
}

fn provision(node: &Provisioner, up: Order, down: Order) -> TokenStream {
    let (krate, ident) = (&node.paths.krate, &node.ident);
    let (_, arguments, _) = node.generics.split_for_impl();
    let (generics, owner) = owner(node);
    let (parameters, _, bounds) = generics.split_for_impl();
    let mut ups: Vec<TokenStream> = node.children.iter().map(|child| child::up(node, child, &owner)).collect();
    ups.extend(node.retired.iter().map(|retired| child::retire(node, retired, true)));
    let mut downs: Vec<TokenStream> = node.children.iter().map(|child| child::down(node, child, &owner)).collect();
    downs.extend(node.retired.iter().map(|retired| child::retire(node, retired, false)));
    let before: Vec<Vec<usize>> = (0..ups.len()).map(|at| before(node, at)).collect();
    let up = body(node, up, ups, &before);
    let down = match down {
        Order::Serial => body(node, down, downs.into_iter().rev().collect(), &[]),
        Order::Concurrent => body(node, down, downs, &reversed(&before)),
    };
    quote! {
        #[automatically_derived]
        #[allow(clippy::redundant_closure)]
        impl #parameters #krate::Provision<#owner> for #ident #arguments #bounds {
            async fn provision(cx: &#krate::Context<'_, #owner, Self>) -> #krate::Result<()> {
                #up
            }
            async fn deprovision(cx: &#krate::Teardown<'_, #owner, Self>) -> #krate::Result<()> {
                #down
            }
        }
    }
}

/// The places of the children that one comes after: those it names, and those it reads. A retired one comes after all others,
/// since one of them may take over its objects.
fn before(node: &Provisioner, at: usize) -> Vec<usize> {
    let Some(child) = node.children.get(at) else { return (0..node.children.len()).collect() };
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
    let is_each = |owner| last_segment(owner).is_some_and(|segment| segment.ident == "Each");
    // Without an owner it may be one of those.
    if !node.owner.as_ref().is_none_or(is_each) {
        return quote! {};
    }
    let (_, arguments, _) = node.generics.split_for_impl();
    let (generics, owner) = owner(node);
    let (parameters, _, bounds) = generics.split_for_impl();
    let below = node.children.iter().filter(|child| child.is_provisioner() && child.each.is_none()).map(|child| {
        let (ty, name) = (&child.ty, child.name());
        quote_spanned! { ty.span() => keys.extend(#private::keys_below::<#ty, #owner, _>(cx, #name).await?); }
    });
    quote! {
        #[automatically_derived]
        impl #parameters #krate::Keyed<#owner> for #ident #arguments #bounds {
            async fn keys(cx: &#krate::Teardown<'_, #owner, Self>) -> #krate::Result<#private::Keys> {
                let mut keys = #private::keys_of_objects(cx)?;
                #(#below)*
                ::core::result::Result::Ok(keys)
            }
        }
    }
}

/// That a value is given; of a mended node that it may be.
fn gives(node: &Provisioner) -> TokenStream {
    if node.gives.is_none() {
        return quote! {};
    }
    let (private, ident) = (&node.paths.private, &node.ident);
    let generics = generics(node);
    let (parameters, arguments, bounds) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #private::GivesValue for #ident #arguments #bounds {}
    }
}

/// What has no name outside: the constants of the children, and, since a tree is never constructed, reads that keep the
/// compiler from calling its fields dead.
fn beside(node: &Provisioner) -> TokenStream {
    let ident = &node.ident;
    let (parameters, arguments, bounds) = node.generics.split_for_impl();
    let (sound, lost) = (children(node), &node.lost);
    let fields = sound.iter().map(|child| &child.ident);
    // A mended node may have parameters, which no constant can speak of.
    let constants = node.generics.params.is_empty().then(|| data::children(node, sound, lost));
    let lints = (!sound.is_empty() || !lost.is_empty()).then(|| {
        quote! { missing_debug_implementations, missing_docs, non_upper_case_globals, private_interfaces, unreachable_pub }
    });
    quote! {
        #[allow(dead_code, #lints)]
        const _: () = {
            fn reads #parameters (node: &#ident #arguments) #bounds {
                let _ = (node, #(&node.#fields),*);
            }
            #constants
        };
    }
}
