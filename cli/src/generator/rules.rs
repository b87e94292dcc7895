//! Finds validation attributes that `schemars` ignores for the type of their field.
//!
//! The schema says nothing of what was left out, and the derive `Managed` sees the spec alone. So this reads the source of
//! every struct and enum with a schema. A type whose form its name doesn't tell (an alias, a type of the project) is left
//! alone, as is what a macro writes.

mod form;

use std::{collections::BTreeSet, path::Path};

use syn::{Attribute, Field, Fields, Item, Meta, Path as Name, Token, punctuated::Punctuated, spanned::Spanned as _};

use crate::error::{Error, Result};
use form::{Form, Scope};

/// An error that lists the rules without effect in the files of a program that lie below `root`.
pub(crate) fn check<'a>(files: impl Iterator<Item = &'a Path>, root: &Path) -> Result<()> {
    let mut found = BTreeSet::new();
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let Ok(shown) = file.strip_prefix(root) else { continue };
        let Ok(text) = fs_err::read_to_string(file) else { continue };
        let of_file = without_effect(&text).into_iter();
        found.extend(of_file.map(|Finding { line, text }| (shown.to_owned(), line, text)));
    }
    if found.is_empty() {
        return Ok(());
    }
    let list = found.iter().map(|(file, line, text)| format!("\n  {}:{line}: {text}", file.display()));
    let list: String = list.collect();
    Err(Error::failed(format!("the schema would lack rules that the code has, so nothing is written{list}"))
        .hint("`schemars` leaves out a rule that the type of the field doesn't take; change the rule or the type"))
}

#[derive(Debug, PartialEq, Eq)]
struct Finding {
    line: usize,
    text: String,
}

/// The rules without effect in the text of a file; none in one that can't be parsed, since it is no Rust.
fn without_effect(text: &str) -> Vec<Finding> {
    let is_ruled = ["schemars(", "validate(", "garde("].iter().any(|attribute| text.contains(attribute));
    let file = Some(text).filter(|_| is_ruled).and_then(|text| syn::parse_file(text).ok());
    let mut found = Vec::new();
    items(&file.map(|file| file.items).unwrap_or_default(), &mut found);
    found
}

fn items(all: &[Item], found: &mut Vec<Finding>) {
    let scope = Scope::of(all);
    for item in all {
        match item {
            Item::Mod(module) if !is_test(&module.attrs) => {
                items(module.content.as_ref().map(|(_, items)| items.as_slice()).unwrap_or_default(), found);
            }
            Item::Struct(item) => {
                let Some(schema) = Derived::of(&item.attrs) else { continue };
                schema.fields(&item.fields, &item.ident.to_string(), &scope, found);
            }
            Item::Enum(item) => {
                let Some(schema) = Derived::of(&item.attrs) else { continue };
                for variant in &item.variants {
                    schema.fields(&variant.fields, &format!("{}::{}", item.ident, variant.ident), &scope, found);
                }
            }
            _ => {}
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<Name>().is_ok_and(|name| name.is_ident("test"))
    })
}

/// A type whose schema is derived.
struct Derived {
    /// Whether `validate` and `garde` are read by a derive of their own: then a rule has an effect without a schema.
    validates: bool,
    /// Whether every field has a default.
    default: bool,
}

impl Derived {
    fn of(attributes: &[Attribute]) -> Option<Self> {
        let derives: Vec<Name> =
            attributes.iter().filter(|it| it.path().is_ident("derive")).flat_map(arguments::<Name>).collect();
        let has = |name: &str| derives.iter().any(|derive| derive.segments.last().is_some_and(|it| it.ident == name));
        let default = metas(attributes, &["serde", "schemars"]).iter().any(|meta| meta.path().is_ident("default"));
        (has("JsonSchema") || has("KubeSchema")).then_some(Self { validates: has("Validate"), default })
    }

    fn fields(&self, fields: &Fields, owner: &str, scope: &Scope, found: &mut Vec<Finding>) {
        for (index, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            self.field(field, &format!("{owner}.{name}"), scope, found);
        }
    }

    fn field(&self, field: &Field, shown: &str, scope: &Scope, found: &mut Vec<Finding>) {
        let general = metas(&field.attrs, &["serde", "schemars"]);
        let has = |names: &[&str]| general.iter().any(|meta| names.iter().any(|name| meta.path().is_ident(name)));
        if has(&["skip", "skip_serializing", "with", "schema_with", "flatten"]) {
            return;
        }
        let rules: &[&str] = if self.validates { &["schemars"] } else { &["schemars", "validate", "garde"] };
        let form = scope.form(&field.ty);
        for meta in metas(&field.attrs, rules) {
            let Some(rule) = meta.path().get_ident().map(ToString::to_string) else { continue };
            let problem = match rule.as_str() {
                "required" if has(&["default"]) || self.default => Some((
                    "a field with a default, which may be missing".to_owned(),
                    "remove `required`, or the default",
                )),
                rule => form.refuses(rule).map(|fix| (form.shown().to_owned(), fix)),
            };
            if let Some((what, fix)) = problem {
                let text = format!("`{shown}`: `{rule}` has no effect on {what}; {fix}");
                found.push(Finding { line: meta.path().span().start().line, text });
            }
        }
    }
}

impl Form {
    /// What to write in place of a rule that has no effect on a type of this form.
    fn refuses(self, rule: &str) -> Option<&'static str> {
        let of_forms: &[Self] = match rule {
            "length" => &[Self::Text, Self::List],
            "regex" | "pattern" | "contains" => &[Self::Text],
            "range" => &[Self::Number],
            "inner" => &[Self::List],
            _ => return None,
        };
        if self == Self::Unknown || of_forms.contains(&self) {
            return None;
        }
        Some(match (rule, self) {
            ("length", Self::Map) => "use `#[schemars(extend(\"minProperties\" = ..., \"maxProperties\" = ...))]`",
            ("length", Self::IntOrString) => "use `#[schemars(extend(\"maxLength\" = ...))]`",
            ("length", _) => "use `range`, or remove it",
            ("range", Self::IntOrString) => "use `#[schemars(extend(\"minimum\" = ..., \"maximum\" = ...))]`",
            ("range", Self::Text) => "use `length`, or remove it",
            ("inner", Self::Map) => "use a type with these rules for the values",
            ("inner", _) => "write what is in it beside it",
            (_, Self::List) => "write it in `inner(...)`",
            (_, Self::IntOrString) => "use `#[schemars(extend(\"pattern\" = ...))]`",
            _ => "remove it",
        })
    }
}

fn metas(attributes: &[Attribute], names: &[&str]) -> Vec<Meta> {
    let named = attributes.iter().filter(|attribute| names.iter().any(|name| attribute.path().is_ident(name)));
    named.flat_map(arguments::<Meta>).collect()
}

fn arguments<T: syn::parse::Parse>(attribute: &Attribute) -> Vec<T> {
    let list = attribute.parse_args_with(Punctuated::<T, Token![,]>::parse_terminated);
    list.map(|list| list.into_iter().collect()).unwrap_or_default()
}

#[cfg(test)]
#[path = "rules/tests.rs"]
mod tests;
