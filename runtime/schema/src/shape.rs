//! Defines `Schema`, the parsed schema of a value of a built-in kind or a custom resource, and `Shape`, which distinguishes scalars,
//! objects, lists and built-in types.

use std::{
    collections::{BTreeMap, HashMap},
    sync::OnceLock,
};

use serde_json::{Map, Value};

use crate::keywords::Keywords;

/// The schema of a value.
#[derive(Debug, Default)]
pub struct Schema {
    pub shape: Shape,
    /// Whether null is a value; otherwise it counts as absent.
    pub nullable: bool,
    /// The default of an absent value.
    pub default: Option<Value>,
    /// The validation keywords of all levels. Only root schemas of CRDs have them.
    pub keywords: Option<Box<Keywords>>,
}

/// The shape of a value.
#[derive(Debug, Default)]
pub enum Shape {
    /// Any value, preserved as it is.
    #[default]
    Any,
    /// A value without parts.
    Scalar(Scalar),
    /// An object, a struct or a map.
    Object(Fields),
    /// A list.
    List(List),
    /// A built-in definition, which may contain this schema recursively.
    Named(&'static Definition),
}

/// The type of a value without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A string.
    Text,
    /// A number without a fraction.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// Text or an integer: ports, percentages, and quantities.
    IntOrText,
}

/// The fields of an object.
#[derive(Debug, Default)]
pub struct Fields {
    /// The fields that the schema names.
    pub known: BTreeMap<Box<str>, Schema>,
    /// The rule for all other fields.
    pub others: OtherFields,
    /// The names of the required fields.
    pub required: Vec<Box<str>>,
    /// Atomic in server-side apply (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    /// A whole object with `apiVersion`, `kind` and `metadata` (`x-kubernetes-embedded-resource`).
    pub embedded: bool,
}

/// The treatment of fields that the schema does not name.
#[derive(Debug, Default)]
pub enum OtherFields {
    /// They are unknown and pruned.
    #[default]
    Unknown,
    /// They are preserved.
    Kept,
    /// The object is a map with values of this schema.
    Each(Box<Schema>),
}

/// A list with its items.
#[derive(Debug)]
pub struct List {
    /// The schema of the items.
    pub items: Box<Schema>,
    /// How server-side apply treats the list.
    pub kind: ListKind,
    /// How a strategic merge patch merges it; `None` replaces it.
    pub merge: Option<Merge>,
}

/// How server-side apply treats a list (`x-kubernetes-list-type`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// One value.
    Atomic,
    /// A set of scalars.
    Set,
    /// Objects with these key fields.
    Map(Vec<Box<str>>),
}

/// How a strategic merge patch treats a list (`x-kubernetes-patch-strategy: merge`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The merge key of the items; `None` for scalars.
    pub key: Option<Box<str>>,
    /// `merge,retainKeys`: an item retains only the fields that the patch names.
    pub retain_keys: bool,
}

impl Schema {
    /// Returns this schema, or the schema of the built-in definition that it refers to.
    pub fn resolve(&self) -> &Self {
        match &self.shape {
            Shape::Named(definition) => definition.schema().resolve(),
            _ => self,
        }
    }

    /// Returns the fields; `None` if the value is no object.
    pub fn fields(&self) -> Option<&Fields> {
        match &self.resolve().shape {
            Shape::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the list; `None` if the value is no list.
    pub fn list(&self) -> Option<&List> {
        match &self.resolve().shape {
            Shape::List(list) => Some(list),
            _ => None,
        }
    }

    /// Returns the schema of a field; `None` if the value has no such field.
    pub fn field(&self, name: &str) -> Option<&Self> {
        self.fields()?.field(name)
    }
}

impl Fields {
    /// Returns the schema of the field `name`: the schema of a known field, else the schema of the values of a map. `None` if the object
    /// has neither.
    pub fn field(&self, name: &str) -> Option<&Schema> {
        self.known.get(name).or(match &self.others {
            OtherFields::Each(schema) => Some(schema),
            OtherFields::Unknown | OtherFields::Kept => None,
        })
    }
}

/// A built-in definition, parsed on first use.
#[derive(Debug)]
pub struct Definition {
    /// Its name, `io.k8s.api.core.v1.Pod`.
    pub name: &'static str,
    /// Its JSON Schema.
    pub text: &'static str,
    /// Parses its JSON Schema.
    parse: fn(&Value) -> Schema,
    schema: OnceLock<Schema>,
    zeroes: OnceLock<Map<String, Value>>,
    formats: OnceLock<HashMap<String, String>>,
}

impl Definition {
    /// Returns a definition with this name and JSON Schema, which `parse` parses on first use.
    pub fn new(name: &'static str, text: &'static str, parse: fn(&Value) -> Schema) -> Self {
        Self { name, text, parse, schema: OnceLock::new(), zeroes: OnceLock::new(), formats: OnceLock::new() }
    }

    /// Returns the parsed schema.
    pub fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| (self.parse)(&serde_json::from_str(self.text).unwrap_or_default()))
    }

    /// Returns the zero values that Go writes for unset fields; `compute` computes them on first use.
    pub fn zeroes(&'static self, compute: fn(&'static Self) -> Map<String, Value>) -> &'static Map<String, Value> {
        self.zeroes.get_or_init(|| compute(self))
    }

    /// Returns the `format` of a field, which the parsed schema omits; empty if it has none.
    pub fn format(&self, field: &str) -> &str {
        let formats = self.formats.get_or_init(|| {
            let json_schema: Value = serde_json::from_str(self.text).unwrap_or_default();
            let fields = json_schema["properties"].as_object().into_iter().flatten();
            fields.filter_map(|(name, field)| Some((name.clone(), field["format"].as_str()?.to_owned()))).collect()
        });
        formats.get(field).map_or("", String::as_str)
    }
}
