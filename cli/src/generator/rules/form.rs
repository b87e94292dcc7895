//! What a type is in JSON, as far as its name and the imports of its module tell.

use std::collections::{BTreeMap, BTreeSet};

use syn::{GenericArgument, Item, PathArguments, PathSegment, Type, UseTree};

const NUMBERS: [&str; 14] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Number,
    Bool,
    List,
    Map,
    /// `Quantity` and `IntOrString` of Kubernetes, whose schema has no type.
    IntOrString,
    Unknown,
}

impl Form {
    pub(super) fn shown(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Bool => "a `bool`",
            Self::List => "a list",
            Self::Map => "a map",
            Self::IntOrString => "a number or text",
            Self::Unknown => "this type",
        }
    }
}

/// The names of one module.
pub(super) struct Scope {
    /// Types of its own.
    own: BTreeSet<String>,
    /// The path behind each imported name.
    imported: BTreeMap<String, Vec<String>>,
}

impl Scope {
    pub(super) fn of(items: &[Item]) -> Self {
        let (mut own, mut imported) = (BTreeSet::new(), BTreeMap::new());
        for item in items {
            match item {
                Item::Struct(item) => _ = own.insert(item.ident.to_string()),
                Item::Enum(item) => _ = own.insert(item.ident.to_string()),
                Item::Type(item) => _ = own.insert(item.ident.to_string()),
                Item::Use(item) => import(&item.tree, &[], &mut imported),
                _ => {}
            }
        }
        Self { own, imported }
    }

    pub(super) fn form(&self, ty: &Type) -> Form {
        let path = match ty {
            Type::Array(_) | Type::Slice(_) => return Form::List,
            Type::Group(group) => return self.form(&group.elem),
            Type::Paren(paren) => return self.form(&paren.elem),
            Type::Path(path) if path.qself.is_none() => &path.path,
            _ => return Form::Unknown,
        };
        let Some(segment) = path.segments.last() else { return Form::Unknown };
        let resolved = self.resolved(path);
        let is_of_project = resolved.first().is_none_or(|first| ["crate", "self", "super"].contains(&first.as_str()));
        let is_of_kubernetes = resolved.iter().any(|segment| segment == "k8s_openapi");
        let arguments = arguments(segment);
        match (resolved.last().map_or("", String::as_str), arguments.as_slice()) {
            _ if is_of_project => Form::Unknown,
            ("Option" | "Box" | "Arc" | "Rc" | "Cow", [inner, ..]) => self.form(inner),
            ("String" | "str" | "char", []) => Form::Text,
            ("bool", []) => Form::Bool,
            ("Quantity" | "IntOrString", []) if is_of_kubernetes => Form::IntOrString,
            (number, []) if NUMBERS.contains(&number) => Form::Number,
            ("Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "IndexSet", [_, ..]) => Form::List,
            ("BTreeMap" | "HashMap" | "IndexMap", [_, _, ..]) => Form::Map,
            _ => Form::Unknown,
        }
    }

    /// The path of a type with what its first name was imported as; empty for a type of the module itself.
    fn resolved(&self, path: &syn::Path) -> Vec<String> {
        let mut names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let first = names.first().cloned().unwrap_or_default();
        if self.own.contains(&first) {
            return Vec::new();
        }
        if let Some(import) = self.imported.get(&first) {
            names.splice(..1, import.iter().cloned());
        }
        names
    }
}

fn import(tree: &UseTree, above: &[String], imported: &mut BTreeMap<String, Vec<String>>) {
    let with = |name: &syn::Ident| {
        let mut path = above.to_vec();
        // `use a::{self}` imports `a`.
        if name != "self" || path.is_empty() {
            path.push(name.to_string());
        }
        path
    };
    match tree {
        UseTree::Path(path) => import(&path.tree, &with(&path.ident), imported),
        UseTree::Name(name) => {
            let path = with(&name.ident);
            imported.extend(path.last().cloned().map(|name| (name, path)));
        }
        UseTree::Rename(rename) => _ = imported.insert(rename.rename.to_string(), with(&rename.ident)),
        UseTree::Group(group) => group.items.iter().for_each(|tree| import(tree, above, imported)),
        UseTree::Glob(_) => {}
    }
}

fn arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}
