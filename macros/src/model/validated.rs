//! Models a type with validation rules: its fields and the rules of its `#[valid(...)]`.

use super::json_name::{renamed_field, renamed_variant};
use crate::{
    attrs::{
        field::SchemaHints,
        validated::{RuleInput, ValidatedFieldInput, ValidatedInput, ValidatedVariantInput},
    },
    paths::Paths,
};
use proc_macro2::Ident;
use syn::{Data, Fields, Generics, Lit, LitStr, Meta, Path, Type, ext::IdentExt};

/// A type with validation rules.
pub(crate) struct Validated {
    pub(crate) paths: Paths,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) style: TypeStyle,
    /// The key of `#[serde(tag = ...)]`, `content` or `untagged`.
    pub(crate) tagging: Option<Meta>,
    /// The fields of the struct, or the variants of the enum with the type inside.
    pub(crate) fields: Vec<ValidatedField>,
    pub(crate) rules: Vec<Rule>,
}

/// The style of a type with validation rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeStyle {
    /// A struct with named fields.
    Struct,
    /// An enum: in JSON, a variant is an object with one field.
    Enum,
    /// A tuple struct, a unit struct or a union.
    Other,
}

/// A field of a type with validation rules.
pub(crate) struct ValidatedField {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// The name in JSON.
    pub(crate) name: String,
    pub(crate) hints: SchemaHints,
}

/// A rule.
pub(crate) struct Rule {
    pub(crate) key: Ident,
    /// The index of the field with the rule; `None` for a rule of the struct.
    pub(crate) field: Option<usize>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) message: Option<LitStr>,
}

/// A field that a rule names, perhaps with a value.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    /// The index of the field; `None` if the type has no such field. The key in `unique(key)` is a field of another type.
    pub(crate) field: Option<usize>,
    pub(crate) value: Option<Lit>,
}

/// Converts the parsed input of `#[derive(Validated)]` to the model of a type with rules. `krate` is the path of opgen in
/// `#[managed(crate = ...)]`, which applies if `#[valid(...)]` sets no path.
pub(crate) fn resolve(input: ValidatedInput, krate: Option<Path>) -> Validated {
    let style = match &input.item.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) => TypeStyle::Struct,
        Data::Enum(_) => TypeStyle::Enum,
        _ => TypeStyle::Other,
    };
    let rename_all = input.hints.rename_all.as_ref().map(LitStr::value);
    let mut fields = Vec::new();
    let mut of_fields = Vec::new();
    for ValidatedFieldInput { field, args, hints } in input.fields {
        let Some(ident) = field.ident else { continue };
        let renamed = hints.rename.as_ref().map(LitStr::value);
        let name = renamed.unwrap_or_else(|| renamed_field(&ident.unraw().to_string(), rename_all.as_deref()));
        of_fields.extend(args.rules.into_iter().map(|rule| (Some(fields.len()), rule)));
        fields.push(ValidatedField { ident, ty: field.ty, name, hints });
    }
    for ValidatedVariantInput { ident, ty, hints } in input.variants {
        let renamed = hints.rename.as_ref().map(LitStr::value);
        let name = renamed.unwrap_or_else(|| renamed_variant(&ident.unraw().to_string(), rename_all.as_deref()));
        fields.push(ValidatedField { ident, ty, name, hints });
    }
    let of_struct = input.args.rules.into_iter().map(|rule| (None, rule));
    let rules =
        of_fields.into_iter().chain(of_struct).map(|(field, rule)| Rule::resolve(field, rule, &fields)).collect();
    Validated {
        paths: Paths::new(input.args.krate.or(krate)),
        ident: input.item.ident,
        generics: input.item.generics,
        style,
        tagging: input.hints.tagging,
        fields,
        rules,
    }
}

impl Rule {
    /// Converts a parsed rule, and looks up the fields that its arguments name. `field` is the index of the field with the rule; `None` for
    /// a rule of the struct.
    fn resolve(field: Option<usize>, input: RuleInput, fields: &[ValidatedField]) -> Self {
        let index_of = |ident: &Ident| fields.iter().position(|field| field.ident.unraw() == ident.unraw());
        let arguments = input.arguments.into_iter();
        let arguments = arguments
            .map(|argument| Argument { field: index_of(&argument.field), ident: argument.field, value: argument.value })
            .collect();
        Self { key: input.key, field, arguments, message: input.message }
    }
}
