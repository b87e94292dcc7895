//! Parses the input of `#[versions(...)]`: the versions, the items of the module, and their `#[version(...)]`.

use super::field::{self, SchemaHints};
use crate::diag::Diags;
use proc_macro2::{Ident, TokenStream};
use syn::{
    Attribute, Expr, Field, Fields, Item, ItemMod, LitStr, Path, Token, Type, Variant, Visibility,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
    token::Paren,
};

/// The module with its versions.
pub(crate) struct VersionsInput {
    pub(crate) krate: Option<Path>,
    /// The versions, as written.
    pub(crate) versions: Vec<VersionInput>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    /// The other attributes of the module.
    pub(crate) attributes: Vec<Attribute>,
    /// The structs and enums.
    pub(crate) types: Vec<TypeInput>,
    /// All other items.
    pub(crate) others: Vec<Item>,
}

/// One version: `v1`, or `v1beta1(deprecated = "use v1", not_served)`.
pub(crate) struct VersionInput {
    pub(crate) name: Ident,
    pub(crate) deprecated: bool,
    /// The text of the warning.
    pub(crate) warning: Option<LitStr>,
    pub(crate) not_served: Option<Ident>,
    pub(crate) stored: Option<Ident>,
}

/// A struct or enum of the module, without its `#[version(...)]`.
pub(crate) struct TypeInput {
    pub(crate) item: Item,
    pub(crate) hints: SchemaHints,
    pub(crate) changes: Vec<ChangeInput>,
    /// The changes of the fields or variants, in their order.
    pub(crate) members: Vec<MemberInput>,
}

/// A named field of a struct, or a variant of an enum.
pub(crate) struct MemberInput {
    pub(crate) hints: SchemaHints,
    pub(crate) changes: Vec<ChangeInput>,
}

/// One change, for example `renamed(v1, from = size)`.
pub(crate) struct ChangeInput {
    pub(crate) key: Ident,
    pub(crate) version: Ident,
    pub(crate) arguments: Vec<ChangeArgument>,
}

/// An argument of a change.
pub(crate) enum ChangeArgument {
    /// `default = 3`, `instead = Other`.
    Value(Ident, Expr),
    /// `from = size` and `from = network.port`.
    From(Ident, Vec<Ident>),
    /// `from = u32` of `retyped`.
    FromType(Ident, Type),
    /// `up = path` and `down = path`.
    Function(Ident, Path),
    /// `from(a)` and `to(b, c)` of `replaced`.
    Fields(Ident, Vec<Ident>),
    /// `moved` of `removed`.
    Flag(Ident),
}

impl ChangeArgument {
    /// Returns the name of the argument.
    pub(crate) fn name(&self) -> &Ident {
        match self {
            Self::Value(name, _)
            | Self::From(name, _)
            | Self::FromType(name, _)
            | Self::Function(name, _)
            | Self::Fields(name, _)
            | Self::Flag(name) => name,
        }
    }
}

/// Parses the arguments of the attribute and the module. Returns `None` after reporting a syntax error of one of both.
pub(crate) fn read(args: TokenStream, item: TokenStream, diags: &mut Diags) -> Option<VersionsInput> {
    const FIX: &str = "name the versions, the oldest first: `#[versions(v1alpha1, v1beta1, v1)]`";
    let entries = Punctuated::<Entry, Token![,]>::parse_terminated.parse2(args);
    let entries = entries.map_err(|error| diags.syntax(&error, FIX));
    let module: Result<ItemMod, ()> =
        syn::parse2(item).map_err(|error| diags.syntax(&error, "write `#[versions(...)]` above a module"));
    let (entries, module) = (entries.ok()?, module.ok()?);
    let Some((_, items)) = module.content else {
        diags.error(&module.ident, "the module has its items in another file", "write the items in braces here");
        return None;
    };
    let mut input = VersionsInput {
        krate: None,
        versions: Vec::new(),
        visibility: module.vis,
        name: module.ident,
        attributes: module.attrs,
        types: Vec::new(),
        others: Vec::new(),
    };
    for entry in entries {
        match entry {
            Entry::Crate(path) => input.krate = Some(path),
            Entry::Version(version) => input.versions.push(*version),
        }
    }
    for item in items {
        match item {
            Item::Struct(_) | Item::Enum(_) => input.types.push(read_type(item, diags)),
            item => input.others.push(item),
        }
    }
    Some(input)
}

fn read_type(mut item: Item, diags: &mut Diags) -> TypeInput {
    let (attributes, members) = match &mut item {
        Item::Struct(item) => {
            let members = match &mut item.fields {
                Fields::Named(fields) => fields.named.iter_mut().map(|field| read_field(field, diags)).collect(),
                fields => {
                    fields.iter_mut().for_each(|field| reject_changes(&mut field.attrs, diags));
                    Vec::new()
                }
            };
            (&mut item.attrs, members)
        }
        Item::Enum(item) => {
            let members = item.variants.iter_mut().map(|variant| read_variant(variant, diags)).collect();
            (&mut item.attrs, members)
        }
        // `read` calls this for structs and enums only.
        _ => return TypeInput { item, hints: SchemaHints::default(), changes: Vec::new(), members: Vec::new() },
    };
    let changes = take_changes(attributes, diags);
    let hints = field::read(attributes);
    TypeInput { hints, changes, members, item }
}

fn read_field(field: &mut Field, diags: &mut Diags) -> MemberInput {
    MemberInput { changes: take_changes(&mut field.attrs, diags), hints: field::read(&field.attrs) }
}

fn read_variant(variant: &mut Variant, diags: &mut Diags) -> MemberInput {
    variant.fields.iter_mut().for_each(|field| reject_changes(&mut field.attrs, diags));
    MemberInput { changes: take_changes(&mut variant.attrs, diags), hints: field::read(&variant.attrs) }
}

/// Reports changes of a field that has no name of its own.
fn reject_changes(attributes: &mut Vec<Attribute>, diags: &mut Diags) {
    for change in take_changes(attributes, diags) {
        let fix = "move the field to a struct with named fields, and make that struct the content";
        diags.error(change.key, "only the named fields of a struct have a history", fix);
    }
}

/// Removes and parses all `#[version(...)]`. Skips an attribute after reporting its syntax error.
fn take_changes(attributes: &mut Vec<Attribute>, diags: &mut Diags) -> Vec<ChangeInput> {
    const FIX: &str = "write a change, for example `#[version(added(v1, default = 3))]`, or `renamed(v1, from = size)`";
    let (of_versions, others) =
        std::mem::take(attributes).into_iter().partition(|attribute: &Attribute| attribute.path().is_ident("version"));
    *attributes = others;
    let mut changes = Vec::new();
    for attribute in Vec::<Attribute>::from_iter(of_versions) {
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

/// One entry of `#[versions(...)]`.
enum Entry {
    Crate(Path),
    Version(Box<VersionInput>),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?;
        if name == "crate" {
            input.parse::<Token![=]>()?;
            return Ok(Self::Crate(input.parse::<LitStr>()?.parse()?));
        }
        let mut version = VersionInput { name, deprecated: false, warning: None, not_served: None, stored: None };
        if input.peek(Paren) {
            let inside;
            parenthesized!(inside in input);
            while !inside.is_empty() {
                version.parse_option(&inside)?;
                if !inside.is_empty() {
                    inside.parse::<Token![,]>()?;
                }
            }
        }
        Ok(Self::Version(Box::new(version)))
    }
}

impl VersionInput {
    fn parse_option(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let key = input.call(Ident::parse_any)?;
        match key.to_string().as_str() {
            "deprecated" => {
                self.deprecated = true;
                self.warning = input.parse::<Option<Token![=]>>()?.map(|_| input.parse()).transpose()?;
            }
            "not_served" => self.not_served = Some(key),
            "stored" => self.stored = Some(key),
            _ => {
                let problem = "a version has the options `deprecated`, `not_served` and `stored`";
                return Err(syn::Error::new(key.span(), problem));
            }
        }
        Ok(())
    }
}

impl Parse for ChangeInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let inside;
        parenthesized!(inside in input);
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

impl ChangeArgument {
    /// Parses an argument of the change `change`.
    fn parse(change: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?;
        if input.peek(Paren) {
            let inside;
            parenthesized!(inside in input);
            let fields = Punctuated::<Ident, Token![,]>::parse_terminated_with(&inside, Ident::parse_any)?;
            return Ok(Self::Fields(name, fields.into_iter().collect()));
        }
        if input.parse::<Option<Token![=]>>()?.is_none() {
            return Ok(Self::Flag(name));
        }
        match name.to_string().as_str() {
            "up" | "down" => Ok(Self::Function(name, input.parse()?)),
            "from" if change == "retyped" => Ok(Self::FromType(name, input.parse()?)),
            "from" => {
                let path = Punctuated::<Ident, Token![.]>::parse_separated_nonempty_with(input, Ident::parse_any)?;
                Ok(Self::From(name, path.into_iter().collect()))
            }
            _ => Ok(Self::Value(name, input.parse()?)),
        }
    }
}
