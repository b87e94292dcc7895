//! Models the module of `#[versions(...)]`: its types, and the name and type of each field in each version.

use crate::{
    attrs::versions::{TypeInput, VersionInput, VersionsInput},
    paths::Paths,
};
use proc_macro2::Ident;
use std::collections::BTreeSet;
use syn::{
    Attribute, Item, Path, Type, Visibility,
    visit::{self, Visit},
};

mod history;
mod items;
mod nesting;
mod presence;

pub(crate) use history::{End, Member, Origin, Replacement, VersionedType};
pub(crate) use items::{attributes_of, derives, type_name, type_text};

/// Types around a value that is one object in JSON.
const WRAPPERS: [&str; 2] = ["Option", "Box"];

/// The module with its versions.
pub(crate) struct VersionsModule {
    pub(crate) paths: Paths,
    /// The paths in `crate = "path"`.
    pub(crate) crates: Vec<Path>,
    pub(crate) versions: Vec<VersionInput>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) attributes: Vec<Attribute>,
    /// The types that each version has, since they or their contents have a history.
    pub(crate) types: Vec<VersionedType>,
    /// The structs and enums that all versions share.
    pub(crate) shared_types: Vec<VersionedType>,
    /// All other items.
    pub(crate) others: Vec<Item>,
}

/// Converts the parsed input of `#[versions(...)]` to the model of the module. Separates the types that each version gets a copy of from
/// the types that all versions share.
pub(crate) fn resolve(input: VersionsInput) -> VersionsModule {
    let known: Vec<_> = input.versions.iter().map(|version| version.name.to_string()).collect();
    let names = versioned_names(&input.types);
    let is_versioned = |input: &TypeInput| type_name(&input.item).is_some_and(|name| names.contains(&name.to_string()));
    let (versioned, shared): (Vec<_>, Vec<_>) = input.types.into_iter().partition(is_versioned);
    let resolve_versioned = |input: TypeInput| {
        let kube = crate::attrs::kube::read(attributes_of(&input.item));
        VersionedType::resolve(nesting::nested(input), kube, &known)
    };
    VersionsModule {
        paths: Paths::new(input.crates.first().cloned()),
        crates: input.crates,
        versions: input.versions,
        visibility: input.visibility,
        name: input.name,
        attributes: input.attributes,
        types: versioned.into_iter().map(resolve_versioned).collect(),
        shared_types: shared.into_iter().map(|input| VersionedType::resolve(input, None, &known)).collect(),
        others: input.others,
    }
}

/// Returns the names of the types that each version gets a copy of: the kinds, the types with changes in `#[version(...)]`, and the types
/// that contain such a type, directly or nested.
fn versioned_names(types: &[TypeInput]) -> BTreeSet<String> {
    let has_history = |input: &&TypeInput| {
        let is_kind = attributes_of(&input.item).iter().any(|attribute| attribute.path().is_ident("kube"));
        is_kind || !input.changes.is_empty() || input.members.iter().any(|member| !member.changes.is_empty())
    };
    let name = |input: &TypeInput| type_name(&input.item).map(ToString::to_string);
    let mut names: BTreeSet<String> = types.iter().filter(has_history).filter_map(name).collect();
    // Adds the types that contain a type in `names`, until no more are found.
    loop {
        let count = names.len();
        let contains_one = |input: &&TypeInput| Mentions::in_item(&input.item, &names).is_some();
        let more: Vec<_> = types.iter().filter(contains_one).filter_map(name).collect();
        names.extend(more);
        if names.len() == count {
            return names;
        }
    }
}

/// Returns the type inside all `Option` and `Box` around it: `Port` for `Option<Box<Port>>`.
pub(crate) fn unwrapped(ty: &Type) -> &Type {
    let Some(last) = super::type_path::last_segment(ty) else { return ty };
    match super::type_path::type_arguments(last).as_slice() {
        [inner] if WRAPPERS.iter().any(|wrapper| last.ident == wrapper) => unwrapped(inner),
        _ => ty,
    }
}

/// Returns the name of the innermost type argument, for example of the items of a list: `Port` for `Option<Vec<Port>>` and for `Port`
/// itself. Returns `None` for a map and other types with several arguments.
pub(crate) fn items_of(ty: &Type) -> Option<&Ident> {
    let last = super::type_path::last_segment(ty)?;
    match super::type_path::type_arguments(last).as_slice() {
        [] => Some(&last.ident),
        [inner] => items_of(inner),
        _ => None,
    }
}

/// Returns the name by which a path names a type of this module: its first segment, or the one after `self::`. Returns `None` for a path
/// that begins with `::`.
pub(crate) fn local_name(path: &Path) -> Option<&Ident> {
    let mut segments = path.segments.iter().filter(|_| path.leading_colon.is_none());
    let first = segments.next()?;
    if first.ident == "self" { segments.next().map(|second| &second.ident) } else { Some(&first.ident) }
}

/// A visitor that finds the first path of a type in a syntax tree whose name is one of `names`.
struct Mentions<'a> {
    names: &'a BTreeSet<String>,
    found: Option<Ident>,
}

impl Mentions<'_> {
    /// Returns the first of `names` that an item mentions as a type.
    fn in_item(item: &Item, names: &BTreeSet<String>) -> Option<Ident> {
        let mut mentions = Mentions { names, found: None };
        mentions.visit_item(item);
        mentions.found
    }

    /// Returns the first of `names` that a type is or contains.
    fn in_type(ty: &Type, names: &BTreeSet<String>) -> Option<Ident> {
        let mut mentions = Mentions { names, found: None };
        mentions.visit_type(ty);
        mentions.found
    }
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    /// Records the name of the path if it is one of `names` and no earlier path was, and visits the type arguments.
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        let name = local_name(&path.path).filter(|name| self.names.contains(&name.to_string()));
        self.found = self.found.take().or_else(|| name.cloned());
        visit::visit_type_path(self, path);
    }
}

impl VersionsModule {
    /// Returns the type with the name `name`, if each version has a copy of it; `None` for types that all versions share, and for other
    /// types.
    pub(crate) fn versioned_type(&self, name: &Ident) -> Option<&VersionedType> {
        self.types.iter().find(|versioned| versioned.name() == Some(name))
    }

    /// Returns the type of this module that a field has, directly or inside `Option` and `Box`, so that the field is one JSON value of the
    /// type. Returns `None` for lists, maps and types of other modules.
    pub(crate) fn type_of_object(&self, ty: &Type) -> Option<&VersionedType> {
        let Type::Path(path) = unwrapped(ty) else { return None };
        let name = path.path.get_ident()?;
        self.types.iter().chain(&self.shared_types).find(|known| known.name() == Some(name))
    }

    /// Returns the first type with a history that `ty` is or contains.
    pub(crate) fn versioned_type_in(&self, ty: &Type) -> Option<&VersionedType> {
        self.versioned_type(&Mentions::in_type(ty, &self.versioned_names())?)
    }

    /// Returns the names of the types with a history that the definition of a type mentions, or a former type of one of its fields. The
    /// type itself is not among them unless it contains itself.
    pub(crate) fn contained_names(&self, versioned: &VersionedType) -> BTreeSet<String> {
        let mut names = self.versioned_names();
        let mut contained = BTreeSet::new();
        let former = versioned.members.iter().flat_map(|member| &member.retypes).map(|retype| &retype.from);
        let former: Vec<_> = former.collect();
        loop {
            let of_former = || former.iter().find_map(|ty| Mentions::in_type(ty, &names));
            let Some(name) = Mentions::in_item(&versioned.item, &names).or_else(of_former) else { return contained };
            names.remove(&name.to_string());
            contained.insert(name.to_string());
        }
    }

    /// Returns the names of all types that each version has a copy of.
    fn versioned_names(&self) -> BTreeSet<String> {
        self.types.iter().filter_map(|versioned| versioned.name().map(ToString::to_string)).collect()
    }

    /// Looks up a path of fields such as `network.port`, from the type `start`, by the names of the fields in a version. Returns each field
    /// with the struct that contains it. If a name is no field of a struct of this module, the result ends before this name, and is shorter
    /// than the path.
    pub(crate) fn fields_on_path<'a>(
        &'a self,
        start: &'a VersionedType,
        path: &[Ident],
        version: usize,
    ) -> Vec<(&'a VersionedType, &'a Member)> {
        let (mut fields, mut within) = (Vec::new(), Some(start));
        for name in path {
            let found = within.and_then(|within| Some((within, within.member_in(name, version)?)));
            let Some((within_type, member)) = found else { break };
            fields.push((within_type, member));
            within = member.type_in(version).and_then(|ty| self.type_of_object(ty)).filter(|next| !next.is_enum());
        }
        fields
    }

    /// Returns the index of the storage version of the kinds: the version with the option `stored`, otherwise the newest.
    pub(crate) fn stored(&self) -> usize {
        let newest = self.versions.len().saturating_sub(1);
        self.versions.iter().position(|version| version.option("stored").is_some()).unwrap_or(newest)
    }

    /// Returns the name of the version with the index `version`, for messages.
    pub(crate) fn version_name(&self, version: usize) -> String {
        self.versions.get(version).map_or_else(String::new, |version| version.name.to_string())
    }

    /// Returns the module without the changes in `#[version(...)]`, so that each type is the same in all versions.
    pub(crate) fn without_history(mut self) -> Self {
        let versions = self.versions.len();
        self.types.iter_mut().for_each(|versioned| versioned.remove_history(versions));
        self
    }
}
