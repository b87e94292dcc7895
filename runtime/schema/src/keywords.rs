//! The keywords of a custom resource's schema, parsed once for validation.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{format::Format, pattern::Pattern, rules::ValidationRule};

/// The validation keywords of a schema, level by level.
#[derive(Debug, Default)]
pub(crate) struct Keywords {
    /// JSON Schema types; empty allows any.
    pub(crate) types: Vec<String>,
    /// The name of a known format, and its check.
    pub(crate) format: Option<(String, Format)>,
    pub(crate) nullable: bool,
    pub(crate) maximum: Option<Bound>,
    pub(crate) minimum: Option<Bound>,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) max_items: Option<u64>,
    pub(crate) min_items: Option<u64>,
    pub(crate) unique_items: bool,
    pub(crate) max_properties: Option<u64>,
    pub(crate) min_properties: Option<u64>,
    pub(crate) required: Vec<String>,
    pub(crate) allowed: Vec<Value>,
    pub(crate) all_of: Vec<Self>,
    pub(crate) any_of: Vec<Self>,
    pub(crate) one_of: Vec<Self>,
    pub(crate) not: Option<Box<Self>>,
    pub(crate) properties: BTreeMap<String, Self>,
    pub(crate) items: Option<Box<Self>>,
    pub(crate) additional: Option<Box<Self>>,
    /// Whether it is a map, whose keys are no field names.
    pub(crate) is_map: bool,
    pub(crate) list: ListType,
    pub(crate) atomic: bool,
    pub(crate) embedded: bool,
    pub(crate) rules: Vec<ValidationRule>,
    /// Whether this level or a nested one has rules.
    pub(crate) has_rules: bool,
}

/// The list type (`x-kubernetes-list-type`).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    #[default]
    Atomic,
    Set,
    /// The key fields.
    Map(Vec<String>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    /// Whether the bound itself is excluded.
    pub(crate) exclusive: bool,
}

impl Keywords {
    /// Parses the schema of a CRD.
    pub(crate) fn of(written: &Value) -> Self {
        let bound = |key: &str, exclusive: &str| {
            written[key].as_f64().map(|value| Bound { value, exclusive: written[exclusive] == true })
        };
        let count = |key: &str| written[key].as_u64();
        let all = |key: &str| written[key].as_array().into_iter().flatten().map(Self::of).collect::<Vec<_>>();
        let one =
            |key: &str| written.get(key).filter(|schema| schema.is_object()).map(|schema| Box::new(Self::of(schema)));
        let types = types(written);
        let rules = written["x-kubernetes-validations"].as_array();
        let properties = written["properties"].as_object();
        let mut keywords = Self {
            format: format(written, &types),
            nullable: written["nullable"] == true,
            maximum: bound("maximum", "exclusiveMaximum"),
            minimum: bound("minimum", "exclusiveMinimum"),
            multiple_of: written["multipleOf"].as_f64(),
            max_length: count("maxLength"),
            min_length: count("minLength"),
            pattern: written["pattern"].as_str().filter(|pattern| !pattern.is_empty()).map(Pattern::of),
            max_items: count("maxItems"),
            min_items: count("minItems"),
            unique_items: written["uniqueItems"] == true,
            max_properties: count("maxProperties"),
            min_properties: count("minProperties"),
            required: words(&written["required"]),
            allowed: written["enum"].as_array().cloned().unwrap_or_default(),
            all_of: all("allOf"),
            any_of: all("anyOf"),
            one_of: all("oneOf"),
            not: one("not"),
            properties: properties
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), Self::of(schema)))
                .collect(),
            items: one("items"),
            additional: one("additionalProperties"),
            is_map: written["additionalProperties"].is_object() || written["additionalProperties"] == true,
            list: list_type(written),
            atomic: written["x-kubernetes-map-type"] == "atomic",
            embedded: written["x-kubernetes-embedded-resource"] == true,
            rules: rules.into_iter().flatten().map(ValidationRule::of).collect(),
            has_rules: false,
            types,
        };
        keywords.has_rules = !keywords.rules.is_empty() || keywords.children().any(|schema| schema.has_rules);
        keywords
    }

    /// The nested schemas that can have rules.
    fn children(&self) -> impl Iterator<Item = &Self> {
        let single = [&self.items, &self.additional].into_iter().flatten().map(|schema| &**schema);
        self.properties.values().chain(&self.all_of).chain(single)
    }

    /// The keywords of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(self.additional.as_deref())
    }

    pub(crate) fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|own| own == name)
    }
}

fn types(written: &Value) -> Vec<String> {
    if written["x-kubernetes-int-or-string"] == true {
        return vec!["integer".to_owned(), "string".to_owned()];
    }
    written["type"].as_str().filter(|name| !name.is_empty()).map(str::to_owned).into_iter().collect()
}

/// A format counts only if it belongs to the type.
fn format(written: &Value, types: &[String]) -> Option<(String, Format)> {
    let name = written["format"].as_str()?;
    let known = match types {
        [] => Format::of_text(name),
        [one] if one == "string" => Format::of_text(name),
        [one] if one == "integer" && name == "int32" => Some(Format::Int32),
        [one] if one == "integer" && name == "int64" => Some(Format::Other),
        [one] if one == "number" && matches!(name, "float" | "double") => Some(Format::Other),
        _ => None,
    };
    known.map(|format| (name.to_owned(), format))
}

fn list_type(written: &Value) -> ListType {
    match written["x-kubernetes-list-type"].as_str() {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(words(&written["x-kubernetes-list-map-keys"])),
        _ => ListType::Atomic,
    }
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
