//! Models the module of `#[versions(...)]`: its types, and the name and type of each field in each version.

use super::json_name::{renamed_field, renamed_variant};
use crate::{
    attrs::{
        field::SchemaHints,
        versions::{ChangeArgument, ChangeInput, TypeInput, VersionInput, VersionsInput},
    },
    paths::Paths,
};
use proc_macro2::Ident;
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::{
    Attribute, Expr, Fields, Item, LitStr, Path, Type, Visibility,
    ext::IdentExt,
    visit::{self, Visit},
};

/// The module with its versions.
pub(crate) struct VersionsModule {
    pub(crate) paths: Paths,
    pub(crate) versions: Vec<VersionInput>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) attributes: Vec<Attribute>,
    /// The types that each version has, since they or their contents have a history.
    pub(crate) types: Vec<VersionedType>,
    /// The items that all versions share.
    pub(crate) shared: Vec<Item>,
}

/// A type with a history.
pub(crate) struct VersionedType {
    pub(crate) item: Item,
    pub(crate) hints: SchemaHints,
    pub(crate) members: Vec<Member>,
    pub(crate) replacements: Vec<Replacement>,
    /// The changes as written, of the type (`None`) and of its members, for the checks.
    pub(crate) changes: Vec<(Option<usize>, ChangeInput)>,
}

/// A named field or a variant, with its history.
pub(crate) struct Member {
    pub(crate) ident: Ident,
    /// The type of a field, or of the only content of a variant.
    pub(crate) ty: Option<Type>,
    pub(crate) hints: SchemaHints,
    /// The position of the first version with it.
    pub(crate) since: usize,
    /// The position of the first version without it; the number of versions if there is none.
    pub(crate) until: usize,
    /// The former names, with the position of the version that has changed them.
    pub(crate) renames: Vec<(usize, Ident)>,
    /// The former types.
    pub(crate) retypes: Vec<Retype>,
    /// Its value in the versions before `since`, or since `until`.
    pub(crate) added_default: Option<Expr>,
    pub(crate) removed_default: Option<Expr>,
    /// The field of another field that it was before `since`.
    pub(crate) moved_from: Option<Vec<Ident>>,
    /// Whether another field has its value since `until`.
    pub(crate) is_moved_away: bool,
    /// The attributes without a name of JSON, for the versions before it got that name.
    pub(crate) is_replaced: bool,
}

/// A change of the type of a field.
pub(crate) struct Retype {
    pub(crate) version: usize,
    pub(crate) from: Type,
    pub(crate) up: Option<Path>,
    pub(crate) down: Option<Path>,
}

/// Fields that others replace, by the positions of the members.
pub(crate) struct Replacement {
    pub(crate) version: usize,
    pub(crate) from: Vec<usize>,
    pub(crate) to: Vec<usize>,
    pub(crate) up: Path,
    pub(crate) down: Path,
}

/// Models the module from its parsed items.
pub(crate) fn resolve(input: VersionsInput) -> VersionsModule {
    let known: Vec<_> = input.versions.iter().map(|version| version.name.to_string()).collect();
    let names = versioned_names(&input.types);
    let (versioned, shared): (Vec<_>, Vec<_>) =
        input.types.into_iter().partition(|input| type_name(&input.item).is_some_and(|name| names.contains(&name.to_string())));
    VersionsModule {
        paths: Paths::new(input.krate),
        versions: input.versions,
        visibility: input.visibility,
        name: input.name,
        attributes: input.attributes,
        types: versioned.into_iter().map(|input| VersionedType::resolve(input, &known)).collect(),
        shared: shared.into_iter().map(|input| input.item).chain(input.others).collect(),
    }
}

/// Returns the name of a struct or enum.
pub(crate) fn type_name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Struct(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        _ => None,
    }
}

/// Returns the names of the types that each version has: the kinds, the types with changes, and the types that contain one of them.
fn versioned_names(types: &[TypeInput]) -> BTreeSet<String> {
    let has_history = |input: &&TypeInput| {
        let is_kind = attributes_of(&input.item).iter().any(|attribute| attribute.path().is_ident("kube"));
        is_kind || !input.changes.is_empty() || input.members.iter().any(|member| !member.changes.is_empty())
    };
    let name = |input: &TypeInput| type_name(&input.item).map(ToString::to_string);
    let mut names: BTreeSet<String> = types.iter().filter(has_history).filter_map(name).collect();
    loop {
        let count = names.len();
        let contains_one = |input: &&TypeInput| Mentions::any(&input.item, &names);
        let more: Vec<_> = types.iter().filter(contains_one).filter_map(name).collect();
        names.extend(more);
        if names.len() == count {
            return names;
        }
    }
}

/// Returns the attributes of a struct or enum.
pub(crate) fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        _ => &[],
    }
}

/// Finds out whether types in an item are named like one of a set.
struct Mentions<'a> {
    names: &'a BTreeSet<String>,
    found: bool,
}

impl Mentions<'_> {
    fn any(item: &Item, names: &BTreeSet<String>) -> bool {
        let mut mentions = Mentions { names, found: false };
        mentions.visit_item(item);
        mentions.found
    }
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        let first = path.path.segments.first().filter(|_| path.path.leading_colon.is_none());
        self.found |= first.is_some_and(|first| self.names.contains(&first.ident.to_string()));
        visit::visit_type_path(self, path);
    }
}

impl VersionsModule {
    /// Returns the type with a name.
    pub(crate) fn versioned_type(&self, name: &str) -> Option<&VersionedType> {
        self.types.iter().find(|versioned| type_name(&versioned.item).is_some_and(|ident| ident == name))
    }

    /// Returns the position of the version in which the objects are stored.
    pub(crate) fn stored(&self) -> usize {
        let newest = self.versions.len().saturating_sub(1);
        self.versions.iter().position(|version| version.stored.is_some()).unwrap_or(newest)
    }
}

impl VersionedType {
    fn resolve(input: TypeInput, known: &[String]) -> Self {
        let position = |version: &Ident| known.iter().position(|name| version == name);
        let idents: Vec<(Ident, Option<Type>)> = match &input.item {
            Item::Struct(item) => {
                item.fields.iter().filter_map(|field| Some((field.ident.clone()?, Some(field.ty.clone())))).collect()
            }
            Item::Enum(item) => {
                let content = |fields: &Fields| match fields {
                    Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first().map(|field| field.ty.clone()),
                    _ => None,
                };
                item.variants.iter().map(|variant| (variant.ident.clone(), content(&variant.fields))).collect()
            }
            _ => Vec::new(),
        };
        let mut changes: Vec<_> = input.changes.into_iter().map(|change| (None, change)).collect();
        let mut members = Vec::new();
        for ((ident, ty), member) in idents.into_iter().zip(input.members) {
            let index = members.len();
            let mut resolved = Member::new(ident, ty, member.hints, known.len());
            for change in &member.changes {
                if let Some(version) = position(&change.version) {
                    resolved.add(change, version);
                }
            }
            changes.extend(member.changes.into_iter().map(|change| (Some(index), change)));
            members.push(resolved);
        }
        let mut resolved = Self { item: input.item, hints: input.hints, members, replacements: Vec::new(), changes: Vec::new() };
        for (_, change) in changes.iter().filter(|(member, change)| member.is_none() && change.key == "replaced") {
            if let Some(version) = position(&change.version) {
                resolved.add_replacement(change, version);
            }
        }
        resolved.changes = changes;
        resolved
    }

    /// Adds a replacement, if all its parts are there; the check reports those that are missing.
    fn add_replacement(&mut self, change: &ChangeInput, version: usize) {
        let fields = |name: &str| {
            change.arguments.iter().find_map(|argument| match argument {
                ChangeArgument::Fields(key, fields) if key == name => Some(fields.clone()),
                _ => None,
            })
        };
        let (Some(from), Some(to)) = (fields("from"), fields("to")) else { return };
        let positions = |fields: Vec<Ident>| fields.iter().map(|field| self.position(field)).collect::<Option<Vec<_>>>();
        let (Some(from), Some(to), Some(up), Some(down)) =
            (positions(from), positions(to), change.function("up"), change.function("down"))
        else {
            return;
        };
        for index in &from {
            (self.members[*index].until, self.members[*index].is_replaced) = (version, true);
        }
        for index in &to {
            (self.members[*index].since, self.members[*index].is_replaced) = (version, true);
        }
        self.replacements.push(Replacement { version, from, to, up, down });
    }

    /// Returns the position of the member with a name.
    pub(crate) fn position(&self, ident: &Ident) -> Option<usize> {
        self.members.iter().position(|member| member.ident.unraw() == ident.unraw())
    }

    /// Returns the name of a member in JSON in a version.
    pub(crate) fn json_name(&self, member: &Member, version: usize) -> String {
        let ident = member.name(version);
        let rename = member.hints.rename.as_ref().filter(|_| *ident == member.ident).map(LitStr::value);
        let rename_all = self.hints.rename_all.as_ref().map(LitStr::value);
        let ident = ident.unraw().to_string();
        rename.unwrap_or_else(|| match self.item {
            Item::Enum(_) => renamed_variant(&ident, rename_all.as_deref()),
            _ => renamed_field(&ident, rename_all.as_deref()),
        })
    }

    /// Returns the member that has a name in JSON in a version.
    pub(crate) fn by_json_name(&self, name: &str) -> Option<&Member> {
        let newest = |member: &&Member| self.json_name(member, member.until.saturating_sub(1)) == name;
        self.members.iter().find(newest)
    }

    pub(crate) fn is_enum(&self) -> bool {
        matches!(self.item, Item::Enum(_))
    }
}

impl Member {
    fn new(ident: Ident, ty: Option<Type>, hints: SchemaHints, versions: usize) -> Self {
        Self {
            ident,
            ty,
            hints,
            since: 0,
            until: versions,
            renames: Vec::new(),
            retypes: Vec::new(),
            added_default: None,
            removed_default: None,
            moved_from: None,
            is_moved_away: false,
            is_replaced: false,
        }
    }

    /// Adds a change. Ignores what the check reports.
    fn add(&mut self, change: &ChangeInput, version: usize) {
        match change.key.to_string().as_str() {
            "added" => (self.since, self.added_default) = (version, change.value()),
            "removed" => {
                (self.until, self.removed_default) = (version, change.value());
                let is_moved = |argument: &ChangeArgument| matches!(argument, ChangeArgument::Flag(flag) if flag == "moved");
                self.is_moved_away = change.arguments.iter().any(is_moved);
            }
            "moved" => (self.since, self.moved_from) = (version, change.from()),
            "renamed" => self.renames.extend(change.from().and_then(|mut path| path.pop()).map(|from| (version, from))),
            "retyped" => {
                let from = change.arguments.iter().find_map(|argument| match argument {
                    ChangeArgument::FromType(_, ty) => Some(ty.clone()),
                    _ => None,
                });
                let (up, down) = (change.function("up"), change.function("down"));
                self.retypes.extend(from.map(|from| Retype { version, from, up, down }));
            }
            _ => {}
        }
        self.renames.sort_by_key(|(version, _)| *version);
        self.retypes.sort_by_key(|retype| retype.version);
    }

    /// Returns whether a version has it.
    pub(crate) fn is_in(&self, version: usize) -> bool {
        (self.since..self.until).contains(&version)
    }

    /// Returns its name in a version.
    pub(crate) fn name(&self, version: usize) -> &Ident {
        self.renames.iter().find(|(renamed, _)| version < *renamed).map_or(&self.ident, |(_, ident)| ident)
    }

    /// Returns its type in a version.
    pub(crate) fn type_in(&self, version: usize) -> Option<&Type> {
        let former = self.retypes.iter().find(|retype| version < retype.version).map(|retype| &retype.from);
        former.or(self.ty.as_ref())
    }

    /// Returns whether JSON may lack it: its type is an `Option`, or it has a default.
    pub(crate) fn is_optional(&self, version: usize) -> bool {
        let is_option = self.type_in(version).and_then(super::type_path::last_segment).is_some_and(|last| last.ident == "Option");
        is_option || self.hints.default || self.hints.skip || self.hints.flatten
    }
}

impl ChangeInput {
    /// Returns the value of `default` or `instead`.
    pub(crate) fn value(&self) -> Option<Expr> {
        self.arguments.iter().find_map(|argument| match argument {
            ChangeArgument::Value(_, value) => Some(value.clone()),
            _ => None,
        })
    }

    /// Returns the path in `from = network.port`.
    pub(crate) fn from(&self) -> Option<Vec<Ident>> {
        self.arguments.iter().find_map(|argument| match argument {
            ChangeArgument::From(_, path) => Some(path.clone()),
            _ => None,
        })
    }

    /// Returns the function in `up = ...` or `down = ...`.
    pub(crate) fn function(&self, name: &str) -> Option<Path> {
        self.arguments.iter().find_map(|argument| match argument {
            ChangeArgument::Function(key, path) if key == name => Some(path.clone()),
            _ => None,
        })
    }
}

/// Returns the tokens of a type as text, for comparisons.
pub(crate) fn type_text(ty: &Type) -> String {
    ty.to_token_stream().to_string()
}
