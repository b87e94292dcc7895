//! The kinds that are served.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use crate::schema::{
    Schema, Shape,
    builtin::{self as definitions, Definition},
};

pub(crate) use registry::Registry;

pub(crate) mod builtin;
pub(crate) mod custom;
pub(crate) mod definition;
mod registry;

static ANY: Schema = Schema { shape: Shape::Any, nullable: false, default: None, keywords: None };

/// A kind in one version, as it is served.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Empty for the core group.
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// As in RBAC. A kind that is only asked (`tokenreviews`) has `create` alone.
    pub(crate) verbs: Vec<String>,
    pub(crate) subresources: Vec<Subresource>,
    pub(crate) schema: SchemaOf,
    /// Where its objects are kept: `plural.group`, the same for all versions.
    pub(crate) shelf: Arc<str>,
    pub(crate) origin: Origin,
}

/// What stands behind an object's path: `status`, `scale`, `log`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subresource {
    pub(crate) name: String,
    pub(crate) verbs: Vec<String>,
    /// Group, version and kind of what it answers; empty group and version are the kind's own.
    pub(crate) answers: (String, String, String),
}

/// Where a kind comes from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The table.
    Builtin,
    /// A CustomResourceDefinition.
    Custom(Arc<Custom>),
}

/// What a CRD says of one version beyond the schema.
#[derive(Debug, Default)]
pub(crate) struct Custom {
    /// The version in which objects are kept.
    pub(crate) storage_version: String,
    pub(crate) scale: Option<ScalePaths>,
    /// Paths of `selectableFields`, without the leading dot.
    pub(crate) selectable: Vec<String>,
    /// `additionalPrinterColumns` as they were written.
    pub(crate) columns: Vec<serde_json::Value>,
    /// `spec.conversion` as it was written.
    pub(crate) conversion: serde_json::Value,
    /// The schema as it was written, for OpenAPI and validation.
    pub(crate) written: serde_json::Value,
    /// The schemas of all versions, by name.
    pub(crate) versions: Arc<BTreeMap<String, Arc<Schema>>>,
    /// Objects of an older version of the store were written under an older schema.
    pub(crate) since: u64,
    /// What webhooks have converted to this version.
    pub(crate) converted: crate::convert::Converted,
    /// Whether the CRD is on its way out: nothing is created any more.
    pub(crate) terminating: bool,
    /// What clients of this version are warned of.
    pub(crate) warning: Option<String>,
}

/// Where a CRD's `scale` subresource reads and writes; paths without the leading dot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    pub(crate) spec_replicas: String,
    pub(crate) status_replicas: String,
    pub(crate) label_selector: Option<String>,
}

/// A schema of the table or one of a CRD.
#[derive(Clone, Debug)]
pub(crate) enum SchemaOf {
    /// The definition of the kind, looked for when it is first asked for; `None` of a kind that the table has none of.
    Table(OnceLock<Option<&'static Definition>>),
    Written(Arc<Schema>),
}

impl Kind {
    /// `apps/v1`, or `v1` for the core group.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `deployments.apps`, or `pods` for the core group.
    pub(crate) fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// `Deployment.apps`, or `Pod` for the core group.
    pub(crate) fn qualified(&self) -> String {
        match self.told_group() {
            "" => self.kind.clone(),
            group => format!("{}.{group}", self.kind),
        }
    }

    /// The group by which refusals call the kind: new events are kept, and called, as the old ones.
    pub(crate) fn told_group(&self) -> &str {
        if self.is("events.k8s.io", "events") { "" } else { &self.group }
    }

    pub(crate) fn schema(&self) -> &Schema {
        match &self.schema {
            SchemaOf::Table(_) => self.in_table().map_or(&ANY, Definition::schema),
            SchemaOf::Written(schema) => schema,
        }
    }

    /// What the table says of the kind, served at a path of its own or not.
    pub(crate) fn in_table(&self) -> Option<&'static Definition> {
        let SchemaOf::Table(found) = &self.schema else { return None };
        *found.get_or_init(|| definitions::of_kind(&self.group, &self.version, &self.kind))
    }

    /// Its definition in the table, if it is from there.
    pub(crate) fn definition(&self) -> Option<&'static Definition> {
        matches!(self.origin, Origin::Builtin).then(|| self.in_table()).flatten()
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// Whether `status` is written through a path of its own, so that other writes leave it alone.
    pub(crate) fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }

    pub(crate) fn custom(&self) -> Option<&Custom> {
        match &self.origin {
            Origin::Builtin => None,
            Origin::Custom(custom) => Some(custom),
        }
    }

    /// Whether it is this kind of the table, in any version.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        self.group == group && self.plural == plural && matches!(self.origin, Origin::Builtin)
    }

    /// Whether objects of it are kept; a kind that is only asked has none.
    pub(crate) fn is_kept(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "get")
    }
}
