//! A line for each thing that can be reached from outside.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, TraitItem, Type};

use super::crate_::{Crate, Meaning, Module, Place, is_public, is_test, name_of};

/// What is reached by which paths: the module and the name of each item.
type Reached = BTreeMap<String, (Place, String)>;

/// The public interface, sorted.
pub(super) fn of(all: &Crate) -> Vec<String> {
    let (reached, foreign) = reached(all);
    let impls = impls(all);
    let mut lines = BTreeSet::new();
    for path in foreign {
        lines.insert(path);
    }
    for (path, (place, name)) in &reached {
        let Some(module) = all.module(place) else { continue };
        let found = module.items.iter().filter(|item| name_of(item).as_ref() == Some(name));
        for item in found {
            lines.extend(lines_of(module, item).into_iter().map(|line| format!("{path}: {line}")));
        }
        for (module, impl_) in impls.get(&(place.clone(), name.clone())).into_iter().flatten() {
            lines.extend(lines_of_impl(module, impl_).into_iter().map(|line| format!("{path}: {line}")));
        }
    }
    lines.into_iter().collect()
}

/// The macros of a crate, with the attributes that they know.
pub(super) fn of_macros(lib: &Path) -> Vec<String> {
    let syntax = syn::parse_file(&fs::read_to_string(lib).expect("the macros")).expect("Rust");
    let mut lines = Vec::new();
    for item in &syntax.items {
        let Item::Fn(item) = item else { continue };
        for attribute in &item.attrs {
            let form = attribute.path().segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            let says = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
            if form.starts_with("proc_macro") {
                lines.push(format!("opgen_macros::{}: {form} {says}", item.sig.ident).trim_end().to_owned());
            }
        }
    }
    lines.sort();
    lines
}

/// The types that can be built or matched as a whole from outside.
pub(super) fn open_types(all: &Crate) -> Vec<String> {
    let (reached, _) = reached(all);
    let is_open = |(_, (place, name)): &(&String, &(Place, String))| {
        let items = all.module(place).into_iter().flat_map(|module| &module.items);
        items.into_iter().any(|item| name_of(item).as_ref() == Some(name) && is_open(item))
    };
    let mut seen = BTreeSet::new();
    let open = reached.iter().filter(is_open).filter(|(_, item)| seen.insert((*item).clone()));
    open.map(|(path, _)| path.clone()).collect()
}

fn is_open(item: &Item) -> bool {
    match item {
        Item::Enum(item) => !has(&item.attrs, "non_exhaustive"),
        Item::Struct(item) => {
            let fields = item.fields.len();
            fields > 0 && item.fields.iter().all(|field| is_public(&field.vis)) && !has(&item.attrs, "non_exhaustive")
        }
        _ => false,
    }
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let hidden = |list: &syn::MetaList| list.tokens.to_string() == "hidden";
        attribute.path().is_ident("doc") && attribute.meta.require_list().is_ok_and(hidden)
    })
}

/// All that has a public path, and what other crates' things are handed on.
fn reached(all: &Crate) -> (Reached, Vec<String>) {
    let (mut reached, mut foreign) = (Reached::new(), Vec::new());
    visit(all, &[], &all.name, &mut reached, &mut foreign);
    (reached, foreign)
}

fn visit(all: &Crate, place: &[String], path: &str, reached: &mut Reached, foreign: &mut Vec<String>) {
    let Some(module) = all.module(place) else { return };
    for item in &module.items {
        let (attributes, visibility) = match item {
            Item::Mod(item) => (&item.attrs, &item.vis),
            Item::Use(item) => (&item.attrs, &item.vis),
            _ => match parts(item) {
                Some(parts) => parts,
                None => continue,
            },
        };
        if is_hidden(attributes) || is_test(attributes) || !is_public(visibility) {
            continue;
        }
        if let Item::Mod(inner) = item {
            let below: Place = place.iter().cloned().chain([inner.ident.to_string()]).collect();
            visit(all, &below, &format!("{path}::{}", inner.ident), reached, foreign);
        } else if let Some(name) = name_of(item) {
            reached.insert(format!("{path}::{name}"), (place.to_vec(), name));
        }
    }
    for taken in module.public_uses() {
        let named = format!("{path}::{}", taken.name);
        match all.meaning(place, &taken.path) {
            Some(Meaning::Item(from, name)) => drop(reached.insert(named, (from, name))),
            Some(Meaning::Module(from)) => visit(all, &from, &named, reached, foreign),
            Some(Meaning::Foreign(from)) => foreign.push(format!("{named}: pub use {from}")),
            None => foreign.push(format!("{named}: pub use {}", taken.path.join("::"))),
        }
    }
}

fn parts(item: &Item) -> Option<(&Vec<Attribute>, &syn::Visibility)> {
    Some(match item {
        Item::Const(item) => (&item.attrs, &item.vis),
        Item::Enum(item) => (&item.attrs, &item.vis),
        Item::Fn(item) => (&item.attrs, &item.vis),
        Item::Static(item) => (&item.attrs, &item.vis),
        Item::Struct(item) => (&item.attrs, &item.vis),
        Item::Trait(item) => (&item.attrs, &item.vis),
        Item::Type(item) => (&item.attrs, &item.vis),
        _ => return None,
    })
}

/// The impls of each type of the crate, wherever they stand.
fn impls(all: &Crate) -> BTreeMap<(Place, String), Vec<(&Module, &ItemImpl)>> {
    let mut impls = BTreeMap::<_, Vec<_>>::new();
    for (place, module) in all.modules() {
        for item in &module.items {
            let Item::Impl(impl_) = item else { continue };
            let Type::Path(of) = impl_.self_ty.as_ref() else { continue };
            let path: Vec<_> = of.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            if let Some(Meaning::Item(from, name)) = all.meaning(place, &path) {
                impls.entry((from, name)).or_default().push((module, impl_));
            }
        }
    }
    impls
}

fn lines_of(module: &Module, item: &Item) -> Vec<String> {
    let mut lines = Vec::new();
    match item {
        Item::Struct(item) => {
            let generics = module.text_of(&item.generics);
            let mut head = format!("{}pub struct {}{generics}", growth(&item.attrs), item.ident);
            head += &derives(module, &item.attrs);
            if item.fields.iter().any(|field| !is_public(&field.vis)) {
                head += ", private fields";
            }
            lines.push(head);
            for (number, field) in item.fields.iter().enumerate().filter(|(_, field)| is_public(&field.vis)) {
                let name = field.ident.as_ref().map_or_else(|| number.to_string(), ToString::to_string);
                lines.push(format!("pub {name}: {}", module.text_of(&field.ty)));
            }
        }
        Item::Enum(item) => {
            let generics = module.text_of(&item.generics);
            let derives = derives(module, &item.attrs);
            lines.push(format!("{}pub enum {}{generics}{derives}", growth(&item.attrs), item.ident));
            lines.extend(
                item.variants
                    .iter()
                    .map(|variant| format!("variant {}{}", variant.ident, fields(module, &variant.fields))),
            );
        }
        Item::Trait(item) => {
            let (generics, bounds) = (module.text_of(&item.generics), module.text_of(&item.supertraits));
            let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
            lines.push(format!("pub trait {}{generics}{bounds}", item.ident));
            lines.extend(item.items.iter().filter_map(|item| match item {
                TraitItem::Fn(method) => {
                    let provided = if method.default.is_some() { ", provided" } else { "" };
                    (!is_hidden(&method.attrs)).then(|| format!("{}{provided}", module.text_of(&method.sig)))
                }
                TraitItem::Const(item) => Some(format!("const {}: {}", item.ident, module.text_of(&item.ty))),
                TraitItem::Type(item) => Some(format!("type {}", item.ident)),
                _ => None,
            }));
        }
        Item::Fn(item) => lines.push(format!("pub {}", module.text_of(&item.sig))),
        Item::Const(item) => {
            let (type_, value) = (module.text_of(&item.ty), module.text_of(&item.expr));
            lines.push(format!("pub const {}: {type_} = {value}", item.ident));
        }
        Item::Static(item) => lines.push(format!("pub static {}: {}", item.ident, module.text_of(&item.ty))),
        Item::Type(item) => lines.push(format!("pub type {} = {}", item.ident, module.text_of(&item.ty))),
        _ => {}
    }
    lines
}

fn lines_of_impl(module: &Module, impl_: &ItemImpl) -> Vec<String> {
    if is_test(&impl_.attrs) || is_hidden(&impl_.attrs) {
        return Vec::new();
    }
    if let Some((trait_, _)) = &impl_.trait_ {
        return vec![format!("impl {}", module.text_of(trait_))];
    }
    let line = |item: &ImplItem| match item {
        ImplItem::Fn(method) if is_public(&method.vis) && !is_hidden(&method.attrs) => {
            Some(format!("pub {}", module.text_of(&method.sig)))
        }
        ImplItem::Const(item) if is_public(&item.vis) => {
            Some(format!("pub const {}: {}", item.ident, module.text_of(&item.ty)))
        }
        _ => None,
    };
    impl_.items.iter().filter_map(line).collect()
}

fn growth(attributes: &[Attribute]) -> &'static str {
    if has(attributes, "non_exhaustive") { "#[non_exhaustive] " } else { "" }
}

fn derives(module: &Module, attributes: &[Attribute]) -> String {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let names: Vec<_> = derives.map(|attribute| module.text_of(attribute)).collect();
    let names = names.iter().map(|text| text.trim_start_matches("#[derive(").trim_end_matches(")]"));
    let names: Vec<_> = names.collect();
    if names.is_empty() { String::new() } else { format!(", derives {}", names.join(", ")) }
}

fn fields(module: &Module, fields: &Fields) -> String {
    match fields {
        Fields::Unit => String::new(),
        Fields::Unnamed(fields) => {
            let types: Vec<_> = fields.unnamed.iter().map(|field| module.text_of(&field.ty)).collect();
            format!("({})", types.join(", "))
        }
        Fields::Named(fields) => {
            let named = fields.named.iter().map(|field| {
                let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{name}: {}", module.text_of(&field.ty))
            });
            format!(" {{ {} }}", named.collect::<Vec<_>>().join(", "))
        }
    }
}
