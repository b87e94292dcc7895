//! Parses the input of `#[versions(...)]`: the versions, the items of the module, and their `#[version(...)]`.

use super::field::{self, SchemaHints};
use crate::diag::{Diags, syntax_error};
use proc_macro2::{Ident, TokenStream};
use syn::{
    Attribute, Field, Fields, Item, ItemMod, LitStr, Path, Token, Variant, Visibility,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
    token::Paren,
    visit::{self, Visit},
};

mod change;

use change::take_changes;
pub(crate) use change::{ChangeArgument, ChangeInput, ChangeValue};

/// The module with its versions.
pub(crate) struct VersionsInput {
    /// The paths in `crate = "path"`.
    pub(crate) crates: Vec<Path>,
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
    pub(crate) options: Vec<VersionOption>,
}

/// An option of a version.
pub(crate) struct VersionOption {
    pub(crate) key: Ident,
    pub(crate) value: Option<LitStr>,
}

/// A struct or enum of the module, without its `#[version(...)]`.
pub(crate) struct TypeInput {
    pub(crate) item: Item,
    pub(crate) hints: SchemaHints,
    pub(crate) changes: Vec<ChangeInput>,
    /// The named fields of a struct, or the variants of an enum, in their order.
    pub(crate) members: Vec<MemberInput>,
}

/// A named field of a struct, or a variant of an enum.
pub(crate) struct MemberInput {
    pub(crate) hints: SchemaHints,
    pub(crate) changes: Vec<ChangeInput>,
    /// The attributes of the fields of a variant, in their order.
    pub(crate) fields: Vec<SchemaHints>,
}

impl VersionInput {
    /// Returns the option with a key.
    pub(crate) fn option(&self, key: &str) -> Option<&VersionOption> {
        self.options.iter().find(|option| option.key == key)
    }
}

/// Parses the arguments of `#[versions(...)]` and the module below the attribute. Returns `None` after reporting a syntax error in the
/// arguments or the module, or a module whose items are in another file.
pub(crate) fn read(args: TokenStream, item: TokenStream, diags: &mut Diags) -> Option<VersionsInput> {
    const FIX: &str = "name the versions, the oldest first: `#[versions(v1alpha1, v1beta1, v1)]`";
    let entries = Punctuated::<Entry, Token![,]>::parse_terminated.parse2(args);
    let entries = entries.map_err(|error| diags.syntax(&error, FIX));
    let module: Result<ItemMod, ()> =
        syn::parse2(item).map_err(|error| diags.syntax(&error, "write `#[versions(...)]` above a module"));
    let (entries, module) = (entries.ok()?, module.ok()?);
    let Some((_, items)) = module.content else {
        let problem = format!("the items of the module `{}` are in another file", module.ident);
        diags.error(&module.ident, problem, format!("write them here: `mod {} {{ ... }}`", module.ident));
        return None;
    };
    let mut input = VersionsInput {
        crates: Vec::new(),
        versions: Vec::new(),
        visibility: module.vis,
        name: module.ident,
        attributes: module.attrs,
        types: Vec::new(),
        others: Vec::new(),
    };
    for entry in entries {
        match entry {
            Entry::Crate(path) => input.crates.push(path),
            Entry::Version(version) => input.versions.push(version),
        }
    }
    for item in items {
        match item {
            Item::Struct(_) | Item::Enum(_) => input.types.push(read_type(item, diags)),
            item => {
                Misplaced { diags }.visit_item(&item);
                input.others.push(item);
            }
        }
    }
    Some(input)
}

/// Reads a struct or an enum of the module. Moves the `#[version(...)]` attributes of the type and of its named fields or variants out of
/// the item into the result, and reports such attributes at other places in the item.
fn read_type(mut item: Item, diags: &mut Diags) -> TypeInput {
    let (attributes, members) = match &mut item {
        Item::Struct(item) => {
            let members = match &mut item.fields {
                Fields::Named(fields) => fields.named.iter_mut().map(|field| read_field(field, diags)).collect(),
                fields => {
                    let fix = "give each field a name";
                    fields.iter_mut().for_each(|field| reject_changes(&mut field.attrs, fix, diags));
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
    Misplaced { diags }.visit_item(&item);
    TypeInput { hints, changes, members, item }
}

/// Reads a named field, and removes its `#[version(...)]`.
fn read_field(field: &mut Field, diags: &mut Diags) -> MemberInput {
    MemberInput { changes: take_changes(&mut field.attrs, diags), hints: field::read(&field.attrs), fields: Vec::new() }
}

/// Reads a variant of an enum, and removes its `#[version(...)]`. Reports `#[version(...)]` on the fields of the variant.
fn read_variant(variant: &mut Variant, diags: &mut Diags) -> MemberInput {
    let fix = "move the fields to a struct, and make that struct the content of the variant";
    variant.fields.iter_mut().for_each(|field| reject_changes(&mut field.attrs, fix, diags));
    MemberInput {
        changes: take_changes(&mut variant.attrs, diags),
        hints: field::read(&variant.attrs),
        fields: variant.fields.iter().map(|field| field::read(&field.attrs)).collect(),
    }
}

/// Removes and reports each change in `#[version(...)]` on a field that can't have one: a field of a tuple struct or of a variant.
fn reject_changes(attributes: &mut Vec<Attribute>, fix: &str, diags: &mut Diags) {
    for change in take_changes(attributes, diags) {
        diags.error(change.key, "only a named field of a struct has a history", fix);
    }
}

/// Reports each `#[version(...)]` that is not on a struct, a named field or a variant.
struct Misplaced<'a> {
    diags: &'a mut Diags,
}

impl<'ast> Visit<'ast> for Misplaced<'_> {
    /// Reports the attribute if it is `#[version(...)]`. The caller has removed these attributes where they are allowed.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("version") {
            let fix = "move it to a struct, a named field or a variant";
            self.diags.error(attribute.path(), "`#[version(...)]` has no effect here", fix);
        }
    }

    /// Visits a nested module, unless it has `#[versions(...)]` of its own: in such a module `#[version(...)]` has an effect.
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let has_versions =
            |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "versions");
        if !module.attrs.iter().any(has_versions) {
            visit::visit_item_mod(self, module);
        }
    }
}

/// One entry of `#[versions(...)]`.
enum Entry {
    Crate(Path),
    Version(VersionInput),
}

impl Parse for Entry {
    /// Parses `crate = "path"`, or a version with its options such as `v1beta1(deprecated)`.
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected a version"));
        }
        let name = input.call(Ident::parse_any)?;
        if name == "crate" {
            let path = input.parse::<Token![=]>().and_then(|_| input.parse::<LitStr>());
            let fix = "write `crate = \"path\"`";
            let path = path.map_err(|error| syntax_error(error.span(), "the path of the crate is not in quotes", fix));
            return Ok(Self::Crate(path?.parse()?));
        }
        let mut options = Vec::new();
        if input.peek(Paren) {
            let inside;
            parenthesized!(inside in input);
            options.extend(Punctuated::<VersionOption, Token![,]>::parse_terminated(&inside)?);
        }
        Ok(Self::Version(VersionInput { name, options }))
    }
}

impl Parse for VersionOption {
    /// Parses an option of a version, alone or with a text: `not_served` or `deprecated = "use v1"`.
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Ident::peek_any) {
            let fix = "use one of `deprecated`, `not_served`, `stored`";
            return Err(syntax_error(input.span(), "expected an option of the version", fix));
        }
        let key = input.call(Ident::parse_any)?;
        let value = input.parse::<Option<Token![=]>>()?.map(|_| input.parse()).transpose();
        let in_quotes = format!("write `{key} = \"...\"`");
        let value = value.map_err(|error| syntax_error(error.span(), "expected a text in quotes", &in_quotes));
        Ok(Self { key, value: value? })
    }
}
