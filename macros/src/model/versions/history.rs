//! Models the history of a type: the versions that have a field or variant, and its name and type in each of them.

use super::items::{attributes_of, type_name};
use crate::{
    attrs::{
        field::SchemaHints,
        kube::KubeEntry,
        versions::{ChangeInput, TypeInput},
    },
    model::{
        json_name::{renamed_field, renamed_variant},
        kube::Kube,
    },
};
use proc_macro2::Ident;
use syn::{Attribute, Expr, Fields, Item, LitStr, Path, Type, ext::IdentExt};

/// A type with a history.
pub(crate) struct VersionedType {
    pub(crate) item: Item,
    pub(crate) hints: SchemaHints,
    /// The settings of a kind; `None` for other types.
    pub(crate) kube: Option<Kube>,
    /// The keys in `#[kube(...)]`.
    pub(crate) kube_keys: Vec<Path>,
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
    /// The attributes of the fields of a variant, in their order.
    pub(crate) fields: Vec<SchemaHints>,
    /// The position of the first version with it.
    pub(crate) since: usize,
    pub(crate) origin: Origin,
    /// The position of the first version without it; the number of versions if there is none.
    pub(crate) until: usize,
    pub(crate) end: End,
    /// The former names, with the position of the version that has changed them.
    pub(crate) renames: Vec<(usize, Ident)>,
    /// The former types.
    pub(crate) retypes: Vec<Retype>,
}

/// How a field or variant begins.
pub(crate) enum Origin {
    /// The oldest version has it.
    First,
    /// It is new, with this value in older versions.
    Added(Option<Box<Expr>>),
    /// It was a field of another field.
    Moved(Vec<Ident>),
    /// It replaces other fields.
    Replacement,
}

/// How a field or variant ends.
pub(crate) enum End {
    /// The newest version has it.
    Never,
    /// It is removed, with this value for objects of newer versions.
    Removed(Option<Box<Expr>>),
    /// Others replace it.
    Replaced,
}

/// A change of the type of a field.
pub(crate) struct Retype {
    pub(crate) version: usize,
    pub(crate) from: Type,
    pub(crate) up: Option<Expr>,
    pub(crate) down: Option<Expr>,
}

/// Fields that others replace, by the positions of the members.
pub(crate) struct Replacement {
    pub(crate) version: usize,
    pub(crate) from: Vec<usize>,
    pub(crate) to: Vec<usize>,
    pub(crate) up: Expr,
    pub(crate) down: Expr,
}

impl VersionedType {
    /// Converts a parsed type to a model in which each field or variant has the versions, names and types of its history. `known` are the
    /// names of the versions, the oldest first. Ignores a change whose version is not among these, which the stage `check` reports.
    pub(super) fn resolve(input: TypeInput, kube: Option<Vec<KubeEntry>>, known: &[String]) -> Self {
        let position = |version: &Ident| known.iter().position(|name| version == name);
        let mut changes: Vec<_> = input.changes.into_iter().map(|change| (None, change)).collect();
        let mut members = Vec::new();
        for ((ident, ty), member) in members_of(&input.item).into_iter().zip(input.members) {
            let index = members.len();
            let mut resolved = Member::new(ident, ty, known.len());
            (resolved.hints, resolved.fields) = (member.hints, member.fields);
            for change in &member.changes {
                if let Some(version) = position(&change.version) {
                    resolved.add(change, version);
                }
            }
            changes.extend(member.changes.into_iter().map(|change| (Some(index), change)));
            members.push(resolved);
        }
        let kube_keys = kube.iter().flatten().map(|entry| entry.key.clone()).collect();
        let mut resolved = Self {
            item: input.item,
            hints: input.hints,
            kube: kube.map(Kube::from_entries),
            kube_keys,
            members,
            replacements: Vec::new(),
            changes: Vec::new(),
        };
        for (_, change) in changes.iter().filter(|(member, change)| member.is_none() && change.key == "replaced") {
            if let Some(version) = position(&change.version) {
                resolved.add_replacement(change, version);
            }
        }
        resolved.changes = changes;
        resolved
    }

    /// Adds a change `replaced(version, from(...), to(...), up = ..., down = ...)`: the version is the first one without the `from` fields,
    /// and the first one with the `to` fields. Returns `None` without adding it if an argument or a field is missing, which the stage
    /// `check` reports.
    fn add_replacement(&mut self, change: &ChangeInput, version: usize) -> Option<()> {
        let positions =
            |name: &str| change.fields(name)?.iter().map(|field| self.position(field)).collect::<Option<Vec<_>>>();
        let (from, to) = (positions("from")?, positions("to")?);
        let (up, down) = (change.function("up")?.clone(), change.function("down")?.clone());
        for index in &from {
            let member = self.members.get_mut(*index)?;
            (member.until, member.end) = (version, End::Replaced);
        }
        for index in &to {
            let member = self.members.get_mut(*index)?;
            (member.since, member.origin) = (version, Origin::Replacement);
        }
        self.replacements.push(Replacement { version, from, to, up, down });
        Some(())
    }

    /// Removes the changes of the type, so that all `versions` versions have every field, under the name and type in the source code.
    pub(super) fn remove_history(&mut self, versions: usize) {
        self.replacements.clear();
        for member in &mut self.members {
            (member.since, member.origin) = (0, Origin::First);
            (member.until, member.end) = (versions, End::Never);
            member.renames.clear();
            member.retypes.clear();
        }
    }

    pub(crate) fn name(&self) -> Option<&Ident> {
        type_name(&self.item)
    }

    pub(crate) fn attributes(&self) -> &[Attribute] {
        attributes_of(&self.item)
    }

    pub(crate) fn is_enum(&self) -> bool {
        matches!(self.item, Item::Enum(_))
    }

    /// Returns the name of the struct that kube generates for a spec; `None` for other types.
    pub(crate) fn root(&self) -> Option<Ident> {
        self.kube.as_ref()?.root()?.parse().ok()
    }

    /// Returns the changes in the `#[version(...)]` of a field or variant of this type. `member` must be a reference into `self.members`.
    pub(crate) fn changes_of<'a>(&'a self, member: &'a Member) -> impl Iterator<Item = &'a ChangeInput> {
        let is_of_member = move |index: Option<usize>| {
            index.and_then(|index| self.members.get(index)).is_some_and(|other| std::ptr::eq(other, member))
        };
        self.changes.iter().filter(move |(index, _)| is_of_member(*index)).map(|(_, change)| change)
    }

    /// Returns the index of the field or variant that has the name `ident` in the source code.
    pub(crate) fn position(&self, ident: &Ident) -> Option<usize> {
        self.members.iter().position(|member| member.ident.unraw() == ident.unraw())
    }

    /// Returns the field or variant that has the name `name` in the version with the index `version`.
    pub(crate) fn member_in(&self, name: &Ident, version: usize) -> Option<&Member> {
        let has_name = |member: &&Member| member.is_in(version) && member.name(version).unraw() == name.unraw();
        self.members.iter().find(has_name)
    }

    /// Returns the JSON name of a field or variant in the version with the index `version`, by serde's `rename` and `rename_all`.
    pub(crate) fn json_name(&self, member: &Member, version: usize) -> String {
        let ident = member.name(version);
        // `rename` applies to the newest name only.
        let rename = member.hints.rename.as_ref().filter(|_| *ident == member.ident).map(LitStr::value);
        let rename_all = self.hints.rename_all.as_ref().map(LitStr::value);
        let ident = ident.unraw().to_string();
        rename.unwrap_or_else(|| match self.item {
            Item::Enum(_) => renamed_variant(&ident, rename_all.as_deref()),
            _ => renamed_field(&ident, rename_all.as_deref()),
        })
    }

    /// Returns the field or variant with the JSON name `name`. The name is compared to that in the newest version which has the field.
    pub(crate) fn by_json_name(&self, name: &str) -> Option<&Member> {
        let has_name = |member: &&Member| self.json_name(member, member.until.saturating_sub(1)) == name;
        // A removed field and a later field may have the same name; the later one is returned.
        self.members.iter().filter(has_name).max_by_key(|member| member.until)
    }
}

/// Returns the named fields of a struct with their types, or the variants of an enum, each with the type of its only unnamed field, if it
/// has exactly one.
fn members_of(item: &Item) -> Vec<(Ident, Option<Type>)> {
    match item {
        Item::Struct(item) => {
            let fields = item.fields.iter();
            fields.filter_map(|field| Some((field.ident.clone()?, Some(field.ty.clone())))).collect()
        }
        Item::Enum(item) => {
            let content = |fields: &Fields| match fields {
                Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                    fields.unnamed.first().map(|field| field.ty.clone())
                }
                _ => None,
            };
            item.variants.iter().map(|variant| (variant.ident.clone(), content(&variant.fields))).collect()
        }
        _ => Vec::new(),
    }
}

impl Member {
    /// Creates a field or variant without changes, which all `versions` versions have.
    fn new(ident: Ident, ty: Option<Type>, versions: usize) -> Self {
        Self {
            ident,
            ty,
            hints: SchemaHints::default(),
            fields: Vec::new(),
            since: 0,
            origin: Origin::First,
            until: versions,
            end: End::Never,
            renames: Vec::new(),
            retypes: Vec::new(),
        }
    }

    /// Adds a change in `#[version(...)]` of this field or variant; `version` is the index of the version that the change names. Ignores
    /// unknown changes and missing arguments, which the stage `check` reports.
    fn add(&mut self, change: &ChangeInput, version: usize) {
        match change.key.to_string().as_str() {
            "added" => (self.since, self.origin) = (version, Origin::Added(change.value().cloned().map(Box::new))),
            "moved" => {
                let from = change.from().unwrap_or_default();
                (self.since, self.origin) = (version, Origin::Moved(from.to_vec()));
            }
            "removed" => (self.until, self.end) = (version, End::Removed(change.value().cloned().map(Box::new))),
            "renamed" => {
                self.renames.extend(change.from().and_then(<[Ident]>::last).map(|from| (version, from.clone())));
            }
            "retyped" => {
                let function = |name: &str| change.function(name).cloned();
                self.retypes.extend(change.former_type().map(|from| Retype {
                    version,
                    from: from.clone(),
                    up: function("up"),
                    down: function("down"),
                }));
            }
            _ => {}
        }
        self.renames.sort_by_key(|(version, _)| *version);
        self.retypes.sort_by_key(|retype| retype.version);
    }

    /// Returns whether the version with the index `version` has this field or variant.
    pub(crate) fn is_in(&self, version: usize) -> bool {
        (self.since..self.until).contains(&version)
    }

    /// Returns the name of the field or variant in a version: the former name in the first rename after that version (renames are sorted by
    /// version), otherwise the name in the source code.
    pub(crate) fn name(&self, version: usize) -> &Ident {
        self.renames.iter().find(|(renamed, _)| version < *renamed).map_or(&self.ident, |(_, ident)| ident)
    }

    /// Returns the type of the field in a version: the former type in the first change of the type after that version, otherwise the type
    /// in the source code. `None` for a variant that does not contain exactly one type.
    pub(crate) fn type_in(&self, version: usize) -> Option<&Type> {
        let former = self.retypes.iter().find(|retype| version < retype.version).map(|retype| &retype.from);
        former.or(self.ty.as_ref())
    }
}
