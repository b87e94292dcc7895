//! `Keywords`: the validation keywords of a schema, parsed once.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    accessor::{flag, list},
    format::Format,
    keyword::{EMBEDDED_RESOURCE, INT_OR_STRING},
    pattern::Pattern,
};

/// The validation keywords of a schema, level by level.
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
    /// Whether it is a map, whose keys are no field names.
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
            written[key].as_f64().map(|value| Bound { value, exclusive: flag(written, exclusive) })
        };
        let count = |key: &str| written[key].as_u64();
        let all = |key: &str| list(written, key).iter().map(Self::of).collect::<Vec<_>>();
        let one =
            |key: &str| written.get(key).filter(|schema| schema.is_object()).map(|schema| Box::new(Self::of(schema)));
        let types = types(written);
        let properties = written["properties"].as_object();
        Self {
            format: format(written, &types),
            nullable: flag(written, "nullable"),
            maximum: bound("maximum", "exclusiveMaximum"),
            minimum: bound("minimum", "exclusiveMinimum"),
            multiple_of: written["multipleOf"].as_f64(),
            max_length: count("maxLength"),
            min_length: count("minLength"),
            pattern: written["pattern"].as_str().filter(|pattern| !pattern.is_empty()).map(Pattern::of),
            max_items: count("maxItems"),
            min_items: count("minItems"),
            unique_items: flag(written, "uniqueItems"),
            max_properties: count("maxProperties"),
            min_properties: count("minProperties"),
            required: words(written, "required"),
            allowed: list(written, "enum").to_vec(),
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
            embedded: flag(written, EMBEDDED_RESOURCE),
            types,
        }
    }

    /// The name of the format; empty if the schema has none that Kubernetes knows.
    pub fn format_name(&self) -> &str {
        self.format.as_ref().map_or("", |(name, _)| name.as_str())
    }

    /// The keywords of a field or of a value of a map.
    pub fn field(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(self.additional.as_deref())
    }

    /// Whether the schema admits values of this JSON Schema type.
    pub fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|own| own == name)
    }
}

fn types(written: &Value) -> Vec<String> {
    if flag(written, INT_OR_STRING) {
        return vec!["integer".to_owned(), "string".to_owned()];
    }
    written["type"].as_str().filter(|name| !name.is_empty()).map(str::to_owned).into_iter().collect()
}

/// A format counts only if it belongs to the type.
fn format(written: &Value, types: &[String]) -> Option<(String, Format)> {
    let name = written["format"].as_str()?;
    let format = match types {
        [] => Format::of("", name),
        [one] => Format::of(one, name),
        _ => None,
    };
    format.map(|format| (name.to_owned(), format))
}

fn list_type(written: &Value) -> ListType {
    match written["x-kubernetes-list-type"].as_str() {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(words(written, "x-kubernetes-list-map-keys")),
        _ => ListType::Atomic,
    }
}

fn words(written: &Value, key: &str) -> Vec<String> {
    list(written, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
