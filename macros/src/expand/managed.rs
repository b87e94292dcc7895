//! Expands the implementation of `Managed` for the struct that kube generates.

use crate::{
    check::Checked,
    model::managed::{Managed, Pause},
};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{LitInt, spanned::Spanned};

/// Implements `Managed` for the struct of the object that kube's derive generates. Expands to nothing if kube generates no struct.
pub(crate) fn expand(managed: &Checked<Managed>) -> TokenStream {
    let Some(root) = managed.root() else { return TokenStream::new() };
    let (krate, private, spec) = (&managed.paths.krate, &managed.paths.private, &managed.spec);
    let finalizer = finalizer(managed);
    let status = status(managed);
    let paused = paused_body(managed.pause.as_ref());
    let references = references(managed, &root);
    let schema = schema(managed, &root);
    let validation = validation(managed);
    let versions = versions(managed, &root);
    let bucket = bucket(managed);
    quote! {
        #[automatically_derived]
        impl #krate::Managed for #root {
            type Spec = #spec;
            #status
            type Subject = Self;
            const FINALIZER: ::core::option::Option<&'static ::core::primitive::str> = #finalizer;
            const DEFINITION: ::core::option::Option<fn() -> #private::CustomResourceDefinition> =
                ::core::option::Option::Some(<#root as #private::CustomResourceExt>::crd);
            #schema
            #validation
            #versions
            #bucket
            #references
            fn kind() -> #krate::Kind {
                #private::kind_of::<#root>()
            }
            fn metadata(&self) -> &#private::ObjectMeta {
                &self.metadata
            }
            fn spec(&self) -> &Self::Spec {
                &self.spec
            }
            fn paused(&self) -> ::core::primitive::bool {
                #paused
            }
            fn subject(&self) -> &Self {
                self
            }
        }
    }
}

/// Returns the value of the constant `FINALIZER`: `Some` with the finalizer in `#[managed(finalizer = "...")]`, or `None`.
fn finalizer(managed: &Managed) -> TokenStream {
    match &managed.finalizer {
        Some(finalizer) => quote! { ::core::option::Option::Some(#finalizer) },
        None => quote! { ::core::option::Option::None },
    }
}

/// Returns the constant `SCHEMA`, a function that returns the schema of the kind. Returns nothing for `schema = "disabled"`, which is an
/// error, so that the code beside that error still compiles.
fn schema(managed: &Managed, root: &Ident) -> TokenStream {
    let private = &managed.paths.private;
    let disabled = managed.kube.as_ref().and_then(|kube| kube.schema.as_ref());
    if disabled.is_some_and(|schema| schema.value() == "disabled") {
        return TokenStream::new();
    }
    quote! {
        const SCHEMA: ::core::option::Option<fn() -> #private::Value> =
            ::core::option::Option::Some(#private::schema_by_names::<#root>);
    }
}

/// Returns the constant `VALIDATION`, the `#[valid(...)]` rules of the spec. Returns nothing for a spec that can have no rules, since it is
/// no struct with named fields: the default of the trait is "no rules".
fn validation(managed: &Managed) -> TokenStream {
    if !managed.can_have_rules() {
        return TokenStream::new();
    }
    let (krate, spec) = (&managed.paths.krate, &managed.spec);
    quote! {
        const VALIDATION: ::core::option::Option<#krate::validation::ValidationOf> =
            ::core::option::Option::Some(<#spec as #krate::validation::Validated>::validation);
    }
}

/// Returns the constant `VERSIONS`, the versions of a kind in a module with `#[versions(...)]`. Returns nothing for other kinds: the
/// default of the trait is one version.
fn versions(managed: &Managed, root: &Ident) -> TokenStream {
    if !managed.has_versions {
        return TokenStream::new();
    }
    let krate = &managed.paths.krate;
    quote! {
        const VERSIONS: ::core::option::Option<#krate::versions::VersionsOf> =
            ::core::option::Option::Some(<#root as #krate::versions::VersionedKind>::versions);
    }
}

/// Returns the constant `BUCKET`, the NATS bucket in `#[managed(nats(...))]`. Returns nothing without that key: the default of the trait
/// keeps the objects in Kubernetes.
fn bucket(managed: &Managed) -> TokenStream {
    let Some(bucket) = &managed.bucket else { return TokenStream::new() };
    let (krate, name) = (&managed.paths.krate, &bucket.name);
    let number = |number: &Option<LitInt>| number.as_ref().and_then(|number| number.base10_parse::<u8>().ok());
    let history = number(&bucket.history).map(|history| quote! { .history(#history) });
    let replicas = number(&bucket.replicas).map(|replicas| quote! { .replicas(#replicas) });
    let max_age = bucket.age().map(|age| {
        let milliseconds = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        quote! { .max_age(::core::time::Duration::from_millis(#milliseconds)) }
    });
    let storage = bucket.is_in_memory().then(|| quote! { .storage(#krate::bucket::BucketStorage::Memory) });
    quote! {
        const BUCKET: ::core::option::Option<#krate::bucket::BucketDefinition> = ::core::option::Option::Some(
            #krate::bucket::BucketDefinition::new(#name) #history #replicas #max_age #storage
        );
    }
}

/// Returns the constant `REFERENCES`: the fields of the spec with `#[managed(reference = Kind)]`, which name objects of other kinds.
/// Returns nothing if there are no such fields: the default of the trait is empty.
fn references(managed: &Managed, root: &Ident) -> TokenStream {
    let (krate, private) = (&managed.paths.krate, &managed.paths.private);
    let of_field = managed.fields.iter().filter_map(|field| {
        let (kind, ident, ty) = (field.reference.as_ref()?, &field.ident, &field.ty);
        let (path, granted) = (format!("spec.{}", field.name), field.grant.is_some());
        // The path names the type of the field, so that the compiler reports a missing `Names` at the field.
        let names = quote_spanned! { ty.span() => <#ty as #krate::reference::Names>::names };
        Some(quote! {
            #krate::reference::ReferenceField {
                field: #path,
                kind: #private::kind_of::<#kind>,
                bucket: #private::bucket_of!(#kind),
                names: |object: &#root| #names(&object.spec.#ident),
                granted: #granted,
            }
        })
    });
    let references: Vec<_> = of_field.collect();
    if references.is_empty() {
        return TokenStream::new();
    }
    quote! { const REFERENCES: &'static [#krate::reference::ReferenceField<Self>] = &[#(#references),*]; }
}

/// Returns the type `Status` and the function `status`. Without `status` in `#[kube(...)]`, which is an error, the object has no field for
/// it, so the expansion uses the default type.
fn status(managed: &Managed) -> TokenStream {
    let krate = &managed.paths.krate;
    match managed.kube.as_ref().and_then(|kube| kube.status.as_ref()) {
        Some(status) => quote! {
            type Status = #status;
            fn status(&self) -> ::core::option::Option<&Self::Status> {
                ::core::option::Option::as_ref(&self.status)
            }
        },
        None => quote! {
            type Status = #krate::Status;
            fn status(&self) -> ::core::option::Option<&Self::Status> {
                ::core::option::Option::None
            }
        },
    }
}

/// Returns the body of `paused`: the value of the field `pause`, or `false` without such a field.
fn paused_body(pause: Option<&Pause>) -> TokenStream {
    match pause {
        Some(Pause { field, optional: false }) => quote! { self.spec.#field },
        Some(Pause { field, optional: true }) => quote! { ::core::option::Option::unwrap_or_default(self.spec.#field) },
        None => quote! { false },
    }
}
