//! The shape of a value: fields, lists, defaults and merge keys, for built-in kinds and custom resources.

use std::{
    collections::{BTreeMap, HashMap},
    sync::OnceLock,
};

use serde_json::{Map, Value};

use super::keywords::Keywords;

/// The schema of a value.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    pub(crate) shape: Shape,
    /// Whether null is a value; otherwise it counts as absent.
    pub(crate) nullable: bool,
    /// The default of an absent value.
    pub(crate) default: Option<Value>,
    /// The validation keywords of all levels. Only root schemas of CRDs have them.
    pub(crate) keywords: Option<Box<Keywords>>,
}

/// The shape of a value.
#[derive(Debug, Default)]
pub(crate) enum Shape {
    /// Any value, preserved as it is.
    #[default]
    Any,
    Scalar(Scalar),
    Object(Fields),
    List(List),
    /// A built-in definition, which may contain this schema recursively.
    Named(&'static Definition),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Text,
    Integer,
    Number,
    Boolean,
    /// Text or an integer: ports, percentages, and quantities.
    IntOrText,
}

/// The fields of an object.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) known: BTreeMap<Box<str>, Schema>,
    pub(crate) others: Others,
    pub(crate) required: Vec<Box<str>>,
    /// Atomic in server-side apply (`x-kubernetes-map-type: atomic`).
    pub(crate) atomic: bool,
    /// A whole object with `apiVersion`, `kind` and `metadata` (`x-kubernetes-embedded-resource`).
    pub(crate) embedded: bool,
}

/// Fields that the schema does not name.
#[derive(Debug, Default)]
pub(crate) enum Others {
    /// They are unknown and pruned.
    #[default]
    Unknown,
    /// They are preserved.
    Kept,
    /// The object is a map with values of this schema.
    Each(Box<Schema>),
}

#[derive(Debug)]
pub(crate) struct List {
    pub(crate) items: Box<Schema>,
    pub(crate) kind: ListKind,
    /// How a strategic merge patch merges it; `None` replaces it.
    pub(crate) merge: Option<Merge>,
}

/// How server-side apply treats a list (`x-kubernetes-list-type`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// One value.
    Atomic,
    /// A set of scalars.
    Set,
    /// Objects with these key fields.
    Map(Vec<Box<str>>),
}

/// How a strategic merge patch treats a list (`x-kubernetes-patch-strategy: merge`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merge {
    /// The merge key of the items; `None` for scalars.
    pub(crate) key: Option<Box<str>>,
    /// `merge,retainKeys`: an item retains only the fields that the patch names.
    pub(crate) retain_keys: bool,
}

impl Schema {
    /// This schema, or the definition that it refers to.
    pub(crate) fn resolve(&self) -> &Self {
        match &self.shape {
            Shape::Named(definition) => definition.schema().resolve(),
            _ => self,
        }
    }

    /// The fields, if it is an object.
    pub(crate) fn fields(&self) -> Option<&Fields> {
        match &self.resolve().shape {
            Shape::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub(crate) fn list(&self) -> Option<&List> {
        match &self.resolve().shape {
            Shape::List(list) => Some(list),
            _ => None,
        }
    }

    /// The schema of a field; `None` if there is none.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.fields()?.field(name)
    }
}

impl Fields {
    /// The schema of a field; `None` if there is none.
    pub(crate) fn field(&self, name: &str) -> Option<&Schema> {
        self.known.get(name).or(match &self.others {
            Others::Each(schema) => Some(schema),
            Others::Unknown | Others::Kept => None,
        })
    }
}

/// A built-in definition, parsed on first use.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// Its JSON Schema.
    pub(crate) text: &'static str,
    /// Parses its JSON Schema.
    read: fn(&Value) -> Schema,
    schema: OnceLock<Schema>,
    zeroes: OnceLock<Map<String, Value>>,
    formats: OnceLock<HashMap<String, String>>,
}

impl Definition {
    pub(super) fn new(name: &'static str, text: &'static str, read: fn(&Value) -> Schema) -> Self {
        Self { name, text, read, schema: OnceLock::new(), zeroes: OnceLock::new(), formats: OnceLock::new() }
    }

    pub(crate) fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| (self.read)(&serde_json::from_str(self.text).unwrap_or_default()))
    }

    /// The zero values that Go writes for unset fields, computed on first use.
    pub(crate) fn zeroes(&'static self, make: fn(&'static Self) -> Map<String, Value>) -> &'static Map<String, Value> {
        self.zeroes.get_or_init(|| make(self))
    }

    /// The `format` of a field, which the parsed schema omits; empty if it has none.
    pub(crate) fn format(&self, field: &str) -> &str {
        let formats = self.formats.get_or_init(|| {
            let written: Value = serde_json::from_str(self.text).unwrap_or_default();
            let fields = written["properties"].as_object().into_iter().flatten();
            fields.filter_map(|(name, field)| Some((name.clone(), field["format"].as_str()?.to_owned()))).collect()
        });
        formats.get(field).map_or("", String::as_str)
    }
}
