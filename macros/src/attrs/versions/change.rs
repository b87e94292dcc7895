//! Parses the changes in `#[version(...)]`, such as `added` or `renamed`, and their arguments.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{
    Attribute, Expr, Token, Type,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    token::Paren,
};

use crate::diag::{Diags, syntax_error};

const CHANGES: [&str; 6] = ["added", "removed", "renamed", "retyped", "moved", "replaced"];

/// One change, for example `renamed(v1, from = size)`.
#[derive(Clone)]
pub(crate) struct ChangeInput {
    pub(crate) key: Ident,
    pub(crate) version: Ident,
    pub(crate) arguments: Vec<ChangeArgument>,
}

/// An argument of a change.
#[derive(Clone)]
pub(crate) struct ChangeArgument {
    pub(crate) name: Ident,
    pub(crate) value: ChangeValue,
}

/// The value of an argument.
#[derive(Clone)]
pub(crate) enum ChangeValue {
    /// `default = 3`, `instead = Other`.
    Expression(Expr),
    /// `from = size` and `from = network.port`.
    Path(Vec<Ident>),
    /// `from = u32` of `retyped`.
    Type(Type),
    /// `up = path`, and `down = |value| value + 1`.
    Function(Expr),
    /// `from(a)` and `to(b, c)` of `replaced`.
    Fields(Vec<Ident>),
    /// `moved` of `removed`.
    Flag,
}

/// Removes all `#[version(...)]` from `attributes`, and returns the changes that they list. Ignores an attribute after reporting its syntax
/// error.
pub(super) fn take_changes(attributes: &mut Vec<Attribute>, diags: &mut Diags) -> Vec<ChangeInput> {
    const FIX: &str = "write a change, for example `#[version(added(v1, default = 3))]`, or `renamed(v1, from = size)`";
    let (of_versions, others): (Vec<_>, Vec<_>) =
        std::mem::take(attributes).into_iter().partition(|attribute| attribute.path().is_ident("version"));
    *attributes = others;
    let mut changes = Vec::new();
    for attribute in of_versions {
        match attribute.parse_args_with(Punctuated::<ChangeInput, Token![,]>::parse_terminated) {
            Ok(parsed) if parsed.is_empty() => {
                diags.error(attribute.path(), "`#[version()]` has no changes", "remove it, or add a change");
            }
            Ok(parsed) => changes.extend(parsed),
            Err(error) => diags.syntax(&error, FIX),
        }
    }
    changes
}

impl Parse for ChangeInput {
    /// Parses a change: its key, and in parentheses its version and arguments, as in `renamed(v1, from = size)`. An unknown key with
    /// parentheses is parsed, too; a later check reports it.
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected a change"));
        }
        let key = input.call(Ident::parse_any)?;
        if !CHANGES.iter().any(|change| key == change) && !input.peek(Paren) {
            return Err(syn::Error::new(key.span(), format!("`{key}` is not a change")));
        }
        let no_version = || {
            syntax_error(
                key.span(),
                &format!("`{key}` names no version"),
                &format!("write `{key}(v1)`, with its arguments"),
            )
        };
        if !input.peek(Paren) {
            return Err(no_version());
        }
        let inside;
        parenthesized!(inside in input);
        // `from = size` or `from(a)` in the place of the version is an argument.
        if !inside.peek(Ident::peek_any) || inside.peek2(Token![=]) || inside.peek2(Paren) {
            return Err(no_version());
        }
        let version = inside.call(Ident::parse_any)?;
        let mut arguments = Vec::new();
        while !inside.is_empty() {
            inside.parse::<Token![,]>()?;
            if !inside.is_empty() {
                arguments.push(ChangeArgument::parse(&key, &inside)?);
            }
        }
        Ok(Self { key, version, arguments })
    }
}

/// Parses the name of a field or variant. A keyword becomes a raw identifier (`type` becomes `r#type`), and words that can't be raw
/// identifiers, such as `self`, are errors.
fn parse_name(input: ParseStream<'_>) -> syn::Result<Ident> {
    let span = input.span();
    let name = input.call(Ident::parse_any).map_err(|_| syn::Error::new(span, "expected a name"))?;
    if ["self", "Self", "super", "crate", "_"].iter().any(|keyword| name == keyword) {
        return Err(syn::Error::new(span, format!("`{name}` is not a name")));
    }
    let is_keyword = syn::parse2::<Ident>(name.to_token_stream()).is_err();
    Ok(if is_keyword { Ident::new_raw(&name.to_string(), span) } else { name })
}

impl ChangeArgument {
    /// Parses an argument with its value, such as `from = size`. `change` is the key of the change, such as `renamed`.
    fn parse(change: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error(format!("expected an argument of `{change}`")));
        }
        let name = input.call(Ident::parse_any)?;
        let value = Self::parse_value(change, &name, input)?;
        Ok(Self { name, value })
    }

    /// Parses the value after the name of an argument: fields in parentheses, a value after `=`, or nothing. After `=`, the argument `from`
    /// has a type in the change `retyped` and a path of fields in other changes; `up` and `down` have a function.
    fn parse_value(change: &Ident, name: &Ident, input: ParseStream<'_>) -> syn::Result<ChangeValue> {
        if input.peek(Paren) {
            let inside;
            parenthesized!(inside in input);
            let fields = Punctuated::<Ident, Token![,]>::parse_terminated_with(&inside, parse_name)?;
            return Ok(ChangeValue::Fields(fields.into_iter().collect()));
        }
        if input.parse::<Option<Token![=]>>()?.is_none() {
            return Ok(ChangeValue::Flag);
        }
        match name.to_string().as_str() {
            "from" if change == "retyped" => Ok(ChangeValue::Type(input.parse()?)),
            "from" => {
                let path = Punctuated::<Ident, Token![.]>::parse_separated_nonempty_with(input, parse_name)?;
                Ok(ChangeValue::Path(path.into_iter().collect()))
            }
            key => match input.parse()? {
                function @ (Expr::Path(_) | Expr::Closure(_)) if matches!(key, "up" | "down") => {
                    Ok(ChangeValue::Function(function))
                }
                value => Ok(ChangeValue::Expression(value)),
            },
        }
    }
}

impl ChangeInput {
    /// Returns the argument with the name `name`.
    pub(crate) fn argument(&self, name: &str) -> Option<&ChangeArgument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }

    /// Returns the expression in `default = ...` or `instead = ...`; `None` if the change has neither argument.
    pub(crate) fn value(&self) -> Option<&Expr> {
        self.arguments.iter().find_map(|argument| match &argument.value {
            ChangeValue::Expression(value) if argument.name == "default" || argument.name == "instead" => Some(value),
            _ => None,
        })
    }

    /// Returns the path of the former field in `from = network.port`; `None` if `from` is missing or has another form.
    pub(crate) fn from(&self) -> Option<&[Ident]> {
        match &self.argument("from")?.value {
            ChangeValue::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the former type in `from = u32`; `None` if `from` is missing or is no type.
    pub(crate) fn former_type(&self) -> Option<&Type> {
        match &self.argument("from")?.value {
            ChangeValue::Type(ty) => Some(ty),
            _ => None,
        }
    }

    /// Returns the function or closure in `up = ...` or `down = ...`; `name` is `up` or `down`.
    pub(crate) fn function(&self, name: &str) -> Option<&Expr> {
        match &self.argument(name)?.value {
            ChangeValue::Function(function) => Some(function),
            _ => None,
        }
    }

    /// Returns the names of the fields in `from(...)` or `to(...)`; `name` is `from` or `to`.
    pub(crate) fn fields(&self, name: &str) -> Option<&[Ident]> {
        match &self.argument(name)?.value {
            ChangeValue::Fields(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns whether this is `removed(..., moved)`: the field moves to another one.
    pub(crate) fn is_removed_by_move(&self) -> bool {
        self.argument("moved").is_some_and(|argument| matches!(argument.value, ChangeValue::Flag))
    }
}
