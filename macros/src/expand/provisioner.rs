//! Expands `#[derive(Provisioner)]` on a node of an operator's tree: implements `Provisioner`, which describes the node, and for a group of
//! nodes also `Provision`, which runs its children.

use super::{access, child, dependency};
use crate::{
    check::Checked,
    model::{
        child::Child,
        provisioner::{Node, Order, Provisioner},
        type_path::last_segment,
    },
};
use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Generics, parse_quote, spanned::Spanned};

/// Expands `#[derive(Provisioner)]`: for each node the trait `Provisioner`; for a group also `Provision`, which runs its children; for a
/// hand-written node the traits that permit its calls; and constants by which other nodes read its children or output.
pub(crate) fn expand(node: &Checked<Provisioner>) -> TokenStream {
    let mut code = provisioner_impl(node);
    match node.node() {
        Node::Group { up, down } => {
            code.extend(provision_impl(node, up, down));
            code.extend(keyed_impl(node));
        }
        Node::Custom | Node::Unspecified => code.extend(access::grants(node)),
    }
    code.extend(has_output_impl(node));
    code.extend(private_items(node));
    code
}

/// Implements `Provisioner`: the types of the node's inputs and output, and the constant `SHAPE`, which describes the tree below the node.
/// opgen generates the role, the watches and the diagrams from `SHAPE`.
fn provisioner_impl(node: &Provisioner) -> TokenStream {
    let (krate, ident) = (&node.paths.krate, &node.ident);
    let generics = generics(node);
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let kind = match node.node() {
        Node::Group { up, down } => group_node(node, up, down),
        Node::Custom | Node::Unspecified => quote! { #krate::shape::Node::Custom },
    };
    let access = access::entries(&node.paths, &node.access);
    let inputs = node.inputs.iter().map(|input| &input.ty);
    let output = node.output.as_ref().map_or_else(|| quote! { () }, |output| quote! { #output });
    let edges = children(node).iter().map(|child| child::edge(node, child));
    let retired = node.retired.iter().map(|retired| child::retired_edge(node, retired));
    let edges = edges.chain(retired);
    quote! {
        #[automatically_derived]
        impl #parameters #krate::Provisioner for #ident #arguments #bounds {
            type Inputs = (#(#krate::Output<#inputs>,)*);
            type Output = #output;
            const SHAPE: #krate::shape::Shape = #krate::shape::Shape {
                node: #kind,
                access: #access,
                children: &[#(#edges),*],
            };
        }
    }
}

/// Returns the `shape::Node` of a group: the orders (serial or concurrent) in which it provisions (`up`) and deprovisions (`down`) its
/// children.
fn group_node(node: &Provisioner, up: Order, down: Order) -> TokenStream {
    let krate = &node.paths.krate;
    let order = |order| match order {
        Order::Serial => quote! { #krate::shape::Order::Serial },
        Order::Concurrent => quote! { #krate::shape::Order::Concurrent },
    };
    match (up, down) {
        (Order::Serial, Order::Serial) => quote! { #krate::shape::Node::SERIAL },
        (Order::Concurrent, Order::Concurrent) => quote! { #krate::shape::Node::CONCURRENT },
        _ => {
            let (up, down) = (order(up), order(down));
            quote! { #krate::shape::Node::Group { up: #up, down: #down } }
        }
    }
}

/// Returns the generics of the type. If it has generic parameters, adds the bound `Self: 'static`, which the trait requires. A node with
/// generics is an error, and is expanded only to prevent follow-up errors.
fn generics(node: &Provisioner) -> Generics {
    let mut generics = node.generics.clone();
    if !generics.params.is_empty() {
        generics.make_where_clause().predicates.push(parse_quote! { Self: 'static });
    }
    generics
}

/// Returns the children of a group. A hand-written node has no children, even if its struct has fields.
fn children(node: &Provisioner) -> &[Child] {
    if node.node() == Node::Custom { &[] } else { &node.children }
}

/// Returns the type of the owner (the primary object of the tree), and the generics of the node's implementations for it. If
/// `owner = ...` is missing, which is an error, the owner is a generic parameter, so that the node is implemented for every owner.
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

/// Implements `Provision` for a group: `provision` runs the children in the order `up`, and `deprovision` in the order `down`, which is
/// reversed if it is serial.
fn provision_impl(node: &Provisioner, up: Order, down: Order) -> TokenStream {
    let (krate, ident) = (&node.paths.krate, &node.ident);
    let (_, arguments, _) = node.generics.split_for_impl();
    let (generics, owner) = owner(node);
    let (parameters, _, bounds) = generics.split_for_impl();
    let mut ups: Vec<TokenStream> = node.children.iter().map(|child| child::provision(node, child, &owner)).collect();
    ups.extend(node.retired.iter().map(|retired| child::remove_retired(node, retired, true)));
    let mut downs: Vec<TokenStream> =
        node.children.iter().map(|child| child::deprovision(node, child, &owner)).collect();
    downs.extend(node.retired.iter().map(|retired| child::remove_retired(node, retired, false)));
    // For each call, the indices of the calls that it waits for.
    let before: Vec<Vec<usize>> = (0..ups.len()).map(|at| predecessors(node, at)).collect();
    let up = body(node, up, ups, &before);
    let down = match down {
        Order::Serial => body(node, down, downs.into_iter().rev().collect(), &[]),
        Order::Concurrent => body(node, down, downs, &reverse(&before)),
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

/// Returns the indices of the children that must have succeeded before the child at the index `at` begins: those in its `after` and `from`.
/// An index behind the children is that of a retired node, which waits for all children, since a child may take over its objects.
fn predecessors(node: &Provisioner, at: usize) -> Vec<usize> {
    let Some(child) = node.children.get(at) else { return (0..node.children.len()).collect() };
    let named = child.after.iter().chain(&child.from).filter_map(|path| node.child(&path.0[0]));
    let mut indices: Vec<usize> = named.map(|(index, _)| index).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// Reverses the dependencies of provision for deprovision: each child waits for the children that depend on it. `before` has the indices of
/// the children that a child waits for in provision.
fn reverse(before: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let after = |at: usize| (0..before.len()).filter(move |other| before[*other].contains(&at)).collect();
    (0..before.len()).map(after).collect()
}

/// Returns the body of `provision` or `deprovision`, which awaits the calls of all children one after the other (serial) or at once
/// (concurrent). `before` has, for each concurrent call, the indices of the calls that it waits for; a serial order ignores it.
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
    let before = before.iter().map(|indices| {
        let indices = indices.iter().map(|index| Literal::usize_unsuffixed(*index));
        quote! { &[#(#indices),*] }
    });
    quote! { #private::in_order([#((#calls, #before)),*]).await }
}

/// Implements `Keyed` for a group with the owner `Each<Kind, Item>`, which is a child with `each`. `Keyed::keys` returns the keys of all
/// items for which objects exist, so that the children of removed items are found. Expands to nothing for a group with another owner.
fn keyed_impl(node: &Provisioner) -> TokenStream {
    let (krate, private, ident) = (&node.paths.krate, &node.paths.private, &node.ident);
    let is_each = |owner| last_segment(owner).is_some_and(|segment| segment.ident == "Each");
    // A group without an owner has an error, and may be a child with `each`.
    if !node.owner.as_ref().is_none_or(is_each) {
        return quote! {};
    }
    let (_, arguments, _) = node.generics.split_for_impl();
    let (generics, owner) = owner(node);
    let (parameters, _, bounds) = generics.split_for_impl();
    // Only nested nodes are asked for keys. A remote node has a ConfigMap among the objects of this group, which `keys_of_objects` finds.
    let is_nested = |child: &&Child| child.is_provisioner() && child.each.is_none() && child.remote.is_none();
    let nested = node.children.iter().filter(is_nested).map(|child| {
        let (ty, name) = (&child.ty, child.name());
        quote_spanned! { ty.span() => keys.extend(#private::keys_below::<#ty, #owner, _>(cx, #name).await?); }
    });
    quote! {
        #[automatically_derived]
        impl #parameters #krate::Keyed<#owner> for #ident #arguments #bounds {
            async fn keys(cx: &#krate::Teardown<'_, #owner, Self>) -> #krate::Result<#private::Keys> {
                let mut keys = #private::keys_of_objects(cx)?;
                #(#nested)*
                ::core::result::Result::Ok(keys)
            }
        }
    }
}

/// Implements the marker trait `HasOutput` for a node with `output = Type`, so that other nodes can read its output. Expands to nothing for
/// other nodes.
fn has_output_impl(node: &Provisioner) -> TokenStream {
    if node.output.is_none() {
        return quote! {};
    }
    let (private, ident) = (&node.paths.private, &node.ident);
    let generics = generics(node);
    let (parameters, arguments, bounds) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #private::HasOutput for #ident #arguments #bounds {}
    }
}

/// Returns an anonymous constant `const _` with private items: the constants by which other groups read the children, and a function that
/// reads each field of the struct. No code constructs the struct of a tree, so that the compiler would otherwise report its fields as dead
/// code. The unchecked children belong to a group with errors, which does not compile, so their fields need no reads.
fn private_items(node: &Provisioner) -> TokenStream {
    let ident = &node.ident;
    let (parameters, arguments, bounds) = node.generics.split_for_impl();
    let (checked, unchecked) = (children(node), &node.unchecked_children);
    let checked_fields = checked.iter().map(|child| &child.ident);
    // A struct with generic parameters is an error, and is expanded only to avoid further errors. The constants of its children are left
    // out: they could not use the parameters.
    let constants = node.generics.params.is_empty().then(|| dependency::children(node, checked, unchecked));
    // The public type with the constants is expanded only if there are children; only this type needs these lints.
    let lints = (!checked.is_empty() || !unchecked.is_empty()).then(|| {
        quote! {
            missing_debug_implementations, missing_docs, non_upper_case_globals, private_interfaces, unreachable_pub
        }
    });
    quote! {
        #[allow(dead_code, #lints)]
        const _: () = {
            fn reads #parameters (node: &#ident #arguments) #bounds {
                let _ = (node, #(&node.#checked_fields),*);
            }
            #constants
        };
    }
}
