//! Generates the code for the attribute keys `from`, `when`, `each` and `key`: reads of earlier tree nodes, and calls of closures.

use crate::{
    attrs::provisioner::NodePath,
    model::{
        child::{Child, node_name},
        provisioner::Provisioner,
        type_path::last_segment,
    },
    paths::located,
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Expr, Type, spanned::Spanned};

/// Expands to one `let` statement for each node that the `from` of a child names: it reads the value of the node into a variable.
pub(super) fn reads(node: &Provisioner, child: &Child) -> TokenStream {
    let read = |(at, path)| {
        let (variable, value) = (variable(at), read_expression(node, path));
        quote! { let #variable = #value; }
    };
    child.from.iter().enumerate().map(read).collect()
}

/// Expands to the expression that reads the value of one node in `from`: an input of the group, the objects of a resource child, the output
/// of a hand-written child, or a child of a nested group (`workload.service`). Returns no tokens if no such child exists, which the checks
/// have reported.
fn read_expression(node: &Provisioner, path: &NodePath) -> TokenStream {
    let (private, name, text) = (&node.paths.private, &path.0[0], path.text("/"));
    if let Some(index) = node.input_index(name) {
        let index = Literal::usize_unsuffixed(index);
        return quote! { ::core::clone::Clone::clone(&cx.inputs().#index) };
    }
    let Some((_, child)) = node.child(name) else { return quote! {} };
    let ty = &child.ty;
    match (path.0.get(1), &child.resource) {
        (Some(inner), _) => {
            let (group, inner) = (quote! { <#ty as #private::Group>::Children }, constant(inner));
            quote_spanned! { inner.span() => <#group>::#inner.read(cx, #text)? }
        }
        (None, Some(_)) => quote_spanned! { name.span() => #private::read::<#ty, _, _, _>(cx, #text)? },
        (None, None) => quote_spanned! { name.span() => #private::node_output::<#ty, _, _>(cx, #text)? },
    }
}

/// Expands to the call that hashes the inputs of a child: the inputs of its group, and the versions of the values that `from` names. If the
/// hash is the same as in the last reconcile, the child can be skipped.
pub(super) fn inputs_digest(node: &Provisioner, child: &Child) -> TokenStream {
    let private = &node.paths.private;
    let versions = (0..child.from.len()).map(|at| {
        let variable = variable(at);
        quote! { #private::version(&#variable) }
    });
    quote! { #private::inputs_digest(cx, &[#(#versions),*]) }
}

/// Expands to the tuple of values that a child gets as its `inputs`: all values that `from` names, or none if the closure of `when` or
/// `each` takes these values as arguments, and so consumes them.
pub(super) fn inputs_tuple(child: &Child) -> TokenStream {
    let consumed = [&child.when, &child.each].into_iter().flatten().any(|closure| has_inputs(child, closure));
    let values = (0..if consumed { 0 } else { child.from.len() }).map(|at| {
        let variable = variable(at);
        quote! { ::core::clone::Clone::clone(&#variable), }
    });
    quote! { (#(#values)*) }
}

/// Expands to the items of `each`, paired with the keys that the closure of `key` returns for them. The span of each part is its closure,
/// where the compiler reports a wrong type.
pub(super) fn items(node: &Provisioner, child: &Child, each: &Expr, key: &Expr, owner: &TokenStream) -> TokenStream {
    let (ty, items) = (&child.ty, call_with_draft_from(node, child, each, "draft_of_items"));
    let (each_span, key_span) = (located(each.span()), located(key.span()));
    let private = node.paths.private_at(key_span);
    let key = quote_spanned! { key_span => #private::text(#private::call1(item, #key)) };
    let private = node.paths.private_at(each_span);
    quote_spanned! { each_span => #private::keyed::<#ty, _, #owner, _>(#items, |item| #key) }
}

/// Returns the values that `from` names, as expressions of arguments for a build function or closure. An argument is a reference `&K`; for
/// a resource of this group or an input whose type is `Option<K>` it is an `Option<&K>`.
pub(super) fn values(node: &Provisioner, child: &Child) -> Vec<TokenStream> {
    let value = |(at, path): (usize, &NodePath)| {
        let variable = variable(at);
        let sibling = node.child(&path.0[0]).filter(|(_, source)| source.resource.is_some() && path.0.len() == 1);
        let ty = sibling
            .map(|(_, source)| &source.ty)
            .or_else(|| node.input_index(&path.0[0]).map(|at| &node.inputs[at].ty));
        match ty.is_some_and(is_option) {
            true => quote! { ::core::option::Option::as_ref(#variable.get()?) },
            false => quote! { #variable.get()? },
        }
    };
    child.from.iter().enumerate().map(value).collect()
}

/// Returns the names of variables for [`values`]. Each has the span of the node's name in `from`, where the compiler reports a wrong type.
pub(super) fn value_names(child: &Child) -> Vec<Ident> {
    let name = |(at, path): (usize, &NodePath)| {
        let last = path.0.last().map_or_else(Span::call_site, Ident::span);
        Ident::new(&format!("__value{at}"), Span::mixed_site().located_at(last))
    };
    child.from.iter().enumerate().map(name).collect()
}

/// Returns whether a closure or function takes the values that `from` names, besides the object: a closure with more than one parameter, or
/// any function of a child with `from`.
pub(super) fn has_inputs(child: &Child, closure: &Expr) -> bool {
    match closure {
        Expr::Closure(closure) => closure.inputs.len() > 1,
        _ => !child.from.is_empty(),
    }
}

/// Expands the call of a user's closure or function in `when`. A closure gets the object itself, or the item if the group is below `each`;
/// it is called through `call1` to `call4`, whose signatures give its parameters their types. A function gets a `Draft`, as build functions
/// do.
pub(super) fn call(node: &Provisioner, child: &Child, closure: &Expr) -> TokenStream {
    call_with_draft_from(node, child, closure, "draft")
}

/// Expands like [`call`]. `draft_function` is the private function that returns the `Draft`: `draft`, or `draft_of_items` for the items
/// of an `each`.
fn call_with_draft_from(node: &Provisioner, child: &Child, closure: &Expr, draft_function: &str) -> TokenStream {
    let span = located(closure.span());
    let private = node.paths.private_at(span);
    let values = if has_inputs(child, closure) { values(node, child) } else { Vec::new() };
    match closure {
        Expr::Closure(_) => {
            let call = format_ident!("call{}", values.len() + 1, span = span);
            quote_spanned! { span => #private::#call(#private::subject(cx), #(#values,)* #closure) }
        }
        _ => {
            let draft = Ident::new(draft_function, span);
            quote_spanned! { span => (#closure)(&#private::#draft(cx), #(#values),*) }
        }
    }
}

/// Expands a public type with one constant for each child of a group, and the implementation of `Group` that names this type. By these
/// constants, other groups read the children in `from(group.child)`. The children in `unchecked` belong to a group with errors; their
/// constants only prevent follow-up errors.
pub(super) fn children(node: &Provisioner, checked: &[Child], unchecked: &[Child]) -> TokenStream {
    let (private, ident) = (&node.paths.private, &node.ident);
    let name = format_ident!("ChildrenOf{}", node_name(ident));
    let checked = checked.iter().map(|child| {
        // The type of the constant, whose method `read` returns the value. For `Several` a call of `read` does not compile: a child with
        // `when` or `each` can't be read from outside of its group.
        let reader = match child.resource {
            _ if child.is_conditional() || child.each.is_some() => "Several",
            Some(_) => "Resource",
            None => "Node",
        };
        (child, reader)
    });
    let constants = checked.chain(unchecked.iter().map(|child| (child, "ErroneousChild"))).map(|(child, reader)| {
        let (ty, child, reader) = (&child.ty, constant(&child.ident), format_ident!("{reader}"));
        quote_spanned! { ty.span() => pub const #child: #private::#reader<#ty> = #private::#reader::CHILD; }
    });
    let constants: Vec<TokenStream> = constants.collect();
    let (children, item) = match constants.is_empty() {
        true => (quote! { #private::NoChildren }, quote! {}),
        false => (quote! { #name }, quote! { pub struct #name; impl #name { #(#constants)* } }),
    };
    quote! {
        #item
        #[automatically_derived]
        impl #private::Group for #ident {
            type Children = #children;
        }
    }
}

/// Returns the name of a child's constant: the name of the child, as a raw identifier if it is a keyword.
fn constant(child: &Ident) -> Ident {
    let name = node_name(child);
    let raw = syn::parse_str::<Ident>(&name).is_err();
    if raw { Ident::new_raw(&name, child.span()) } else { Ident::new(&name, child.span()) }
}

fn is_option(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "Option")
}

/// Returns the variable for the value of the path with the index `at` in `from`.
fn variable(at: usize) -> Ident {
    Ident::new(&format!("__made{at}"), Span::mixed_site())
}
