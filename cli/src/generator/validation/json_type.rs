//! Derives the JSON type of a Rust type from its name and the imports of its module.

use std::collections::{BTreeMap, BTreeSet};

use syn::{GenericArgument, Item, PathArguments, PathSegment, Type, UseTree};

const NUMBERS: [&str; 14] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64"];

/// The JSON type that the schema of a Rust type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonType {
    Text,
    Number,
    Bool,
    List,
    Map,
    /// `Quantity` and `IntOrString` of Kubernetes, whose schema has no type.
    IntOrString,
    Unknown,
}

impl JsonType {
    /// Returns the type with an article, for messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Bool => "a `bool`",
            Self::List => "a list",
            Self::Map => "a map",
            Self::IntOrString => "a number or string",
            Self::Unknown => "this type",
        }
    }
}

/// The names in scope of a module.
pub(super) struct ModuleScope {
    /// The types of the module.
    local: BTreeSet<String>,
    /// The path of each imported name.
    imported: BTreeMap<String, Vec<String>>,
}

impl ModuleScope {
    /// Collects the names of the types that a module defines, and the paths of its imports, from the items of the module.
    pub(super) fn of(items: &[Item]) -> Self {
        let (mut local, mut imported) = (BTreeSet::new(), BTreeMap::new());
        for item in items {
            match item {
                Item::Struct(item) => _ = local.insert(item.ident.to_string()),
                Item::Enum(item) => _ = local.insert(item.ident.to_string()),
                Item::Type(item) => _ = local.insert(item.ident.to_string()),
                Item::Use(item) => add_imports(&item.tree, &[], &mut imported),
                _ => {}
            }
        }
        Self { local, imported }
    }

    /// Returns the JSON type of a Rust type; `Unknown` if the name of the type does not imply it, for example for types of the project.
    pub(super) fn json_type(&self, ty: &Type) -> JsonType {
        let path = match ty {
            Type::Array(_) | Type::Slice(_) => return JsonType::List,
            Type::Group(group) => return self.json_type(&group.elem),
            Type::Paren(paren) => return self.json_type(&paren.elem),
            Type::Path(path) if path.qself.is_none() => &path.path,
            _ => return JsonType::Unknown,
        };
        let Some(segment) = path.segments.last() else { return JsonType::Unknown };
        let resolved = self.resolve(path);
        // The resolved path is empty for a type that the module defines.
        let is_of_project = resolved.first().is_none_or(|first| ["crate", "self", "super"].contains(&first.as_str()));
        let is_of_kubernetes = resolved.iter().any(|segment| segment == "k8s_openapi");
        let arguments = type_arguments(segment);
        match (resolved.last().map_or("", String::as_str), arguments.as_slice()) {
            _ if is_of_project => JsonType::Unknown,
            ("Option" | "Box" | "Arc" | "Rc" | "Cow", [inner, ..]) => self.json_type(inner),
            ("String" | "str" | "char", []) => JsonType::Text,
            ("bool", []) => JsonType::Bool,
            ("Quantity" | "IntOrString", []) if is_of_kubernetes => JsonType::IntOrString,
            (number, []) if NUMBERS.contains(&number) => JsonType::Number,
            ("Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "IndexSet", [_, ..]) => JsonType::List,
            ("BTreeMap" | "HashMap" | "IndexMap", [_, _, ..]) => JsonType::Map,
            _ => JsonType::Unknown,
        }
    }

    /// Returns the segments of a type's path with an imported first segment replaced by the path of the import; empty for a type that the
    /// module defines.
    fn resolve(&self, path: &syn::Path) -> Vec<String> {
        let mut names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let first = names.first().cloned().unwrap_or_default();
        if self.local.contains(&first) {
            return Vec::new();
        }
        if let Some(import) = self.imported.get(&first) {
            names.splice(..1, import.iter().cloned());
        }
        names
    }
}

/// Adds each name that a `use` tree imports, with the imported path, to `imported`; `parent` is the path in front of the tree.
fn add_imports(tree: &UseTree, parent: &[String], imported: &mut BTreeMap<String, Vec<String>>) {
    let path_to = |name: &syn::Ident| {
        let mut path = parent.to_vec();
        // `use a::{self}` imports `a`.
        if name != "self" || path.is_empty() {
            path.push(name.to_string());
        }
        path
    };
    match tree {
        UseTree::Path(path) => add_imports(&path.tree, &path_to(&path.ident), imported),
        UseTree::Name(name) => {
            let path = path_to(&name.ident);
            imported.extend(path.last().cloned().map(|name| (name, path)));
        }
        UseTree::Rename(rename) => _ = imported.insert(rename.rename.to_string(), path_to(&rename.ident)),
        UseTree::Group(group) => group.items.iter().for_each(|tree| add_imports(tree, parent, imported)),
        UseTree::Glob(_) => {}
    }
}

/// Returns the type arguments of a path segment, without lifetimes and constants: `String` and `u8` for `BTreeMap<String, u8>`.
fn type_arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}
