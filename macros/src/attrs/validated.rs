//! Parses the input of `#[derive(Validated)]`: the struct and its `valid`, `serde` and schema attributes.

use super::field;
use crate::diag::Diags;
use proc_macro2::TokenStream;
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, Ident, Lit, LitInt, LitStr, Path, Token, Type, Variant,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    token::Paren,
};

/// The struct that derives `Validated`, with its attributes.
pub(crate) struct ValidatedInput {
    pub(crate) item: DeriveInput,
    pub(crate) args: ValidArgs,
    pub(crate) hints: field::SchemaHints,
    pub(crate) fields: Vec<ValidatedFieldInput>,
    /// The variants of an enum that contain one type.
    pub(crate) variants: Vec<ValidatedVariantInput>,
}

/// A variant that contains one type.
pub(crate) struct ValidatedVariantInput {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) hints: field::SchemaHints,
}

pub(crate) struct ValidatedFieldInput {
    pub(crate) field: Field,
    pub(crate) args: ValidArgs,
    pub(crate) hints: field::SchemaHints,
}

/// The content of all `#[valid(...)]` of a struct or field.
#[derive(Default)]
pub(crate) struct ValidArgs {
    /// `crate = "path"`.
    pub(crate) krate: Option<Path>,
    pub(crate) rules: Vec<RuleInput>,
}

/// A rule, for example `required_if(mode = "Public", message = "a public service needs a host")`.
pub(crate) struct RuleInput {
    pub(crate) key: Ident,
    pub(crate) arguments: Vec<RuleArgument>,
    pub(crate) message: Option<LitStr>,
}

/// A field that a rule names, for example `max`, or a field with a value, for example `mode = "Public"`.
pub(crate) struct RuleArgument {
    pub(crate) field: Ident,
    pub(crate) value: Option<Lit>,
}

/// Parses the item that derives `Validated`, and the attributes of its fields or variants. Reports `#[valid(...)]` on a variant or on a
/// field of one, where it has no effect. Returns `None` after reporting a syntax error of the item.
pub(crate) fn read(item: TokenStream, diags: &mut Diags) -> Option<ValidatedInput> {
    let item: DeriveInput =
        syn::parse2(item).map_err(|error| diags.syntax(&error, "derive `Validated` on a struct or an enum")).ok()?;
    let args = parse_args(&item.attrs, diags);
    let (fields, variants) = match &item.data {
        Data::Struct(data) => (data.fields.iter().map(|field| read_field(field, diags)).collect(), Vec::new()),
        Data::Enum(data) => {
            let of_fields = data.variants.iter().flat_map(|variant| &variant.fields).flat_map(|field| &field.attrs);
            let attributes = data.variants.iter().flat_map(|variant| &variant.attrs).chain(of_fields);
            attributes.filter(|attribute| attribute.path().is_ident("valid")).for_each(|attribute| {
                let fix = "write the rule in a struct, and make it the content of the variant";
                diags.error(attribute.path(), "`#[valid(...)]` has no effect here", fix);
            });
            (Vec::new(), data.variants.iter().filter_map(read_variant).collect())
        }
        Data::Union(_) => (Vec::new(), Vec::new()),
    };
    Some(ValidatedInput { hints: field::read(&item.attrs), args, fields, variants, item })
}

/// Reads a variant that contains one type, such as `Disk(DiskSpec)`. Returns `None` for a variant without fields, with several fields or
/// with named fields: rules are only supported in the one type that a variant contains.
fn read_variant(variant: &Variant) -> Option<ValidatedVariantInput> {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Some(ValidatedVariantInput {
            ident: variant.ident.clone(),
            ty: fields.unnamed.first()?.ty.clone(),
            hints: field::read(&variant.attrs),
        }),
        _ => None,
    }
}

/// Reads a field of a struct: its `#[valid(...)]` rules and its schema hints.
fn read_field(field: &Field, diags: &mut Diags) -> ValidatedFieldInput {
    ValidatedFieldInput {
        args: parse_args(&field.attrs, diags),
        hints: field::read(&field.attrs),
        field: field.clone(),
    }
}

/// Parses all `#[valid(...)]` attributes of a struct or field. Ignores an attribute after reporting its syntax error.
fn parse_args(attributes: &[Attribute], diags: &mut Diags) -> ValidArgs {
    const FIX: &str = "write a rule, for example `#[valid(immutable)]` or `#[valid(required_if(mode = \"Public\"))]`";
    let mut args = ValidArgs::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("valid")) {
        match attribute.parse_args_with(Punctuated::<ValidEntry, Token![,]>::parse_terminated) {
            Ok(entries) if entries.is_empty() => {
                diags.error(attribute.path(), "`#[valid()]` has no rules", "remove it, or add a rule");
            }
            Ok(entries) => entries.into_iter().for_each(|entry| match entry {
                ValidEntry::Crate(path) => args.krate = Some(path),
                ValidEntry::Rule(rule) => args.rules.push(rule),
            }),
            Err(error) => diags.syntax(&error, FIX),
        }
    }
    args
}

/// One entry of `#[valid(...)]`.
enum ValidEntry {
    Crate(Path),
    Rule(RuleInput),
}

impl Parse for ValidEntry {
    /// Parses `crate = "path"`, or a rule such as `immutable` or `at_most(max)`.
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected a rule"));
        }
        let key = input.call(Ident::parse_any)?;
        if key == "crate" {
            input.parse::<Token![=]>()?;
            return Ok(Self::Crate(input.parse::<LitStr>()?.parse()?));
        }
        let mut rule = RuleInput { key, arguments: Vec::new(), message: None };
        if input.peek(Paren) {
            let inside;
            parenthesized!(inside in input);
            rule.parse_arguments(&inside)?;
        }
        Ok(Self::Rule(rule))
    }
}

impl RuleInput {
    /// Parses the arguments of the rule: the fields that it names, and `message = "..."`, which must be the last argument.
    fn parse_arguments(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        for argument in Punctuated::<RuleArgument, Token![,]>::parse_terminated(input)? {
            if let Some(message) = &self.message {
                return Err(syn::Error::new(message.span(), "`message` is not the last argument"));
            }
            // A field may have the name `message`: the first argument of a rule with a condition is its condition.
            let is_condition =
                self.arguments.is_empty() && ["required_if", "forbidden_if"].iter().any(|key| self.key == key);
            match argument {
                RuleArgument { field, value: Some(Lit::Str(text)) } if field == "message" && !is_condition => {
                    self.message = Some(text);
                }
                argument => self.arguments.push(argument),
            }
        }
        Ok(())
    }
}

impl Parse for RuleArgument {
    /// Parses the name of a field, alone or with a value: `max` or `mode = "Public"`.
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let field = input.call(Ident::parse_any)?;
        let value = input.parse::<Option<Token![=]>>()?.map(|_| parse_value(input)).transpose()?;
        Ok(Self { field, value })
    }
}

/// Parses a literal. A minus is allowed before an integer.
fn parse_value(input: ParseStream<'_>) -> syn::Result<Lit> {
    if input.parse::<Option<Token![-]>>()?.is_none() {
        return input.parse();
    }
    let number: LitInt = input.parse()?;
    Ok(Lit::Int(LitInt::new(&format!("-{}", number.base10_digits()), number.span())))
}
