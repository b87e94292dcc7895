//! Expands a child of a group of tree nodes: its entry in the description of the tree, and its calls for provision and deprovision.

use super::{access, dependency};
use crate::{
    attrs::provisioner::{Manifest, NamedType},
    model::{
        child::{Child, DeletionPropagation, Remote, Resource, node_name},
        provisioner::Provisioner,
    },
    paths::located,
};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Expr, Type, spanned::Spanned};

/// Expands the `Edge` to a child. The constant `SHAPE` of a group contains one `Edge` for each child, which describes the child without
/// running it: its name, the source text of its conditions, the nodes it depends on, its options and access rights.
pub(super) fn edge(node: &Provisioner, child: &Child) -> TokenStream {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &child.ty, child.name());
    // `line!()` is the line of the field, since its tokens have that span.
    let line = quote_spanned! { child.ident.span() => ::core::line!() };
    let edge = match (&child.resource, &child.manifest, &child.application) {
        (Some(_), _, _) => quote_spanned! { ty.span() => #private::resource_edge::<#ty, _>(#name, #line) },
        (_, Some((_, manifest)), _) => manifest_edge(node, manifest, &name, &line),
        (_, _, Some((_, Some(driver)))) => {
            quote_spanned! { driver.span() => #private::application_edge::<#driver>(#name, #line) }
        }
        _ => match &child.remote {
            Some(Remote { background, .. }) => {
                quote_spanned! { ty.span() => #private::remote_edge::<#ty>(#name, #line, #background) }
            }
            None => quote_spanned! { ty.span() => #private::edge::<#ty>(#name, #line) },
        },
    };
    let mut fields = Vec::new();
    for (field, closure) in [("when", &child.when), ("each", &child.each)] {
        if let Some(closure) = closure {
            let (field, source) = (format_ident!("{field}"), source_text(closure));
            fields.push(quote! { #field: #source });
        }
    }
    if !child.after.is_empty() {
        let names = child.after.iter().map(|after| node_name(&after.0[0]));
        fields.push(quote! { after: &[#(#names),*] });
    }
    let reads: Vec<String> =
        child.from.iter().filter(|from| node.input_index(&from.0[0]).is_none()).map(|from| from.text("/")).collect();
    if !reads.is_empty() {
        fields.push(quote! { reads: &[#(#reads),*] });
    }
    if let Some(namespace) = deleted_with(node, child) {
        fields.push(quote! { deleted_with: #namespace });
    }
    if let Some(options) = non_default_options(node, child) {
        fields.push(quote! { resource: #options });
    }
    let resource = child.resource.as_ref();
    if resource.is_some() {
        fields.push(quote! { bucket: #private::bucket_of!(#ty) });
    }
    if let Some((_, rights)) = resource.and_then(|resource| resource.grants.as_ref()) {
        let rights = access::entries(&node.paths, rights);
        fields.push(quote! { access: #rights });
    } else if resource.is_some_and(|resource| resource.pods.is_some()) {
        fields.push(quote! { access: #private::PODS });
    }
    if fields.is_empty() {
        edge
    } else {
        quote! { #krate::shape::Edge { #(#fields,)* ..#edge } }
    }
}

/// Returns an expression for the name of the node in `deleted_with(...)`, or `None` without this key. The expression calls a function whose
/// trait bounds make the compiler check that the node is a resource of the kind Namespace, that the child is no hand-written node, and that
/// a resource has namespaced objects.
fn deleted_with(node: &Provisioner, child: &Child) -> Option<TokenStream> {
    let name = &child.deleted_with.as_ref()?.node.0[0];
    let (ty, (_, source)) = (&child.ty, node.child(name)?);
    let (namespace, source_name, span) = (&source.ty, source.name(), located(name.span()));
    let private = node.paths.private_at(span);
    Some(if child.is_provisioner() {
        quote_spanned! { span => #private::namespace_of_group::<#ty, #namespace, _>(#source_name) }
    } else if child.resource.is_some() {
        quote_spanned! { span => #private::namespace_of_resource::<#ty, _, #namespace, _>(#source_name) }
    } else {
        quote_spanned! { span => #private::namespace_node::<#namespace, _>(#source_name) }
    })
}

/// Expands the `Edge` to a manifest child (objects as YAML). A manifest file is included by `include_str!`, so that the compiler builds
/// again if the file changes, and `opgen` reads its kinds from the text when it generates the role. The kinds of other manifests are listed
/// as access rights.
fn manifest_edge(node: &Provisioner, manifest: &Manifest, name: &str, line: &TokenStream) -> TokenStream {
    let (krate, private) = (&node.paths.krate, &node.paths.private);
    let (file, text) = match &manifest.file {
        Some(file) => {
            let path = quote! { ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #file) };
            (quote! { #file }, quote_spanned! { file.span() => ::core::include_str!(#path) })
        }
        None => (quote! { "" }, quote! { "" }),
    };
    let access = manifest.kinds.iter().map(|kind| {
        let applied = quote_spanned! { kind.span() => #private::applied::<#kind>() };
        quote! { #applied.in_bucket(#private::bucket_of!(#kind)) }
    });
    quote! {
        {
            const MANIFEST: #krate::shape::Shape = #krate::shape::Shape {
                node: #krate::shape::Node::Manifest(#krate::shape::EmbeddedManifest { file: #file, text: #text }),
                access: &[#(#access),*],
                children: &[],
            };
            #private::manifest_edge(#name, &MANIFEST, #line)
        }
    }
}

/// Expands the `Edge` to a retired node: a child of an earlier release, whose objects the operator deletes.
pub(super) fn retired_edge(node: &Provisioner, retired: &NamedType) -> TokenStream {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &retired.ty, node_name(&retired.name));
    let line = quote_spanned! { retired.name.span() => ::core::line!() };
    quote_spanned! { ty.span() =>
        #krate::shape::Edge {
            bucket: #private::bucket_of!(#ty),
            resource: #krate::shape::ResourceOptions::RETIRED,
            ..#private::resource_edge::<#ty, _>(#name, #line)
        }
    }
}

/// Expands to an expression of a boxed future that provisions a child. If the child has the key `when`, the future evaluates the condition
/// first, and deprovisions the child while the condition is false.
pub(super) fn provision(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let private = &node.paths.private;
    let (reads, provision) = (dependency::reads(node, child), provision_call(node, child, owner));
    let Some(when) = &child.when else {
        // Without values to read, the call itself is the future; otherwise an async block reads the values first.
        let is_call = child.from.is_empty() && child.each.is_none();
        return if is_call {
            provision
        } else {
            quote! { #private::boxed(async move { #reads #provision.await }) }
        };
    };
    let (deprovision, name, condition) =
        (deprovision(node, child, owner), child.name(), dependency::call(node, child, when));
    // The values of `from` are read before the condition only if the condition takes them as arguments.
    let (before, inside) = if dependency::has_inputs(child, when) { (reads, quote! {}) } else { (quote! {}, reads) };
    quote! {
        #private::boxed(async move {
            #before
            if #private::is_wanted(cx, #name, #condition)? {
                #inside
                #provision.await
            } else {
                let cx = &#private::not_wanted(cx);
                #deprovision.await
            }
        })
    }
}

/// Expands to the call that provisions a child, by the type of the child: resource, manifest, application or provisioner. The caller adds
/// the condition `when`.
fn provision_call(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    match (&child.resource, &child.manifest, &child.application) {
        (Some(_), _, _) => apply_resource(node, child),
        (None, Some((_key, manifest)), _) => apply_manifest(node, child, manifest, owner),
        (None, None, Some((_key, Some(driver)))) => apply_application(node, child, driver, owner),
        (None, None, _) => provision_node(node, child, owner),
    }
}

/// Expands to the call that runs the build function of a resource and applies the objects that it returns.
///
/// The function name has the span of the field, and everything else has the span of the field's type, so that the compiler reports a
/// missing function at the name, and a wrong return type at the type.
fn apply_resource(node: &Provisioner, child: &Child) -> TokenStream {
    let (private, ty, name, function) = (&node.paths.private, &child.ty, child.name(), &child.ident);
    let grants = grants(node, child);
    // A shorter call for the common case: no values from other nodes, default options, and no role.
    if child.from.is_empty() && non_default_options(node, child).is_none() && grants.is_none() {
        return quote_spanned! { ty.span() =>
            #private::apply::<#ty, _, _, _, _>(cx, #name, |draft| Self::#function(draft))
        };
    }
    let (options, digest) = (options(node, child), dependency::inputs_digest(node, child));
    let (names, values) = (dependency::value_names(child), dependency::values(node, child));
    let objects = grants.unwrap_or_else(|| quote_spanned! { ty.span() => #private::desired_objects::<#ty, _>(built) });
    quote_spanned! { ty.span() =>
        #private::apply_with::<#ty, _, _, _>(cx, #name, #options, #digest, |draft| {
            #(let #names = #values;)*
            let built = Self::#function(draft, #(#names),*);
            #objects
        })
    }
}

/// Expands to the call that applies the objects of a manifest child: those in its YAML file, or those in the YAML that the function with
/// the name of the field returns.
fn apply_manifest(node: &Provisioner, child: &Child, manifest: &Manifest, owner: &TokenStream) -> TokenStream {
    let (private, ty, name, function) = (&node.paths.private, &child.ty, child.name(), &child.ident);
    if manifest.file.is_some() {
        return quote! { #private::apply_file::<#owner, Self>(cx, #name) };
    }
    let (names, values) = (dependency::value_names(child), dependency::values(node, child));
    quote_spanned! { ty.span() =>
        #private::apply_manifest::<#owner, Self>(cx, #name, || {
            #(let #names = #values;)*
            let built = Self::#function(&#private::draft(cx), #(#names),*);
            #private::text_of(built)
        })
    }
}

/// Expands to the call that deploys an application by the driver of a CD system, such as `ArgoCd`. The function with the name of the field
/// returns the application.
fn apply_application(node: &Provisioner, child: &Child, driver: &Type, owner: &TokenStream) -> TokenStream {
    let (private, ty, name, function) = (&node.paths.private, &child.ty, child.name(), &child.ident);
    let (names, values) = (dependency::value_names(child), dependency::values(node, child));
    quote_spanned! { ty.span() =>
        #private::apply_application::<#driver, #owner, Self>(cx, #name, || {
            #(let #names = #values;)*
            let built = Self::#function(&#private::draft(cx), #(#names),*);
            #private::application_of(built)
        })
    }
}

/// Expands to the call that provisions a child that is a provisioner: a node in another cluster (`remote`), one node for each item of
/// `each`, or a single node with or without inputs.
fn provision_node(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let (ty, name, span) = (&child.ty, child.name(), located(child.ty.span()));
    let (private, values, digest) =
        (node.paths.private_at(span), dependency::inputs_tuple(child), dependency::inputs_digest(node, child));
    if child.remote.is_some() {
        let function = &child.ident;
        return quote_spanned! { span =>
            #private::up_remote::<#ty, #owner, _, _>(cx, #name, #values, #digest, || {
                #private::kubeconfig_of(Self::#function(&#private::draft(cx)))
            })
        };
    }
    match (&child.each, &child.key) {
        (Some(each), Some(key)) => {
            let items = dependency::items(node, child, each, key, owner);
            quote_spanned! { span =>
                #private::up_each::<#ty, _, _, #owner, _, _>(cx, #name, #values, #digest, #items)
            }
        }
        _ if child.from.is_empty() => quote_spanned! { span => #private::up::<#ty, #owner, _>(cx, #name) },
        _ => quote_spanned! { span => #private::up_with::<#ty, #owner, _, _>(cx, #name, #values, #digest) },
    }
}

/// Expands to the expression of the roles that the build function returned. At run time it checks their rules against the rights declared
/// in `grants(...)`, which the expansion finds at the index of the child in `SHAPE`. Returns `None` for a child without `grants`.
fn grants(node: &Provisioner, child: &Child) -> Option<TokenStream> {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &child.ty, child.name());
    child.resource.as_ref()?.grants.as_ref()?;
    let (at, _) = node.child(&child.ident)?;
    let at = Literal::usize_unsuffixed(at);
    Some(quote_spanned! { ty.span() =>
        #private::granted_roles::<#ty, _>(#name, <Self as #krate::Provisioner>::SHAPE.children[#at].access, built)
    })
}

/// Expands to an expression of a future that deprovisions a child, by the type of the child: it deletes its objects or those of its nodes.
pub(super) fn deprovision(node: &Provisioner, child: &Child, owner: &TokenStream) -> TokenStream {
    let (private, ty, name) = (&node.paths.private, &child.ty, child.name());
    if child.resource.is_some() {
        match non_default_options(node, child) {
            Some(options) => {
                quote_spanned! { ty.span() => #private::remove_with::<#ty, _, _, _>(cx, #name, #options) }
            }
            None => quote_spanned! { ty.span() => #private::remove::<#ty, _, _, _>(cx, #name) },
        }
    } else if child.manifest.is_some() {
        quote! { #private::remove_manifest::<#owner, Self>(cx, #name) }
    } else if child.application.is_some() {
        quote! { #private::remove_application::<#owner, Self>(cx, #name) }
    } else if child.remote.is_some() {
        quote_spanned! { ty.span() => #private::down_remote::<#ty, #owner, _>(cx, #name) }
    } else if child.each.is_some() {
        quote_spanned! { ty.span() => #private::down_each::<#ty, _, #owner, _>(cx, #name) }
    } else {
        quote_spanned! { ty.span() => #private::down::<#ty, #owner, _>(cx, #name) }
    }
}

/// Expands to an expression of a future that deletes the objects of a retired node (a child of an earlier release). `provision` tells
/// whether the future runs in the function `provision` of the group or in `deprovision`.
pub(super) fn remove_retired(node: &Provisioner, retired: &NamedType, provision: bool) -> TokenStream {
    let (krate, private, ty, name) = (&node.paths.krate, &node.paths.private, &retired.ty, node_name(&retired.name));
    if provision {
        return quote_spanned! { ty.span() => #private::retire::<#ty, _, _, _>(cx, #name) };
    }
    quote_spanned! { ty.span() => #private::remove_with::<#ty, _, _, _>(cx, #name, #krate::shape::ResourceOptions::RETIRED) }
}

/// Expands to the `ResourceOptions` of a resource; the constant `ResourceOptions::DEFAULT` if it sets none.
fn options(node: &Provisioner, child: &Child) -> TokenStream {
    let krate = &node.paths.krate;
    non_default_options(node, child).unwrap_or_else(|| quote! { #krate::shape::ResourceOptions::DEFAULT })
}

/// Expands to the `ResourceOptions` of a resource, such as `once` and `timeout`. Returns `None` if all options have their defaults.
fn non_default_options(node: &Provisioner, child: &Child) -> Option<TokenStream> {
    let krate = &node.paths.krate;
    // The pattern has no `..`, so that the compiler reports a new option that is not handled here. `edge` expands `grants`.
    let Resource { key: _, once, adopt, grants: _, pods, delete, timeout } = child.resource.as_ref()?;
    let mut fields = Vec::new();
    if once.is_some() {
        fields.push(quote! { once: true });
    }
    if let Some((_, managers)) = adopt {
        fields.push(quote! { adopt: true, adopt_from: &[#(#managers),*] });
    }
    if child.if_api.is_some() {
        fields.push(quote! { if_api: true });
    }
    if pods.is_some() {
        fields.push(quote! { pods: true });
    }
    if let Some(policy) = delete {
        let policy = match policy {
            DeletionPropagation::Foreground => quote! { Foreground },
            DeletionPropagation::Background => quote! { Background },
        };
        fields.push(quote! { delete: ::core::option::Option::Some(#krate::shape::DeletionPropagation::#policy) });
    }
    if let Some(timeout) = timeout {
        let milliseconds = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let timeout = quote! { ::core::time::Duration::from_millis(#milliseconds) };
        fields.push(quote! { timeout: ::core::option::Option::Some(#timeout) });
    }
    (!fields.is_empty())
        .then(|| quote! { #krate::shape::ResourceOptions { #(#fields,)* ..#krate::shape::ResourceOptions::DEFAULT } })
}

/// Returns the source text of a closure's body or of a function's path, for descriptions of the tree. The text of a token stream has a
/// space between any two tokens; the function removes those that Rust code does not have.
fn source_text(closure: &Expr) -> String {
    let body = match closure {
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
