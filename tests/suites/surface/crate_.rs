//! The modules of a crate, and what a name means in one of them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use syn::{Item, UseTree, Visibility, spanned::Spanned};

/// The path of a module from the top of its crate.
pub(super) type Place = Vec<String>;

/// A crate as its sources say it.
pub(super) struct Crate {
    pub(super) name: String,
    modules: BTreeMap<Place, Module>,
}

/// A module: its items, what it takes from elsewhere, and the file that it stands in.
pub(super) struct Module {
    pub(super) items: Vec<Item>,
    uses: Vec<Use>,
    text: String,
}

/// A name that a module takes from elsewhere; `*` for all of a module's.
pub(super) struct Use {
    pub(super) name: String,
    pub(super) path: Vec<String>,
    pub(super) is_public: bool,
}

/// What a name means.
pub(super) enum Meaning {
    /// The item of that name in a module.
    Item(Place, String),
    Module(Place),
    /// Something of another crate.
    Foreign(String),
}

impl Crate {
    pub(super) fn read(name: &str, lib: &Path) -> Self {
        let mut found = Self { name: name.to_owned(), modules: BTreeMap::new() };
        found.read_file(Vec::new(), lib, lib.parent().expect("a folder"));
        found
    }

    fn read_file(&mut self, place: Place, file: &Path, folder: &Path) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(place, syntax.items, text, folder);
    }

    fn add(&mut self, place: Place, items: Vec<Item>, text: String, folder: &Path) {
        for item in &items {
            let Item::Mod(module) = item else { continue };
            if is_test(&module.attrs) {
                continue;
            }
            let (name, mut below) = (module.ident.to_string(), place.clone());
            below.push(name.clone());
            match &module.content {
                Some((_, items)) => self.add(below, items.clone(), text.clone(), &folder.join(&name)),
                None => self.read_file(below, &file_of(folder, &name), &folder.join(&name)),
            }
        }
        let uses = items.iter().flat_map(uses_of).collect();
        self.modules.insert(place, Module { items, uses, text });
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = (&Place, &Module)> {
        self.modules.iter()
    }

    pub(super) fn module(&self, place: &[String]) -> Option<&Module> {
        self.modules.get(place)
    }

    /// What a path means in a module.
    pub(super) fn meaning(&self, place: &[String], path: &[String]) -> Option<Meaning> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.below(&[], rest),
            "self" => self.below(place, rest),
            "super" => self.below_or_up(&place[..place.len().checked_sub(1)?], rest),
            _ => self.below(place, path).or_else(|| Some(Meaning::Foreign(path.join("::")))),
        }
    }

    fn below_or_up(&self, place: &[String], path: &[String]) -> Option<Meaning> {
        match path.first().map(String::as_str) {
            Some("super") => self.below_or_up(&place[..place.len().checked_sub(1)?], &path[1..]),
            _ => self.below(place, path),
        }
    }

    fn below(&self, place: &[String], path: &[String]) -> Option<Meaning> {
        let module = self.modules.get(place)?;
        let Some((name, rest)) = path.split_first() else { return Some(Meaning::Module(place.to_vec())) };
        let inner: Place = place.iter().chain([name]).cloned().collect();
        if self.modules.contains_key(&inner) {
            return self.below(&inner, rest);
        }
        if module.items.iter().any(|item| name_of(item).as_ref() == Some(name)) {
            return Some(Meaning::Item(place.to_vec(), name.clone()));
        }
        let taken = module.uses.iter().find(|taken| taken.name == *name);
        if let Some(taken) = taken {
            let path: Vec<_> = taken.path.iter().chain(rest).cloned().collect();
            return self.meaning(place, &path);
        }
        // What a module has by `use super::*`.
        module.uses.iter().filter(|taken| taken.name == "*").find_map(|all| match self.meaning(place, &all.path)? {
            Meaning::Module(from) if from != place => self.below(&from, path),
            _ => None,
        })
    }
}

impl Module {
    pub(super) fn public_uses(&self) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(|taken| taken.is_public)
    }

    /// The source of a piece of syntax on one line.
    pub(super) fn text_of(&self, syntax: &impl Spanned) -> String {
        let text = self.text.get(syntax.span().byte_range()).unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // As it would stand on one line.
        let mut line = line.replace("( ", "(").replace(" )", ")").replace("< ", "<").replace(",)", ")");
        line = line.replace(", )", ")").replace(",>", ">").replace(" .", ".");
        line
    }
}

pub(super) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_test = |list: &syn::MetaList| list.tokens.to_string() == "test";
        attribute.path().is_ident("cfg") && attribute.meta.require_list().is_ok_and(is_test)
    })
}

/// The name of an item that can be reached by one.
pub(super) fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    let beside = folder.join(format!("{name}.rs"));
    if beside.exists() { beside } else { folder.join(name).join("mod.rs") }
}

fn uses_of(item: &Item) -> Vec<Use> {
    let Item::Use(item) = item else { return Vec::new() };
    let mut uses = Vec::new();
    collect(&item.tree, &mut Vec::new(), is_public(&item.vis), &mut uses);
    uses
}

fn collect(tree: &UseTree, path: &mut Vec<String>, is_public: bool, uses: &mut Vec<Use>) {
    let whole = |path: &[String], last: &str| -> Vec<String> {
        // `use a::{self}` is `a`.
        path.iter().cloned().chain(Some(last.to_owned()).filter(|last| last != "self")).collect()
    };
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            collect(&tree.tree, path, is_public, uses);
            path.pop();
        }
        UseTree::Name(tree) => {
            let path = whole(path, &tree.ident.to_string());
            uses.push(Use { name: path.last().cloned().unwrap_or_default(), path, is_public });
        }
        UseTree::Rename(tree) => {
            let path = whole(path, &tree.ident.to_string());
            uses.push(Use { name: tree.rename.to_string(), path, is_public });
        }
        UseTree::Glob(_) => uses.push(Use { name: "*".to_owned(), path: path.clone(), is_public }),
        UseTree::Group(tree) => tree.items.iter().for_each(|tree| collect(tree, path, is_public, uses)),
    }
}
