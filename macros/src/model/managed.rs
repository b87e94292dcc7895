//! A managed kind: the facts of `#[kube(...)]` and `#[managed(...)]`, and the fields that decide its schema.

use super::kube::Kube;
use crate::{
    attrs::{
        field::Hints,
        managed::{Read, ReadField, ReadVariant},
    },
    paths::Paths,
};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Data, Fields, GenericArgument, Generics, LitStr, Path, PathArguments, PathSegment, Type};

pub(crate) struct Managed {
    pub(crate) paths: Paths,
    /// The struct the derive stands on.
    pub(crate) spec: Ident,
    pub(crate) generics: Generics,
    pub(crate) form: Form,
    /// `None` without any `#[kube(...)]`.
    pub(crate) kube: Option<Kube>,
    pub(crate) finalizer: Option<LitStr>,
    /// The field that `#[managed(pause = ...)]` names, whether there is one or not.
    pub(crate) pause_named: Option<Ident>,
    pub(crate) pause: Option<Pause>,
    pub(crate) allowed: Vec<Path>,
    /// Keys that belong on a field.
    pub(crate) misplaced: Vec<Path>,
    pub(crate) hints: Hints,
    pub(crate) fields: Vec<Field>,
}

pub(crate) enum Form {
    Named,
    Tuple,
    Unit,
    Enum(Vec<ReadVariant>),
    Union,
}

pub(crate) struct Pause {
    pub(crate) field: Ident,
    pub(crate) optional: bool,
}

pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// The name in JSON.
    pub(crate) name: String,
    pub(crate) hints: Hints,
    pub(crate) allowed: Vec<Path>,
    /// What `#[managed(reference = ...)]` names.
    pub(crate) reference: Option<Path>,
    /// The key `grant`, where it is given.
    pub(crate) grant: Option<Path>,
    /// Keys that belong above the struct.
    pub(crate) misplaced: Vec<Path>,
}

pub(crate) fn resolve(read: Read) -> Managed {
    let rename_all = read.hints.rename_all.as_ref().map(LitStr::value);
    let form = match read.item.data {
        Data::Struct(data) => match data.fields {
            Fields::Named(_) => Form::Named,
            Fields::Unnamed(_) => Form::Tuple,
            Fields::Unit => Form::Unit,
        },
        Data::Enum(_) => Form::Enum(read.variants),
        Data::Union(_) => Form::Union,
    };
    let fields: Vec<Field> =
        read.fields.into_iter().filter_map(|field| Field::resolve(field, rename_all.as_deref())).collect();
    let pause = pause(&fields, read.args.pause.as_ref());
    let misplaced =
        read.args.keys.iter().filter(|key| key.is_ident("reference") || key.is_ident("grant")).cloned().collect();
    Managed {
        paths: Paths::new(read.args.krate),
        spec: read.item.ident,
        generics: read.item.generics,
        form,
        kube: read.kube.map(Kube::from_entries),
        finalizer: read.args.finalizer,
        pause_named: read.args.pause,
        pause,
        allowed: read.args.allow.to_vec(),
        misplaced,
        hints: read.hints,
        fields,
    }
}

impl Managed {
    /// The name of the generated struct, if there can be one.
    pub(crate) fn root(&self) -> Option<Ident> {
        let kube = self.kube.as_ref()?;
        let ident: Ident = kube.root()?.parse().ok()?;
        // Without these kube's derive reports what is missing, and generates nothing.
        let complete = kube.group.is_some() && kube.version.is_some() && kube.kind.is_some();
        if !complete || matches!(self.form, Form::Union) || !self.generics.params.is_empty() {
            return None;
        }
        (ident != self.spec).then_some(ident)
    }
}

impl Field {
    fn resolve(read: ReadField, rename_all: Option<&str>) -> Option<Self> {
        let ident = read.field.ident?;
        let plain = ident.to_string().trim_start_matches("r#").to_owned();
        let renamed = read.hints.rename.as_ref().map(LitStr::value);
        let name = renamed.unwrap_or_else(|| renamed_by_rule(&plain, rename_all));
        let belongs = |key: &&Path| ["crate", "finalizer", "pause"].iter().any(|above| key.is_ident(above));
        let misplaced = read.args.keys.iter().filter(belongs).cloned().collect();
        let grant = read.args.keys.iter().find(|key| read.args.grant.is_present() && key.is_ident("grant")).cloned();
        Some(Self {
            ident,
            ty: read.field.ty,
            name,
            hints: read.hints,
            allowed: read.args.allow.to_vec(),
            reference: read.args.reference,
            grant,
            misplaced,
        })
    }
}

/// The last segment of a path type: `Option<bool>` of `::core::option::Option<bool>`.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// The types between the angle brackets of a segment.
pub(crate) fn type_arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

fn pause(fields: &[Field], named: Option<&Ident>) -> Option<Pause> {
    let field = fields.iter().find(|field| named.map_or(field.ident == "pause", |named| field.ident == *named))?;
    let optional = match field.ty.to_token_stream().to_string().as_str() {
        "bool" => false,
        "Option < bool >" => true,
        _ => return None,
    };
    Some(Pause { field: field.ident.clone(), optional })
}

/// serde's `rename_all` for a field in snake case.
fn renamed_by_rule(field: &str, rule: Option<&str>) -> String {
    let pascal = || field.split('_').map(capitalised).collect::<String>();
    match rule {
        Some("lowercase" | "snake_case") | None => field.to_owned(),
        Some("UPPERCASE" | "SCREAMING_SNAKE_CASE") => field.to_uppercase(),
        Some("PascalCase") => pascal(),
        Some("camelCase") => {
            let pascal = pascal();
            let mut chars = pascal.chars();
            chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
        }
        Some("kebab-case") => field.replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => field.to_uppercase().replace('_', "-"),
        Some(_) => field.to_owned(),
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
