//! Models a managed kind: its `#[kube(...)]` and `#[managed(...)]` settings and the fields of its spec.

use super::{bucket::Bucket, json_name::renamed_field, kube::Kube};
use crate::{
    attrs::{
        field::SchemaHints,
        managed::{ManagedFieldInput, ManagedInput, ManagedVariantInput},
    },
    paths::Paths,
};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Data, Fields, Generics, LitStr, Path, Type};

/// A kind that an operator manages.
pub(crate) struct Managed {
    pub(crate) paths: Paths,
    /// The type that derives `Managed`.
    pub(crate) spec: Ident,
    pub(crate) generics: Generics,
    pub(crate) style: SpecStyle,
    /// `None` without any `#[kube(...)]`.
    pub(crate) kube: Option<Kube>,
    pub(crate) finalizer: Option<LitStr>,
    /// The bucket that keeps the objects; `None` for a kind in Kubernetes.
    pub(crate) bucket: Option<Bucket>,
    /// Whether the kind has several versions (`#[versions(...)]`).
    pub(crate) has_versions: bool,
    /// The identifier in `#[managed(pause = ...)]`, even if no such field exists.
    pub(crate) pause_ident: Option<Ident>,
    pub(crate) pause: Option<Pause>,
    pub(crate) allowed_warnings: Vec<Path>,
    /// Keys on the struct that belong on a field.
    pub(crate) misplaced_keys: Vec<Path>,
    pub(crate) hints: SchemaHints,
    pub(crate) fields: Vec<Field>,
}

/// The style of the type that is the spec.
pub(crate) enum SpecStyle {
    Named,
    Tuple,
    Unit,
    Enum(Vec<ManagedVariantInput>),
    Union,
}

/// The field that pauses reconciliation.
pub(crate) struct Pause {
    pub(crate) field: Ident,
    /// Whether its type is `Option<bool>`.
    pub(crate) optional: bool,
}

/// A field of the spec.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// The name in JSON.
    pub(crate) name: String,
    pub(crate) hints: SchemaHints,
    pub(crate) allowed_warnings: Vec<Path>,
    /// The kind in `#[managed(reference = ...)]`.
    pub(crate) reference: Option<Path>,
    /// The key `grant`, if present.
    pub(crate) grant: Option<Path>,
    /// Keys on the field that belong on the struct.
    pub(crate) misplaced_keys: Vec<Path>,
}

/// Converts the parsed input of `#[derive(Managed)]` to the model of a managed kind. Reports nothing: keys on the wrong item are collected
/// for the stage `check`.
pub(crate) fn resolve(input: ManagedInput) -> Managed {
    let rename_all = input.hints.rename_all.as_ref().map(LitStr::value);
    let style = match input.item.data {
        Data::Struct(data) => match data.fields {
            Fields::Named(_) => SpecStyle::Named,
            Fields::Unnamed(_) => SpecStyle::Tuple,
            Fields::Unit => SpecStyle::Unit,
        },
        Data::Enum(_) => SpecStyle::Enum(input.variants),
        Data::Union(_) => SpecStyle::Union,
    };
    let fields: Vec<Field> =
        input.fields.into_iter().filter_map(|field| Field::resolve(field, rename_all.as_deref())).collect();
    let pause = find_pause(&fields, input.args.pause.as_ref());
    let bucket_key = input.args.keys.iter().find(|key| key.is_ident("nats")).cloned();
    let misplaced_keys =
        input.args.keys.iter().filter(|key| key.is_ident("reference") || key.is_ident("grant")).cloned().collect();
    Managed {
        paths: Paths::new(input.args.krate),
        spec: input.item.ident,
        generics: input.item.generics,
        style,
        kube: input.kube.map(Kube::from_entries),
        finalizer: input.args.finalizer,
        bucket: bucket_key.zip(input.args.nats).map(|(key, args)| Bucket::new(key, args)),
        has_versions: input.args.versions,
        pause_ident: input.args.pause,
        pause,
        allowed_warnings: input.args.allow.to_vec(),
        misplaced_keys,
        hints: input.hints,
        fields,
    }
}

impl Managed {
    /// Returns whether the spec can have validation rules (`#[valid(...)]`): it is a struct with named fields and without generics.
    pub(crate) fn can_have_rules(&self) -> bool {
        matches!(self.style, SpecStyle::Named) && self.generics.params.is_empty()
    }

    /// Returns the name of the struct that kube's derive generates for the object. Returns `None` if the derive generates no struct because
    /// of an error, or if the struct would have the name of the spec.
    pub(crate) fn root(&self) -> Option<Ident> {
        let kube = self.kube.as_ref()?;
        let ident: Ident = kube.root()?.parse().ok()?;
        // Without these keys kube's derive reports an error and generates nothing.
        let complete = kube.group.is_some() && kube.version.is_some() && kube.kind.is_some();
        if !complete || matches!(self.style, SpecStyle::Union) || !self.generics.params.is_empty() {
            return None;
        }
        (ident != self.spec).then_some(ident)
    }
}

impl Field {
    /// Converts a parsed field of the spec to the model, with its name in JSON. Returns `None` for a field of a tuple struct.
    fn resolve(input: ManagedFieldInput, rename_all: Option<&str>) -> Option<Self> {
        let ident = input.field.ident?;
        let unraw = ident.to_string().trim_start_matches("r#").to_owned();
        let renamed = input.hints.rename.as_ref().map(LitStr::value);
        let name = renamed.unwrap_or_else(|| renamed_field(&unraw, rename_all));
        let belongs_on_struct =
            |key: &&Path| ["crate", "finalizer", "nats", "pause"].iter().any(|struct_key| key.is_ident(struct_key));
        let misplaced_keys = input.args.keys.iter().filter(belongs_on_struct).cloned().collect();
        let grant = input.args.keys.iter().find(|key| input.args.grant.is_present() && key.is_ident("grant")).cloned();
        Some(Self {
            ident,
            ty: input.field.ty,
            name,
            hints: input.hints,
            allowed_warnings: input.args.allow.to_vec(),
            reference: input.args.reference,
            grant,
            misplaced_keys,
        })
    }
}

/// Finds the field that pauses reconciliation: the field `named`, if the user names one, otherwise the field `pause`. Returns `None` if the
/// field does not exist or its type is neither `bool` nor `Option<bool>`.
fn find_pause(fields: &[Field], named: Option<&Ident>) -> Option<Pause> {
    let field = fields.iter().find(|field| named.map_or(field.ident == "pause", |named| field.ident == *named))?;
    let optional = match field.ty.to_token_stream().to_string().as_str() {
        "bool" => false,
        // The text of a token stream has a space between any two tokens.
        "Option < bool >" => true,
        _ => return None,
    };
    Some(Pause { field: field.ident.clone(), optional })
}
