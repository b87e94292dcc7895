//! The files of a crate as a graph: an edge leads from a file to each file that defines an item it names.
//!
//! Re-exports are followed to the file of the definition, so a module that only declares and re-exports its children is no part of a
//! circle. Code of tests doesn't count.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

use syn::{Ident, Item, ItemMod, ItemUse, UseTree};

use super::{
    fact::is_of_test,
    source::{Seen, Source},
};

/// The path of a module below its crate.
type Module = Vec<String>;

/// Re-exports of re-exports are followed so far.
const DEPTH: usize = 16;

/// A file of a crate, without its tests.
struct File {
    path: PathBuf,
    /// What `use` brings into scope: the path by the name.
    imports: BTreeMap<String, Vec<String>>,
    /// Paths of which everything is brought into scope, with their lines.
    globs: Vec<(Vec<String>, usize)>,
    /// Names of items that the file defines itself.
    defined: BTreeSet<String>,
    /// Types that the file defines, with their lines.
    types: Vec<(String, usize)>,
    /// Paths that its code names, with their lines.
    named: Vec<(Vec<String>, usize)>,
}

/// A type, with the places of its definitions.
pub(super) type Definitions = BTreeMap<String, Vec<(PathBuf, usize)>>;

/// One step of a circle: the file, the line, and the path that leads to the next file.
pub(super) struct Step {
    pub(super) file: PathBuf,
    pub(super) line: usize,
    pub(super) path: String,
}

/// All files of a crate.
pub(super) struct Graph {
    files: BTreeMap<Module, File>,
}

impl Graph {
    /// Reads the files below `root`, the folder of `lib.rs` or `main.rs`.
    pub(super) fn new<'s>(root: &Path, sources: impl Iterator<Item = &'s Source>) -> Self {
        let (mut files, mut tests) = (BTreeMap::new(), BTreeSet::new());
        for source in sources {
            let Ok(below) = source.path.strip_prefix(root) else { continue };
            let module = module(below);
            if module.iter().any(|part| part == "tests") {
                continue;
            }
            let file = File::read(source, &module, &mut tests);
            files.insert(module, file);
        }
        files.retain(|module, _| !(1..=module.len()).any(|length| tests.contains(&module[..length])));
        Self { files }
    }

    /// The shortest circle through each file that is in one, each circle once.
    pub(super) fn circles(&self) -> Vec<Vec<Step>> {
        let edges: BTreeMap<_, _> = self.files.keys().map(|module| (module, self.edges(module))).collect();
        let circles = self.files.keys().filter_map(|start| {
            let circle = shortest(start, &edges)?;
            // The one that begins at its first file stands for all of it.
            circle.iter().all(|(module, ..)| *module >= start).then_some(circle)
        });
        let step = |(module, line, path): (&Module, usize, &str)| Step {
            file: self.files[module].path.clone(),
            line,
            path: path.to_owned(),
        };
        circles.map(|circle| circle.into_iter().map(step).collect()).collect()
    }

    /// Types of which there are several of one name.
    pub(super) fn homonyms(&self) -> Definitions {
        let mut found = Definitions::new();
        for file in self.files.values() {
            for (name, line) in &file.types {
                found.entry(name.clone()).or_default().push((file.path.clone(), *line));
            }
        }
        found.retain(|_, places| places.len() > 1);
        found
    }

    /// The files that define what a file names. Nothing leads from the root, which names everything that is public.
    fn edges(&self, module: &Module) -> BTreeMap<&Module, (usize, String)> {
        let mut edges = BTreeMap::new();
        if module.is_empty() {
            return edges;
        }
        let file = &self.files[module];
        for (words, line) in file.named.iter().chain(&file.globs) {
            let target = self.absolute(module, words, DEPTH).and_then(|path| self.definition(&path, DEPTH));
            if let Some(target) = target.filter(|target| *target != module) {
                edges.entry(target).or_insert_with(|| (*line, words.join("::")));
            }
        }
        edges
    }

    /// A path as it is from the root of the crate; `None` for one that leads out of it.
    fn absolute(&self, module: &[String], words: &[String], depth: usize) -> Option<Vec<String>> {
        let (first, rest) = words.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let ups = words.iter().take_while(|word| *word == "super").count();
                Some([module.get(..module.len().checked_sub(ups)?)?, &words[ups..]].concat())
            }
            _ if self.files.contains_key(&[module, std::slice::from_ref(first)].concat()) => {
                Some([module, words].concat())
            }
            _ => {
                let import = self.files.get(module)?.imports.get(first)?;
                if import.first() == Some(first) {
                    return None;
                }
                let import = self.absolute(module, import, depth.checked_sub(1)?)?;
                Some([import.as_slice(), rest].concat())
            }
        }
    }

    /// The file that defines the item at a path from the root.
    fn definition(&self, path: &[String], depth: usize) -> Option<&Module> {
        let length = (0..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
        let (module, file) = self.files.get_key_value(&path[..length])?;
        let Some(name) = path.get(length) else { return Some(module) };
        if file.defined.contains(name) {
            return Some(module);
        }
        let depth = depth.checked_sub(1)?;
        if let Some(import) = file.imports.get(name) {
            let import = self.absolute(module, import, depth)?;
            return self.definition(&[import.as_slice(), &path[length + 1..]].concat(), depth);
        }
        let by_glob = file.globs.iter().find_map(|(glob, _)| {
            let glob = self.absolute(module, glob, depth)?;
            let target = self.definition(&[glob.as_slice(), std::slice::from_ref(name)].concat(), depth)?;
            self.files[target].defined.contains(name).then_some(target)
        });
        Some(by_glob.unwrap_or(module))
    }
}

impl File {
    fn read(source: &Source, module: &Module, tests: &mut BTreeSet<Module>) -> Self {
        let syntax = syn::parse_file(&source.text).unwrap_or_else(|error| panic!("{}: {error}", source.path.display()));
        let named = source.shipped().filter_map(|fact| match &fact.seen {
            // A word alone is in scope already; `super` alone is that of `pub(super)`.
            Seen::Path(words) if words.len() > 1 => Some((words.clone(), fact.line)),
            _ => None,
        });
        let mut file = Self {
            path: source.path.clone(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
            defined: BTreeSet::new(),
            types: Vec::new(),
            named: named.collect(),
        };
        for item in &syntax.items {
            file.add(item, module, tests);
        }
        file
    }

    fn add(&mut self, item: &Item, module: &Module, tests: &mut BTreeSet<Module>) {
        match item {
            Item::Mod(ItemMod { attrs, ident, content: None, .. }) if attrs.iter().any(is_of_test) => {
                tests.insert([module.as_slice(), &[ident.to_string()]].concat());
            }
            Item::Mod(ItemMod { attrs, content: Some((_, items)), .. }) if !attrs.iter().any(is_of_test) => {
                items.iter().for_each(|item| self.add(item, module, tests));
            }
            Item::Use(ItemUse { attrs, tree, .. }) if !attrs.iter().any(is_of_test) => self.import(tree, &[]),
            Item::Struct(item) if !item.attrs.iter().any(is_of_test) => self.define_type(&item.ident),
            Item::Enum(item) if !item.attrs.iter().any(is_of_test) => self.define_type(&item.ident),
            Item::Trait(item) if !item.attrs.iter().any(is_of_test) => self.define_type(&item.ident),
            Item::Type(item) if !item.attrs.iter().any(is_of_test) => self.define_type(&item.ident),
            Item::Fn(item) => self.define(&item.sig.ident),
            Item::Const(item) => self.define(&item.ident),
            Item::Static(item) => self.define(&item.ident),
            _ => {}
        }
    }

    fn define(&mut self, name: &Ident) {
        self.defined.insert(name.to_string());
    }

    fn define_type(&mut self, name: &Ident) {
        self.define(name);
        self.types.push((name.to_string(), name.span().start().line));
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let longer = |word: &Ident| [before, &[word.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &longer(&path.ident)),
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = before.last() {
                    self.imports.insert(last.clone(), before.to_vec());
                }
            }
            UseTree::Name(name) => {
                self.imports.insert(name.ident.to_string(), longer(&name.ident));
            }
            UseTree::Rename(rename) => {
                self.imports.insert(rename.rename.to_string(), longer(&rename.ident));
            }
            UseTree::Glob(glob) => self.globs.push((before.to_vec(), glob.star_token.spans[0].start().line)),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.import(item, before)),
        }
    }
}

/// The module that a file below the root of its crate is.
fn module(below: &Path) -> Module {
    let path = below.with_extension("");
    let mut module: Module = path.iter().filter_map(|part| part.to_str()).map(str::to_owned).collect();
    if module.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

/// The shortest way along the edges from a file back to itself.
fn shortest<'g>(
    start: &'g Module,
    edges: &'g BTreeMap<&Module, BTreeMap<&'g Module, (usize, String)>>,
) -> Option<Vec<(&'g Module, usize, &'g str)>> {
    let (mut from, mut open) = (BTreeMap::<&Module, &Module>::new(), VecDeque::from([start]));
    while let Some(module) = open.pop_front() {
        for target in edges[module].keys() {
            if *target == start {
                let (mut way, mut at, mut next) = (Vec::new(), module, start);
                loop {
                    let (line, path) = &edges[at][next];
                    way.push((at, *line, path.as_str()));
                    let Some(before) = from.get(at).filter(|_| at != start) else { break };
                    (next, at) = (at, before);
                }
                way.reverse();
                return Some(way);
            }
            if !from.contains_key(target) {
                from.insert(*target, module);
                open.push_back(*target);
            }
        }
    }
    None
}
