//! What a child reads of earlier ones, and what its questions are asked about.

use crate::{
    attrs::provisioner::NodePath,
    model::{
        child::{Child, plain},
        managed::last_segment,
        provisioner::Provisioner,
    },
    paths::located,
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Expr, Type, spanned::Spanned};

/// What `from` names, each in a variable of its own.
pub(super) fn reads(node: &Provisioner, child: &Child) -> TokenStream {
    let one = |(at, path)| {
        let (made, value) = (made(at), source(node, path));
        quote! { let #made = #value; }
    };
    child.from.iter().enumerate().map(one).collect()
}

fn source(node: &Provisioner, path: &NodePath) -> TokenStream {
    let (private, name, text) = (&node.paths.private, &path.0[0], path.text("/"));
    if let Some(place) = node.taken(name) {
        let place = Literal::usize_unsuffixed(place);
        return quote! { ::core::clone::Clone::clone(&cx.taken().#place) };
    }
    let Some((_, source)) = node.child(name) else { return quote! {} };
    let ty = &source.ty;
    match (path.0.get(1), &source.resource) {
        (Some(inner), _) => {
            let (group, inner) = (quote! { <#ty as #private::Group>::Children }, constant(inner));
            quote_spanned! { inner.span() => <#group>::#inner.read(cx, #text)? }
        }
        (None, Some(_)) => quote_spanned! { name.span() => #private::read::<#ty, _, _, _>(cx, #text)? },
        (None, None) => quote_spanned! { name.span() => #private::given::<#ty, _, _>(cx, #text)? },
    }
}

/// What the build functions of a child depend on.
pub(super) fn inputs(node: &Provisioner, child: &Child) -> TokenStream {
    let private = &node.paths.private;
    let versions = (0..child.from.len()).map(|at| {
        let made = made(at);
        quote! { #private::version(&#made) }
    });
    quote! { #private::inputs(cx, &[#(#versions),*]) }
}

/// What is handed to a child's `takes`: all that `from` names, unless a question of the child's has taken it.
pub(super) fn handed(child: &Child) -> TokenStream {
    let consumed = [&child.when, &child.each].into_iter().flatten().any(|asked| takes_all(child, asked));
    let handed = (0..if consumed { 0 } else { child.from.len() }).map(|at| {
        let made = made(at);
        quote! { ::core::clone::Clone::clone(&#made), }
    });
    quote! { (#(#handed)*) }
}

/// The items of an `each`, with their keys.
pub(super) fn items(node: &Provisioner, child: &Child, each: &Expr, key: &Expr, owner: &TokenStream) -> TokenStream {
    let (ty, items) = (&child.ty, ask_with(node, child, each, "draft_of_items"));
    let (of_each, of_key) = (located(each.span()), located(key.span()));
    let private = node.paths.private_at(of_key);
    let key = quote_spanned! { of_key => #private::text(#private::ask1(item, #key)) };
    let private = node.paths.private_at(of_each);
    quote_spanned! { of_each => #private::keyed::<#ty, _, #owner, _>(#items, |item| #key) }
}

/// What `from` names, as arguments: an `Option` as one of a reference.
pub(super) fn values(node: &Provisioner, child: &Child) -> Vec<TokenStream> {
    let of = |(at, path): (usize, &NodePath)| {
        let made = made(at);
        let sibling = node.child(&path.0[0]).filter(|(_, source)| source.resource.is_some() && path.0.len() == 1);
        let ty = sibling.map(|(_, source)| &source.ty).or_else(|| node.taken(&path.0[0]).map(|at| &node.takes[at].ty));
        match ty.is_some_and(is_option) {
            true => quote! { ::core::option::Option::as_ref(#made.get()?) },
            false => quote! { #made.get()? },
        }
    };
    child.from.iter().enumerate().map(of).collect()
}

/// Variables for [`values`], each at the place where it is named: one of a wrong type is reported there.
pub(super) fn value_names(child: &Child) -> Vec<Ident> {
    let name = |(at, path): (usize, &NodePath)| {
        let last = path.0.last().map_or_else(Span::call_site, Ident::span);
        Ident::new(&format!("__value{at}"), Span::mixed_site().located_at(last))
    };
    child.from.iter().enumerate().map(name).collect()
}

/// Whether a predicate or an `each` also takes what `from` names.
pub(super) fn takes_all(child: &Child, asked: &Expr) -> bool {
    match asked {
        Expr::Closure(closure) => closure.inputs.len() > 1,
        _ => !child.from.is_empty(),
    }
}

/// The answer of a closure or a function; a function is handed the draft, which becomes what it takes.
pub(super) fn ask(node: &Provisioner, child: &Child, asked: &Expr) -> TokenStream {
    ask_with(node, child, asked, "draft")
}

/// The same, with the name of the function that makes the draft.
fn ask_with(node: &Provisioner, child: &Child, asked: &Expr, draft: &str) -> TokenStream {
    let place = located(asked.span());
    let private = node.paths.private_at(place);
    let values = if takes_all(child, asked) { values(node, child) } else { Vec::new() };
    match asked {
        Expr::Closure(_) => {
            let ask = format_ident!("ask{}", values.len() + 1, span = place);
            quote_spanned! { place => #private::#ask(#private::subject(cx), #(#values,)* #asked) }
        }
        _ => {
            let draft = Ident::new(draft, place);
            quote_spanned! { place => (#asked)(&#private::#draft(cx), #(#values),*) }
        }
    }
}

/// How the groups above read a node's children: a constant for each.
pub(super) fn children(node: &Provisioner, sound: &[Child], lost: &[Child]) -> TokenStream {
    let (private, ident) = (&node.paths.private, &node.ident);
    let name = format_ident!("ChildrenOf{}", plain(ident));
    let sound = sound.iter().map(|child| {
        let source = match child.resource {
            _ if child.is_conditional() || child.each.is_some() => "Several",
            Some(_) => "Resource",
            None => "Node",
        };
        (child, source)
    });
    let constants = sound.chain(lost.iter().map(|child| (child, "Mended"))).map(|(child, source)| {
        let (ty, child, source) = (&child.ty, constant(&child.ident), format_ident!("{source}"));
        quote_spanned! { ty.span() => pub const #child: #private::#source<#ty> = #private::#source::CHILD; }
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

/// A child's name, raw where it has to be.
fn constant(child: &Ident) -> Ident {
    let name = plain(child);
    let raw = syn::parse_str::<Ident>(&name).is_err();
    if raw { Ident::new_raw(&name, child.span()) } else { Ident::new(&name, child.span()) }
}

fn is_option(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "Option")
}

fn made(at: usize) -> Ident {
    Ident::new(&format!("__made{at}"), Span::mixed_site())
}
