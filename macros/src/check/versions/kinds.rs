//! Checks the kinds in a module with `#[versions(...)]`, the shapes of the types that change between versions, and the names in each
//! version.

use crate::{
    check::managed::check_kind,
    diag::Diags,
    model::versions::{VersionedType, VersionsModule, derives, local_name, type_name},
};
use proc_macro2::Ident;
use std::collections::BTreeSet;
use syn::{
    Block, Expr, Fields, Item, ItemImpl, ItemMod, Path, TypePath, UseTree, Variant,
    visit::{self, Visit},
};

/// The keys of `#[kube(...)]` that `#[versions(...)]` sets, each with the fix for a message.
const SET_BY_VERSIONS: [(&str, &str); 4] = [
    ("version", "remove it"),
    ("storage", "remove it, or write `v1(stored)` in `#[versions(...)]`"),
    ("served", "remove it, or write `v1(not_served)` in `#[versions(...)]`"),
    ("deprecated", "remove it, or write `v1(deprecated)` in `#[versions(...)]`"),
];

/// Checks the kinds (structs with `#[kube(...)]`), the other types and the remaining items of a module with `#[versions(...)]`. Reports a
/// module without a kind.
pub(super) fn check(model: &VersionsModule, diags: &mut Diags) {
    let kinds: Vec<_> = model.types.iter().filter(|versioned| versioned.kube.is_some()).collect();
    if kinds.is_empty() {
        let fix = "move the struct with `#[kube(...)]` here, or remove `#[versions(...)]`";
        return diags.error(&model.name, format!("the module `{}` has no kind", model.name), fix);
    }
    kinds.iter().for_each(|kind| check_settings(kind, diags));
    model.types.iter().for_each(|versioned| check_shape(model, versioned, diags));
    check_names(model, diags);
    check_reach(model, &kinds, diags);
    let imported = imported_names(model, diags);
    for item in &model.others {
        check_other(model, item, &imported, diags);
    }
    for name in model.shared_types.iter().filter_map(VersionedType::name) {
        check_item_name(model, name, diags);
    }
}

/// Checks the `#[kube(...)]` settings of a kind with versions: keys that `#[versions(...)]` generates must be absent, and `kind` must be
/// set. Reports a kind that doesn't derive `Managed`.
fn check_settings(kind: &VersionedType, diags: &mut Diags) {
    let (Some(name), Some(kube)) = (kind.name(), &kind.kube) else { return };
    for (key, fix) in SET_BY_VERSIONS {
        if let Some(path) = kind.kube_keys.iter().find(|path| path.is_ident(key)) {
            diags.error(path, format!("`#[versions(...)]` sets the `{key}` of the kind"), fix);
        }
    }
    if kube.kind.is_none() {
        let attribute = kind.attributes().iter().find(|attribute| attribute.path().is_ident("kube"));
        let path = attribute.map(|attribute| attribute.path());
        diags.error(
            path,
            format!("`#[kube(...)]` of `{name}` has no `kind`"),
            "add it, for example `kind = \"WebApp\"`",
        );
    }
    check_kind(kube, diags);
    if !derives(kind.attributes(), "Managed") {
        let problem = format!("`{name}` does not derive `Managed`, so that no operator converts its objects");
        diags.error(name, problem, "add `Managed` to its derives");
    }
}

/// Reports a type that can't be converted, if it has a history or contains a type with one: it is generic, it has no named fields, or
/// an attribute of serde changes the form of its JSON.
fn check_shape(model: &VersionsModule, versioned: &VersionedType, diags: &mut Diags) {
    let Some(name) = versioned.name() else { return };
    let (generics, fields) = match &versioned.item {
        Item::Struct(item) => (&item.generics, Some(&item.fields)),
        Item::Enum(item) => (&item.generics, None),
        _ => return,
    };
    // The beginning of each message: why the type must be convertible. Other types are not checked.
    let cause = match model.contained_names(versioned).into_iter().find(|other| name != other) {
        _ if !versioned.changes.is_empty() => format!("`{name}` has a history, but"),
        Some(other) => format!("`{name}` contains `{other}`, which has a history, but"),
        None => return,
    };
    if !generics.params.is_empty() {
        diags.error(generics, format!("{cause} is generic"), "remove the parameters and name the types");
    }
    if !matches!(fields, None | Some(Fields::Named(_))) {
        diags.error(name, format!("{cause} has no named fields"), "give each field a name");
    }
    let of_members = versioned.members.iter().filter_map(|member| member.hints.other_form.as_ref());
    if let Some(meta) = versioned.hints.other_form.iter().chain(of_members.filter(|_| versioned.is_enum())).next() {
        let fix = if versioned.is_enum() {
            "remove it; an enum may have `#[serde(tag = \"...\")]` alone"
        } else {
            "remove it"
        };
        diags.error(meta, format!("{cause} this attribute changes the form of its JSON"), fix);
    }
    if let Item::Enum(item) = &versioned.item {
        item.variants.iter().for_each(|variant| check_content(model, variant, diags));
    }
}

/// Reports a type with a history in a variant that has several fields or named fields. Between versions, only the type in a variant with
/// one unnamed field, such as `Disk(DiskSpec)`, is converted.
fn check_content(model: &VersionsModule, variant: &Variant, diags: &mut Diags) {
    if matches!(&variant.fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1) {
        return;
    }
    for field in &variant.fields {
        if let Some(name) = model.versioned_type_in(&field.ty).and_then(VersionedType::name) {
            let problem = format!("a field of `{}` contains `{name}`, which has a history", variant.ident);
            let fix = "move the fields to a struct, and make that struct the content of the variant";
            diags.error(&field.ty, problem, fix);
        }
    }
}

/// Reports two types with the same name in the module of a version: types of the user, and the structs that kube generates for the kinds.
fn check_names(model: &VersionsModule, diags: &mut Diags) {
    let mut known: Vec<Ident> = Vec::new();
    for name in model.types.iter().filter_map(VersionedType::name) {
        match known.iter().find(|other| *other == name) {
            Some(other) => {
                diags.conflict(
                    name,
                    format!("two types have the name `{name}`"),
                    "rename one",
                    other,
                    "the other is here",
                );
            }
            None => known.push(name.clone()),
        }
    }
    let mut known: Vec<Ident> = model.types.iter().filter_map(|versioned| versioned.name().cloned()).collect();
    for kind in &model.types {
        let Some(root) = kind.root() else { continue };
        let text = kind.kube.as_ref().and_then(|kube| kube.root());
        if let Some(other) = known.iter().find(|other| **other == root) {
            let fix = "rename one, or name the struct with `root = \"...\"` in `#[kube(...)]`";
            diags.conflict(text, format!("two types have the name `{root}`"), fix, other, "the other is here");
        }
        known.push(root);
    }
}

/// Reports a type with changes in `#[version(...)]` that no kind contains, since its history would have no effect. Searches from the kinds
/// and their statuses through the types that they contain, directly or nested.
fn check_reach(model: &VersionsModule, kinds: &[&VersionedType], diags: &mut Diags) {
    let mut reached = BTreeSet::new();
    let mut next: Vec<_> = kinds.to_vec();
    let status_of = |kind: &&VersionedType| {
        let status = kind.kube.as_ref().and_then(|kube| kube.status.as_ref())?;
        model.versioned_type(local_name(status)?)
    };
    next.extend(kinds.iter().filter_map(status_of));
    while let Some(versioned) = next.pop() {
        if reached.insert(versioned.name().map(ToString::to_string)) {
            let contained = model.contained_names(versioned);
            let is_contained = |name: &Ident| contained.contains(&name.to_string());
            next.extend(model.types.iter().filter(|versioned| versioned.name().is_some_and(is_contained)));
        }
    }
    for versioned in
        model.types.iter().filter(|versioned| !reached.contains(&versioned.name().map(ToString::to_string)))
    {
        if let (Some(name), Some((_, change))) = (versioned.name(), versioned.changes.first()) {
            let problem = format!("`{name}` has a history, but no kind in `{}` contains it", model.name);
            diags.error(&change.key, problem, "use it in a field of a kind, or remove its `#[version(...)]`");
        }
    }
}

/// Checks an item of the module that is neither a struct nor an enum, such as a function. Reports an item with the name of a version, for
/// which the expansion generates a module. Reports an item whose signature names a type with a history, since such a type exists only in
/// the modules of the versions.
fn check_other(model: &VersionsModule, item: &Item, imported: &BTreeSet<String>, diags: &mut Diags) {
    let name = match item {
        Item::Mod(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        item => type_name(item),
    };
    name.into_iter().for_each(|name| check_item_name(model, name, diags));
    let mut mentions = Signature { model, imported, found: Vec::new() };
    mentions.visit_item(item);
    let newest = model.versions.last().map_or_else(String::new, |version| version.name.to_string());
    if let Some(name) = mentions.found.first() {
        diags.error(name, format!("each version has a `{name}` of its own"), format!("write `{newest}::{name}`"));
    }
}

/// Reports an item that has the name of a version, since the expansion generates a module of this name.
fn check_item_name(model: &VersionsModule, name: &Ident, diags: &mut Diags) {
    if let Some(version) = model.versions.iter().find(|version| version.name == *name) {
        let problem = format!("the module of the version `{name}` has this name");
        diags.conflict(name, problem, "rename the item", &version.name, "the version is here");
    }
}

/// Returns the names that the `use` items of the module import; a glob import of a version (`use v1::*`) imports its types. Reports an
/// import with the name of a version.
fn imported_names(model: &VersionsModule, diags: &mut Diags) -> BTreeSet<String> {
    let mut names = Vec::new();
    for item in &model.others {
        if let Item::Use(item) = item {
            add_imported(&item.tree, model, &mut names);
        }
    }
    for name in &names {
        if let Some(version) = model.versions.iter().find(|version| version.name == *name) {
            let problem = format!("the module of the version `{name}` has this name");
            let fix = format!("rename the import, for example `as other_{name}`");
            diags.conflict(name, problem, fix, &version.name, "the version is here");
        }
    }
    names.iter().map(ToString::to_string).collect()
}

/// Adds the names that a `use` tree imports to `names`. The names of a glob import are only known for the module of a version.
fn add_imported(tree: &UseTree, model: &VersionsModule, names: &mut Vec<Ident>) {
    match tree {
        UseTree::Path(path) => {
            let is_version = model.versions.iter().any(|version| version.name == path.ident);
            if is_version && matches!(*path.tree, UseTree::Glob(_)) {
                names.extend(model.types.iter().filter_map(VersionedType::name).cloned());
            }
            add_imported(&path.tree, model, names);
        }
        UseTree::Name(name) => names.push(name.ident.clone()),
        UseTree::Rename(rename) => names.push(rename.rename.clone()),
        UseTree::Glob(_) => {}
        UseTree::Group(group) => group.items.iter().for_each(|tree| add_imported(tree, model, names)),
    }
}

/// Finds the types with a history that an item names outside of function bodies and expressions. These may have imports of their own.
struct Signature<'a> {
    model: &'a VersionsModule,
    imported: &'a BTreeSet<String>,
    found: Vec<Ident>,
}

impl Signature<'_> {
    /// Records the type that a path names, if it has a history and the module does not import the name.
    fn add(&mut self, path: &Path) {
        let name = local_name(path).filter(|name| !self.imported.contains(&name.to_string()));
        self.found.extend(name.filter(|name| self.model.versioned_type(name).is_some()).cloned());
    }
}

impl<'ast> Visit<'ast> for Signature<'_> {
    /// Records the type that the path names, and visits its type arguments.
    fn visit_type_path(&mut self, path: &'ast TypePath) {
        self.add(&path.path);
        visit::visit_type_path(self, path);
    }

    /// Skips the bodies of functions.
    fn visit_block(&mut self, _: &'ast Block) {}

    /// Skips expressions, such as the value of a constant.
    fn visit_expr(&mut self, _: &'ast Expr) {}

    /// Skips a nested module, which has names of its own.
    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}

    /// Visits the type that an `impl` is for, and the rest of the `impl` only if that type has no history: one message for an `impl` is
    /// enough.
    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let count = self.found.len();
        visit::visit_type(self, &item.self_ty);
        if self.found.len() == count {
            visit::visit_item_impl(self, item);
        }
    }
}
