//! What a group does with a child, on the way up and down.

use crate::{
    attrs::provisioner::{Manifest, Typed},
    model::{
        child::{Child, plain},
        provisioner::Provisioner,
    },
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Expr, Type, spanned::Spanned};

pub(super) fn edge(node: &Provisioner, child: &Child) -> TokenStream {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &child.ty, child.name());
    // The lines are those of the tokens, so of the field.
    let place = quote_spanned! { child.ident.span() => ::core::file!(), ::core::line!() };
    let edge = match (&child.resource, &child.manifest) {
        (Some(_), _) => quote_spanned! { ty.span() => #private::resource_edge::<#ty, _>(#name, #place) },
        (_, Some((_, manifest))) => manifest_edge(node, manifest, &name, &place),
        _ => quote_spanned! { ty.span() => #private::edge::<#ty>(#name, #place) },
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
    let reads: Vec<String> = child
        .from
        .iter()
        .filter(|from| node.taken(&from.0[0]).is_none())
        .map(|from| from.0.iter().map(plain).collect::<Vec<_>>().join("/"))
        .collect();
    if !reads.is_empty() {
        terms.push(quote! { reads: &[#(#reads),*] });
    }
    if let Some(options) = own_options(node, child) {
        terms.push(quote! { resource: #options });
    }
    if terms.is_empty() {
        edge
    } else {
        quote! { #krate::Edge { #(#terms,)* ..#edge } }
    }
}

/// A manifest, as a child of the shape. The compiler follows the file; its kinds are read when the role is made.
fn manifest_edge(node: &Provisioner, manifest: &Manifest, name: &str, place: &TokenStream) -> TokenStream {
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
            #private::manifest_edge(#name, &MANIFEST, #place)
        }
    }
}

/// A node of an earlier release, as a child of the shape.
pub(super) fn retired_edge(node: &Provisioner, retired: &Typed) -> TokenStream {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &retired.ty, plain(&retired.name));
    let place = quote_spanned! { retired.name.span() => ::core::file!(), ::core::line!() };
    let options = quote! { #krate::ResourceOptions { retired: true, ..#krate::ResourceOptions::DEFAULT } };
    quote_spanned! { ty.span() =>
        #krate::Edge { resource: #options, ..#private::resource_edge::<#ty, _>(#name, #place) }
    }
}

/// The way up of a child: a future.
pub(super) fn up(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let private = &node.paths.private;
    let reads = reads(node, child, owner);
    let consumed = [&child.when, &child.each].into_iter().flatten().any(|asked| takes_all(child, asked));
    let build = wanted(node, child, owner, consumed);
    let Some(when) = &child.when else {
        let own_block = child.each.is_some() || !child.from.is_empty();
        return if own_block {
            quote! { #private::boxed(async move { #reads #build.await }) }
        } else {
            build
        };
    };
    let (down, name, answer) = (down(node, child, owner), child.name(), ask(node, child, when));
    let (before, inside) = if takes_all(child, when) { (reads, quote! {}) } else { (quote! {}, reads) };
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

/// The function's name has the field's span, all else the type's: a missing function is reported at the name, a function
/// that gives something else at the type.
fn wanted(node: &Provisioner, child: &Child, owner: &TokenStream, consumed: bool) -> TokenStream {
    let (private, ty, name, function) = (&node.paths.private, &child.ty, child.name(), &child.ident);
    let versions = (0..child.from.len()).map(|at| {
        let made = made(at);
        quote! { #private::version(&#made) }
    });
    let inputs = quote! { #private::inputs(cx, &[#(#versions),*]) };
    if child.resource.is_some() {
        let (options, values) = (options(node, child), values(node, child));
        return quote_spanned! { ty.span() =>
            #private::apply::<#ty, _, #owner, Self>(cx, #name, #options, #inputs, || {
                let built = Self::#function(&#private::draft(cx), #(#values),*);
                #private::wanted::<#ty, _>(built)
            })
        };
    }
    if let Some((_, manifest)) = &child.manifest {
        if manifest.file.is_some() {
            return quote! { #private::apply_file::<#owner, Self>(cx, #name) };
        }
        let values = values(node, child);
        return quote_spanned! { ty.span() =>
            #private::apply_manifest::<#owner, Self>(cx, #name, || {
                let built = Self::#function(&#private::draft(cx), #(#values),*);
                #private::text_of(built)
            })
        };
    }
    let handed = (0..if consumed { 0 } else { child.from.len() }).map(|at| {
        let made = made(at);
        quote! { ::core::clone::Clone::clone(&#made), }
    });
    let taken = quote! { (#(#handed)*) };
    match (&child.each, &child.key) {
        (Some(each), Some(key)) => {
            let items = ask(node, child, each);
            quote_spanned! { ty.span() =>
                #private::up_each::<#ty, _, _, #owner, Self>(cx, #name, #taken, #inputs,
                    #private::keyed::<#ty, _, #owner, _>(#items, |item| #private::text(#private::ask1(item, #key))))
            }
        }
        _ => quote_spanned! { ty.span() => #private::up::<#ty, #owner, Self>(cx, #name, #taken, #inputs) },
    }
}

/// The way down of a child: a future.
pub(super) fn down(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let (private, ty, name) = (&node.paths.private, &child.ty, child.name());
    if child.resource.is_some() {
        let options = options(node, child);
        quote_spanned! { ty.span() => #private::remove::<#ty, _, #owner, Self>(cx, #name, #options) }
    } else if child.manifest.is_some() {
        quote! { #private::remove_manifest::<#owner, Self>(cx, #name) }
    } else if child.each.is_some() {
        quote_spanned! { ty.span() => #private::down_each::<#ty, _, #owner, Self>(cx, #name) }
    } else {
        quote_spanned! { ty.span() => #private::down::<#ty, #owner, Self>(cx, #name) }
    }
}

/// What is left of a node of an earlier release goes, on the way up as on the way down.
pub(super) fn retire(node: &Provisioner, retired: &Typed, owner: &TokenStream, up: bool) -> TokenStream {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &retired.ty, plain(&retired.name));
    let options = quote! { #krate::ResourceOptions { retired: true, ..#krate::ResourceOptions::DEFAULT } };
    let remove = quote_spanned! { ty.span() => #private::remove::<#ty, _, #owner, Self>(cx, #name, #options) };
    if !up {
        return remove;
    }
    quote! {
        #private::boxed(async move {
            let cx = &#private::not_wanted(cx);
            #remove.await
        })
    }
}

/// What `from` names, each in a variable of its own.
fn reads(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let private = &node.paths.private;
    let one = |(at, path): (usize, &crate::attrs::provisioner::NodePath)| {
        let (made, name) = (made(at), &path.0[0]);
        if let Some(place) = node.taken(name) {
            let place = Literal::usize_unsuffixed(place);
            return quote! { let #made = ::core::clone::Clone::clone(&cx.taken().#place); };
        }
        let path_text = path.0.iter().map(plain).collect::<Vec<_>>().join("/");
        let Some((_, source)) = node.child(name) else { return quote! {} };
        let ty = &source.ty;
        let read = match (path.0.get(1), &source.resource) {
            (Some(inner), _) => {
                let function = Ident::new(&format!("__read_{}", plain(inner)), inner.span());
                quote_spanned! { inner.span() => #ty::#function::<#owner, Self>(cx, #path_text) }
            }
            (None, Some(_)) => quote_spanned! { name.span() => #private::read::<#ty, _, #owner, Self>(cx, #path_text) },
            (None, None) => quote_spanned! { name.span() => #private::given::<#ty, #owner, Self>(cx, #path_text) },
        };
        quote! { let #made = #read?; }
    };
    child.from.iter().enumerate().map(one).collect()
}

/// What `from` names, as arguments: an `Option` as one of a reference.
fn values(node: &Provisioner, child: &Child) -> Vec<TokenStream> {
    let of = |(at, path): (usize, &crate::attrs::provisioner::NodePath)| {
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

fn is_option(ty: &Type) -> bool {
    crate::model::managed::last_segment(ty).is_some_and(|segment| segment.ident == "Option")
}

fn made(at: usize) -> Ident {
    Ident::new(&format!("__made{at}"), Span::mixed_site())
}

/// Whether a predicate or an `each` also takes what `from` names.
fn takes_all(child: &Child, asked: &Expr) -> bool {
    match asked {
        Expr::Closure(closure) => closure.inputs.len() > 1,
        _ => !child.from.is_empty(),
    }
}

/// The answer of a closure or a function; a function is handed the draft, which becomes what it takes.
fn ask(node: &Provisioner, child: &Child, asked: &Expr) -> TokenStream {
    let private = &node.paths.private;
    let values = if takes_all(child, asked) { values(node, child) } else { Vec::new() };
    match asked {
        Expr::Closure(_) => {
            let ask = format_ident!("ask{}", values.len() + 1);
            quote_spanned! { asked.span() => #private::#ask(#private::subject(cx), #(#values,)* #asked) }
        }
        _ => quote_spanned! { asked.span() => (#asked)(&#private::draft(cx), #(#values),*) },
    }
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
