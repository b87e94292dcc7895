//! Finds validation attributes that `schemars` ignores for the type of their field.
//!
//! The schema doesn't show ignored attributes, and the derive `Managed` sees the spec only. So this module parses every struct
//! and enum with a schema. It skips types whose JSON type their name doesn't show (aliases, types of the project), and generated
//! code.

mod json_type;

use std::{collections::BTreeSet, path::Path};

use syn::{Attribute, Field, Fields, Item, Meta, Path as Name, Token, punctuated::Punctuated, spanned::Spanned as _};

use crate::error::{Error, Result};
use json_type::{JsonType, ModuleScope};

/// Fails with a list of the validation rules that `schemars` ignores in the Rust files below `root`; other files are skipped.
pub(crate) fn check<'a>(files: impl Iterator<Item = &'a Path>, root: &Path) -> Result<()> {
    let mut ignored = BTreeSet::new();
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let Ok(relative) = file.strip_prefix(root) else { continue };
        let Ok(text) = fs_err::read_to_string(file) else { continue };
        let rules = ignored_rules(&text).into_iter();
        ignored.extend(rules.map(|IgnoredRule { line, text }| (relative.to_owned(), line, text)));
    }
    if ignored.is_empty() {
        return Ok(());
    }
    let list = ignored.iter().map(|(file, line, text)| format!("\n  {}:{line}: {text}", file.display()));
    let list: String = list.collect();
    Err(Error::failed(format!("the schema would lack rules that the code has; nothing was written{list}"))
        .hint("`schemars` ignores a rule that does not apply to the type of the field; change the rule or the type"))
}

/// A validation rule that `schemars` ignores.
#[derive(Debug, PartialEq, Eq)]
struct IgnoredRule {
    line: usize,
    text: String,
}

/// Returns the validation rules in a source text that `schemars` ignores; none if the text doesn't parse.
fn ignored_rules(text: &str) -> Vec<IgnoredRule> {
    // The search saves the parsing of files without validation attributes.
    let has_rules = ["schemars(", "validate(", "garde("].iter().any(|attribute| text.contains(attribute));
    let file = Some(text).filter(|_| has_rules).and_then(|text| syn::parse_file(text).ok());
    let mut ignored = Vec::new();
    collect_ignored(&file.map(|file| file.items).unwrap_or_default(), &mut ignored);
    ignored
}

/// Collects the ignored rules of all structs and enums with a schema, recursively through modules other than tests.
fn collect_ignored(items: &[Item], ignored: &mut Vec<IgnoredRule>) {
    let scope = ModuleScope::of(items);
    for item in items {
        match item {
            Item::Mod(module) if !is_test(&module.attrs) => {
                collect_ignored(
                    module.content.as_ref().map(|(_, items)| items.as_slice()).unwrap_or_default(),
                    ignored,
                );
            }
            Item::Struct(item) => {
                let Some(schema) = SchemaType::of(&item.attrs) else { continue };
                schema.check_fields(&item.fields, &item.ident.to_string(), &scope, ignored);
            }
            Item::Enum(item) => {
                let Some(schema) = SchemaType::of(&item.attrs) else { continue };
                for variant in &item.variants {
                    schema.check_fields(
                        &variant.fields,
                        &format!("{}::{}", item.ident, variant.ident),
                        &scope,
                        ignored,
                    );
                }
            }
            _ => {}
        }
    }
}

/// Returns whether an item has the attribute `#[cfg(test)]`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<Name>().is_ok_and(|name| name.is_ident("test"))
    })
}

/// A type that derives its schema.
struct SchemaType {
    /// Whether the type also derives `Validate`, so that `validate` and `garde` have an effect of their own.
    validates: bool,
    /// Whether the type has the attribute `default` of serde or schemars, so that every field has a default.
    default: bool,
}

impl SchemaType {
    /// Returns what the attributes of a struct or enum say about its schema; `None` if the item does not derive a schema.
    fn of(attributes: &[Attribute]) -> Option<Self> {
        let derive_attributes = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
        let derives: Vec<Name> = derive_attributes.flat_map(arguments::<Name>).collect();
        let has = |name: &str| derives.iter().any(|path| path.segments.last().is_some_and(|last| last.ident == name));
        let default = metas(attributes, &["serde", "schemars"]).iter().any(|meta| meta.path().is_ident("default"));
        (has("JsonSchema") || has("KubeSchema")).then_some(Self { validates: has("Validate"), default })
    }

    /// Collects the ignored rules of the fields of a struct or of a variant, whose name is `owner`.
    fn check_fields(&self, fields: &Fields, owner: &str, scope: &ModuleScope, ignored: &mut Vec<IgnoredRule>) {
        for (index, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            self.check_field(field, &format!("{owner}.{name}"), scope, ignored);
        }
    }

    /// Collects the validation rules of a field that have no effect on its schema. `field_path` names the field in the messages. Skips
    /// fields whose schema is not derived from their type, for example with `schema_with`.
    fn check_field(&self, field: &Field, field_path: &str, scope: &ModuleScope, ignored: &mut Vec<IgnoredRule>) {
        let options = metas(&field.attrs, &["serde", "schemars"]);
        let has = |names: &[&str]| options.iter().any(|meta| names.iter().any(|name| meta.path().is_ident(name)));
        if has(&["skip", "skip_serializing", "with", "schema_with", "flatten"]) {
            return;
        }
        // If the type derives `Validate`, the crates `validator` or `garde` apply their own attributes.
        let rules: &[&str] = if self.validates { &["schemars"] } else { &["schemars", "validate", "garde"] };
        let json_type = scope.json_type(&field.ty);
        for meta in metas(&field.attrs, rules) {
            let Some(rule) = meta.path().get_ident().map(ToString::to_string) else { continue };
            let problem = match rule.as_str() {
                "required" if has(&["default"]) || self.default => {
                    Some(("a field with a default, which is optional".to_owned(), "remove `required` or the default"))
                }
                rule => json_type.fix_for(rule).map(|fix| (json_type.noun().to_owned(), fix)),
            };
            if let Some((subject, fix)) = problem {
                let text = format!("`{field_path}`: `{rule}` has no effect on {subject}; {fix}");
                ignored.push(IgnoredRule { line: meta.path().span().start().line, text });
            }
        }
    }
}

impl JsonType {
    /// Returns a proposal to fix a validation rule that has no effect on this JSON type; `None` if the rule has an effect or the type is
    /// unknown.
    fn fix_for(self, rule: &str) -> Option<&'static str> {
        // The JSON types on which the rule has an effect.
        let supported: &[Self] = match rule {
            "length" => &[Self::Text, Self::List],
            "regex" | "pattern" | "contains" => &[Self::Text],
            "range" => &[Self::Number],
            "inner" => &[Self::List],
            _ => return None,
        };
        if self == Self::Unknown || supported.contains(&self) {
            return None;
        }
        Some(match (rule, self) {
            ("length", Self::Map) => "use `#[schemars(extend(\"minProperties\" = ..., \"maxProperties\" = ...))]`",
            ("length", Self::IntOrString) => "use `#[schemars(extend(\"maxLength\" = ...))]`",
            ("length", _) => "use `range`, or remove it",
            ("range", Self::IntOrString) => "use `#[schemars(extend(\"minimum\" = ..., \"maximum\" = ...))]`",
            ("range", Self::Text) => "use `length`, or remove it",
            ("inner", Self::Map) => "use a type with these rules for the values",
            ("inner", _) => "move its rules out of `inner(...)`",
            (_, Self::List) => "write it in `inner(...)`",
            (_, Self::IntOrString) => "use `#[schemars(extend(\"pattern\" = ...))]`",
            _ => "remove it",
        })
    }
}

/// Returns the arguments of all attributes with one of these names, for example `length(max = 3)` and `default` of the attribute
/// `#[schemars(length(max = 3), default)]`.
fn metas(attributes: &[Attribute], names: &[&str]) -> Vec<Meta> {
    let selected = attributes.iter().filter(|attribute| names.iter().any(|name| attribute.path().is_ident(name)));
    selected.flat_map(arguments::<Meta>).collect()
}

/// Parses the comma-separated arguments of an attribute as values of type `T`. Returns none if an argument can't be parsed so.
fn arguments<T: syn::parse::Parse>(attribute: &Attribute) -> Vec<T> {
    let list = attribute.parse_args_with(Punctuated::<T, Token![,]>::parse_terminated);
    list.map(|list| list.into_iter().collect()).unwrap_or_default()
}

#[cfg(test)]
#[path = "validation/tests.rs"]
mod tests;
