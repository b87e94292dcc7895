//! What an object may look like: one form for the kinds of the table and for those of CRDs.

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use default::{default, whole_numbers};
pub(crate) use parse::parse;
pub(crate) use part::{complete_part, prune_part, validate_part};
pub(crate) use prune::prune;
pub(crate) use structural::structural;
pub(crate) use validate::validate;

pub(crate) mod builtin;
mod default;
mod format;
pub(crate) mod keywords;
mod parse;
mod part;
pub(crate) mod pattern;
mod prune;
pub(crate) mod rules;
mod structural;
pub(crate) mod validate;

/// What a value may look like.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    pub(crate) shape: Shape,
    /// Whether null is a value here; else it is as good as absent.
    pub(crate) nullable: bool,
    /// What stands in for an absent value.
    pub(crate) default: Option<Value>,
    /// What validation asks for, of this level and those below. Only the roots of the schemas of CRDs have it.
    pub(crate) keywords: Option<Box<keywords::Keywords>>,
}

/// The outline of a value.
#[derive(Debug, Default)]
pub(crate) enum Shape {
    /// Anything; it is kept as it is.
    #[default]
    Any,
    Scalar(Scalar),
    Object(Fields),
    List(List),
    /// A definition of the table, which may be one that contains this.
    Named(&'static builtin::Definition),
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
    /// For server-side apply it is one value (`x-kubernetes-map-type: atomic`).
    pub(crate) atomic: bool,
    /// A whole object with `apiVersion`, `kind` and `metadata` (`x-kubernetes-embedded-resource`).
    pub(crate) embedded: bool,
}

/// Fields that the schema doesn't name.
#[derive(Debug, Default)]
pub(crate) enum Others {
    /// They are no fields of this kind.
    #[default]
    Unknown,
    /// They are kept as they are.
    Kept,
    /// It is a map: each value looks like this.
    Each(Box<Schema>),
}

#[derive(Debug)]
pub(crate) struct List {
    pub(crate) items: Box<Schema>,
    pub(crate) kind: ListKind,
    /// How a strategic merge patch treats it; `None` replaces it.
    pub(crate) merge: Option<Merge>,
}

/// How server-side apply treats a list (`x-kubernetes-list-type`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// One value.
    Atomic,
    /// Scalars, each its own.
    Set,
    /// Objects, each known by these fields.
    Map(Vec<Box<str>>),
}

/// How a strategic merge patch treats a list (`x-kubernetes-patch-strategy: merge`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merge {
    /// The field that tells the items apart; `None` for scalars.
    pub(crate) key: Option<Box<str>>,
    /// `merge,retainKeys`: an item keeps only what the patch names.
    pub(crate) retain_keys: bool,
}

impl Schema {
    /// This, or the definition that it names.
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

    /// What a field looks like; `None` if the schema doesn't say.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.fields()?.field(name)
    }
}

impl Fields {
    /// What a field looks like; `None` if the schema doesn't say.
    pub(crate) fn field(&self, name: &str) -> Option<&Schema> {
        self.known.get(name).or(match &self.others {
            Others::Each(schema) => Some(schema),
            Others::Unknown | Others::Kept => None,
        })
    }
}
