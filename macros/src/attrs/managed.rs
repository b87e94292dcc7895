//! `#[derive(Managed)]` as written.

use super::{field, kube};
use crate::diag::Diags;
use darling::{
    FromMeta,
    ast::NestedMeta,
    util::{Flag, PathList},
};
use proc_macro2::TokenStream;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Ident, LitStr, Path, Token, Variant, punctuated::Punctuated};

/// `#[managed(...)]`, on a struct or a field; which key belongs where is decided later.
#[derive(Default, FromMeta)]
pub(crate) struct Args {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) finalizer: Option<LitStr>,
    pub(crate) pause: Option<Ident>,
    #[darling(default)]
    pub(crate) allow: PathList,
    pub(crate) reference: Option<Path>,
    pub(crate) grant: Flag,
    /// The keys in the order written, for messages that ask to remove one.
    #[darling(skip)]
    pub(crate) keys: Vec<Path>,
}

pub(crate) struct Read {
    pub(crate) item: DeriveInput,
    pub(crate) args: Args,
    /// `None` without any `#[kube(...)]`.
    pub(crate) kube: Option<Vec<kube::Entry>>,
    pub(crate) hints: field::Hints,
    pub(crate) fields: Vec<ReadField>,
    pub(crate) variants: Vec<ReadVariant>,
}

pub(crate) struct ReadField {
    pub(crate) field: Field,
    pub(crate) args: Args,
    pub(crate) hints: field::Hints,
}

pub(crate) struct ReadVariant {
    pub(crate) variant: Variant,
    pub(crate) hints: field::Hints,
}

pub(crate) fn read(item: TokenStream, diags: &mut Diags) -> Option<Read> {
    let item: DeriveInput =
        syn::parse2(item).map_err(|error| diags.syntax(&error, "derive `Managed` on a struct")).ok()?;
    let args = args(&item.attrs, diags);
    let (fields, variants) = match &item.data {
        Data::Struct(data) => (data.fields.iter().map(|field| read_field(field, diags)).collect(), Vec::new()),
        Data::Enum(data) => (Vec::new(), data.variants.iter().map(|variant| read_variant(variant, diags)).collect()),
        Data::Union(_) => (Vec::new(), Vec::new()),
    };
    Some(Read { kube: kube::read(&item.attrs), hints: field::read(&item.attrs), args, fields, variants, item })
}

fn read_field(field: &Field, diags: &mut Diags) -> ReadField {
    misplaced(&field.attrs, "kube", diags);
    ReadField { args: args(&field.attrs, diags), hints: field::read(&field.attrs), field: field.clone() }
}

fn read_variant(variant: &Variant, diags: &mut Diags) -> ReadVariant {
    let inner = match &variant.fields {
        Fields::Unit => None,
        fields => Some(fields.iter().flat_map(|field| &field.attrs)),
    };
    for attributes in [variant.attrs.clone(), inner.into_iter().flatten().cloned().collect()] {
        misplaced(&attributes, "kube", diags);
        misplaced(&attributes, "managed", diags);
    }
    ReadVariant { hints: field::read(&variant.attrs), variant: variant.clone() }
}

fn misplaced(attributes: &[Attribute], name: &str, diags: &mut Diags) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        diags.error(
            attribute.path(),
            format!("`#[{name}(...)]` does nothing here"),
            "move it above the item that derives `Managed`",
        );
    }
}

fn args(attributes: &[Attribute], diags: &mut Diags) -> Args {
    const FIX: &str =
        "write `#[managed(finalizer = \"example.com/name\")]`, `pause = field`, `allow(...)` or `crate = \"path\"`";
    let mut items = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("managed")) {
        match attribute.parse_args_with(Punctuated::<NestedMeta, Token![,]>::parse_terminated) {
            Ok(more) if more.is_empty() => diags.error(attribute.path(), "`#[managed()]` says nothing", "remove it"),
            Ok(more) => items.extend(more),
            Err(error) => diags.syntax(&error, FIX),
        }
    }
    let keys = items.iter().filter_map(|item| match item {
        NestedMeta::Meta(meta) => Some(meta.path().clone()),
        _ => None,
    });
    let keys = keys.collect();
    let args = Args::from_list(&items).unwrap_or_else(|error| {
        diags.darling(error, FIX);
        Args::default()
    });
    Args { keys, ..args }
}
