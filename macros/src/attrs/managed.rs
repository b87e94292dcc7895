//! Parses the input of `#[derive(Managed)]`: the item and its `managed`, `kube` and schema attributes.

use super::{bucket::BucketArgs, field, kube};
use crate::diag::Diags;
use darling::{
    FromMeta,
    ast::NestedMeta,
    util::{Flag, PathList},
};
use proc_macro2::TokenStream;
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, Ident, LitStr, Meta, Path, Token, Variant, punctuated::Punctuated,
};

/// The keys of `#[managed(...)]`, on a struct or a field. The stage `check` decides which key belongs where.
#[derive(Default, FromMeta)]
pub(crate) struct ManagedArgs {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) finalizer: Option<LitStr>,
    pub(crate) pause: Option<Ident>,
    #[darling(default)]
    pub(crate) allow: PathList,
    pub(crate) reference: Option<Path>,
    pub(crate) grant: Flag,
    pub(crate) nats: Option<BucketArgs>,
    /// Whether the kind has several versions. `#[versions(...)]` writes the key, which is for generated code only.
    #[darling(skip)]
    pub(crate) versions: bool,
    /// The keys in source order, for messages that ask to remove one.
    #[darling(skip)]
    pub(crate) keys: Vec<Path>,
}

/// The item that derives `Managed`, with its attributes.
pub(crate) struct ManagedInput {
    pub(crate) item: DeriveInput,
    pub(crate) args: ManagedArgs,
    /// `None` without any `#[kube(...)]`.
    pub(crate) kube: Option<Vec<kube::KubeEntry>>,
    pub(crate) hints: field::SchemaHints,
    pub(crate) fields: Vec<ManagedFieldInput>,
    pub(crate) variants: Vec<ManagedVariantInput>,
}

pub(crate) struct ManagedFieldInput {
    pub(crate) field: Field,
    pub(crate) args: ManagedArgs,
    pub(crate) hints: field::SchemaHints,
}

pub(crate) struct ManagedVariantInput {
    pub(crate) variant: Variant,
    pub(crate) hints: field::SchemaHints,
}

/// Parses the item and the attributes of its fields or variants. Returns `None` after reporting a syntax error of the item.
pub(crate) fn read(item: TokenStream, diags: &mut Diags) -> Option<ManagedInput> {
    let item: DeriveInput =
        syn::parse2(item).map_err(|error| diags.syntax(&error, "derive `Managed` on a struct or an enum")).ok()?;
    let args = parse_args(&item.attrs, diags);
    let (fields, variants) = match &item.data {
        Data::Struct(data) => (data.fields.iter().map(|field| read_field(field, diags)).collect(), Vec::new()),
        Data::Enum(data) => (Vec::new(), data.variants.iter().map(|variant| read_variant(variant, diags)).collect()),
        // `check::managed` reports a union.
        Data::Union(_) => (Vec::new(), Vec::new()),
    };
    Some(ManagedInput { kube: kube::read(&item.attrs), hints: field::read(&item.attrs), args, fields, variants, item })
}

/// Reads a field of a struct: its `#[managed(...)]` keys and its schema hints. Reports `#[kube(...)]` on it, which has no effect.
fn read_field(field: &Field, diags: &mut Diags) -> ManagedFieldInput {
    reject_attribute(&field.attrs, "kube", diags);
    ManagedFieldInput { args: parse_args(&field.attrs, diags), hints: field::read(&field.attrs), field: field.clone() }
}

/// Reads a variant of an enum, and reports `kube` and `managed` attributes on the variant and on its fields, where they have no effect.
fn read_variant(variant: &Variant, diags: &mut Diags) -> ManagedVariantInput {
    let of_fields = match &variant.fields {
        Fields::Unit => None,
        fields => Some(fields.iter().flat_map(|field| &field.attrs)),
    };
    for attributes in [variant.attrs.clone(), of_fields.into_iter().flatten().cloned().collect()] {
        reject_attribute(&attributes, "kube", diags);
        reject_attribute(&attributes, "managed", diags);
    }
    ManagedVariantInput { hints: field::read(&variant.attrs), variant: variant.clone() }
}

/// Reports each attribute with the name `name` among the attributes of a field or variant, where it has no effect.
fn reject_attribute(attributes: &[Attribute], name: &str, diags: &mut Diags) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        diags.error(
            attribute.path(),
            format!("`#[{name}(...)]` has no effect here"),
            "move it above the item that derives `Managed`",
        );
    }
}

/// Parses all `#[managed(...)]` attributes of a struct or field. After reporting an unknown key or an invalid value, all values in the
/// result are the defaults.
fn parse_args(attributes: &[Attribute], diags: &mut Diags) -> ManagedArgs {
    const FIX: &str =
        "write `#[managed(finalizer = \"example.com/name\")]`, `pause = field`, `allow(...)` or `crate = \"path\"`";
    let mut items = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("managed")) {
        match attribute.parse_args_with(Punctuated::<NestedMeta, Token![,]>::parse_terminated) {
            Ok(more) if more.is_empty() => diags.error(attribute.path(), "`#[managed()]` has no options", "remove it"),
            Ok(more) => items.extend(more),
            Err(error) => diags.syntax(&error, FIX),
        }
    }
    // `#[versions(...)]` writes the key `versions` into generated code. darling doesn't know the key, so it is removed before.
    let count = items.len();
    items.retain(|item| !matches!(item, NestedMeta::Meta(Meta::Path(key)) if key.is_ident("versions")));
    let versions = items.len() < count;
    let keys = items.iter().filter_map(|item| match item {
        NestedMeta::Meta(meta) => Some(meta.path().clone()),
        _ => None,
    });
    let keys = keys.collect();
    let args = ManagedArgs::from_list(&items).unwrap_or_else(|error| {
        diags.darling(error, FIX);
        ManagedArgs::default()
    });
    ManagedArgs { keys, versions, ..args }
}
