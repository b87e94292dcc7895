//! `Keywords`: the validation keywords of a schema, parsed once.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    accessor::{flag, list},
    format::Format,
    keyword::{EMBEDDED_RESOURCE, INT_OR_STRING},
    pattern::Pattern,
};

/// The validation keywords of a schema, with those of the schemas below it.
#[derive(Debug, Default)]
pub struct Keywords {
    /// JSON Schema types; empty allows any.
    pub types: Vec<String>,
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
    /// The keywords of the fields.
    pub properties: BTreeMap<String, Self>,
    /// The keywords of the items of a list.
    pub items: Option<Box<Self>>,
    /// The keywords of the values of a map.
    pub additional: Option<Box<Self>>,
    /// Whether the value is a map, whose keys are no field names.
    pub is_map: bool,
    pub(crate) list: ListType,
    /// Whether server-side apply replaces the object as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    pub(crate) embedded: bool,
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

/// The value of `minimum` or `maximum`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    /// Whether the bound itself is excluded.
    pub(crate) exclusive: bool,
}

impl Keywords {
    /// Parses the keywords of a schema and of all schemas below it.
    pub(crate) fn of(schema: &Value) -> Self {
        let bound = |key: &str, exclusive: &str| {
            schema[key].as_f64().map(|value| Bound { value, exclusive: flag(schema, exclusive) })
        };
        let count = |key: &str| schema[key].as_u64();
        let schemas = |key: &str| list(schema, key).iter().map(Self::of).collect::<Vec<_>>();
        let schema_at =
            |key: &str| schema.get(key).filter(|schema| schema.is_object()).map(|schema| Box::new(Self::of(schema)));
        let types = json_types(schema);
        let properties = schema["properties"].as_object();
        Self {
            format: parse_format(schema, &types),
            nullable: flag(schema, "nullable"),
            maximum: bound("maximum", "exclusiveMaximum"),
            minimum: bound("minimum", "exclusiveMinimum"),
            multiple_of: schema["multipleOf"].as_f64(),
            max_length: count("maxLength"),
            min_length: count("minLength"),
            pattern: schema["pattern"].as_str().filter(|pattern| !pattern.is_empty()).map(Pattern::of),
            max_items: count("maxItems"),
            min_items: count("minItems"),
            unique_items: flag(schema, "uniqueItems"),
            max_properties: count("maxProperties"),
            min_properties: count("minProperties"),
            required: strings(schema, "required"),
            allowed: list(schema, "enum").to_vec(),
            all_of: schemas("allOf"),
            any_of: schemas("anyOf"),
            one_of: schemas("oneOf"),
            not: schema_at("not"),
            properties: properties
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), Self::of(schema)))
                .collect(),
            items: schema_at("items"),
            additional: schema_at("additionalProperties"),
            is_map: schema["additionalProperties"].is_object() || schema["additionalProperties"] == true,
            list: parse_list_type(schema),
            atomic: schema["x-kubernetes-map-type"] == "atomic",
            embedded: flag(schema, EMBEDDED_RESOURCE),
            types,
        }
    }

    /// Returns the name of the format; empty if the schema has none that Kubernetes knows.
    pub fn format_name(&self) -> &str {
        self.format.as_ref().map_or("", |(name, _)| name.as_str())
    }

    /// Returns the keywords of a field or of a value of a map; `None` if the schema has none for the name.
    pub fn field(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(self.additional.as_deref())
    }

    /// Returns whether the schema lists this JSON Schema type.
    pub fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|known| known == name)
    }
}

/// Returns the JSON Schema types of a schema; empty if it allows any.
fn json_types(schema: &Value) -> Vec<String> {
    if flag(schema, INT_OR_STRING) {
        return vec!["integer".to_owned(), "string".to_owned()];
    }
    schema["type"].as_str().filter(|name| !name.is_empty()).map(str::to_owned).into_iter().collect()
}

/// Returns the format of a schema with its name; `None` if the schema has no format, or if the format is not one of the schema's type.
fn parse_format(schema: &Value, types: &[String]) -> Option<(String, Format)> {
    let name = schema["format"].as_str()?;
    let format = match types {
        [] => Format::of("", name),
        [one] => Format::of(one, name),
        _ => None,
    };
    format.map(|format| (name.to_owned(), format))
}

/// Returns the list type; `Atomic` if the schema has none.
fn parse_list_type(schema: &Value) -> ListType {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(strings(schema, "x-kubernetes-list-map-keys")),
        _ => ListType::Atomic,
    }
}

/// Returns the strings in a list keyword; none if it is missing.
fn strings(schema: &Value, key: &str) -> Vec<String> {
    list(schema, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
