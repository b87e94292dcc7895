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

/// Binds each value that `from` names to a variable.
pub(super) fn reads(node: &Provisioner, child: &Child) -> TokenStream {
    let read = |(at, path)| {
        let (variable, value) = (variable(at), read_expression(node, path));
        quote! { let #variable = #value; }
    };
    child.from.iter().enumerate().map(read).collect()
}

/// Returns the expression that reads the value at a path of `from`: an input of the group, the object of a child, the output of a
/// child, or a child of a nested group. Empty if no such child exists; the check has already reported that.
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

/// Returns the call that computes the digest of the inputs of a child: those of its group, and the versions of the values that
/// `from` names. The fast path skips the child if the digest equals that of its last pass.
pub(super) fn inputs_digest(node: &Provisioner, child: &Child) -> TokenStream {
    let private = &node.paths.private;
    let versions = (0..child.from.len()).map(|at| {
        let variable = variable(at);
        quote! { #private::version(&#variable) }
    });
    quote! { #private::inputs_digest(cx, &[#(#versions),*]) }
}

/// Returns the values for a child's `inputs`: everything that `from` names, unless `when` or `each` takes it.
pub(super) fn inputs_tuple(child: &Child) -> TokenStream {
    let consumed = [&child.when, &child.each].into_iter().flatten().any(|closure| has_inputs(child, closure));
    let values = (0..if consumed { 0 } else { child.from.len() }).map(|at| {
        let variable = variable(at);
        quote! { ::core::clone::Clone::clone(&#variable), }
    });
    quote! { (#(#values)*) }
}

/// Returns the items of an `each`, with their keys.
pub(super) fn items(node: &Provisioner, child: &Child, each: &Expr, key: &Expr, owner: &TokenStream) -> TokenStream {
    let (ty, items) = (&child.ty, call_with_draft_from(node, child, each, "draft_of_items"));
    let (each_span, key_span) = (located(each.span()), located(key.span()));
    let private = node.paths.private_at(key_span);
    let key = quote_spanned! { key_span => #private::text(#private::call1(item, #key)) };
    let private = node.paths.private_at(each_span);
    quote_spanned! { each_span => #private::keyed::<#ty, _, #owner, _>(#items, |item| #key) }
}

/// Returns the values that `from` names, as arguments; an `Option` becomes an `Option` of a reference.
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

/// Variables for [`values`] with the spans of their names in `from`, where the compiler reports a wrong type.
pub(super) fn value_names(child: &Child) -> Vec<Ident> {
    let name = |(at, path): (usize, &NodePath)| {
        let last = path.0.last().map_or_else(Span::call_site, Ident::span);
        Ident::new(&format!("__value{at}"), Span::mixed_site().located_at(last))
    };
    child.from.iter().enumerate().map(name).collect()
}

/// Returns whether a closure or function also takes the values that `from` names.
pub(super) fn has_inputs(child: &Child, closure: &Expr) -> bool {
    match closure {
        Expr::Closure(closure) => closure.inputs.len() > 1,
        _ => !child.from.is_empty(),
    }
}

/// Expands the call of a closure or a function of the user. A closure gets the object itself, below an `each` the item; it is called
/// through `callN`, whose signature gives its N parameters their types. A function gets a `Draft`, as build functions do.
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

/// Returns the constants by which other groups read the children of a node.
pub(super) fn children(node: &Provisioner, checked: &[Child], unchecked: &[Child]) -> TokenStream {
    let (private, ident) = (&node.paths.private, &node.ident);
    let name = format_ident!("ChildrenOf{}", node_name(ident));
    let checked = checked.iter().map(|child| {
        // The type of the constant. Its method `read` returns the value; for `Several` it does not compile, with a message.
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

/// Returns the name of a child's constant, a raw identifier if necessary.
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
