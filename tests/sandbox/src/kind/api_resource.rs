//! Defines `Kind`: one version of an API resource as the server serves it.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use opgen_schema::ScalePaths;

use crate::schema::{Definition, Schema, Shape, builtin as definitions, rules::RuleTree};

/// The schema of a kind without a definition: any value.
static ANY: Schema = Schema { shape: Shape::Any, nullable: false, default: None, keywords: None };

/// A kind in one served version.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The API group; empty for the core group.
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// RBAC verbs. A kind whose objects are not stored (`tokenreviews`) has `create` only.
    pub(crate) verbs: Vec<String>,
    pub(crate) subresources: Vec<Subresource>,
    pub(crate) schema: SchemaOf,
    /// The key of its objects in the store: `plural.group`, the same for all versions.
    pub(crate) group_resource: Arc<str>,
    pub(crate) origin: Origin,
}

/// A subresource: `status`, `scale`, `log` and others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subresource {
    pub(crate) name: String,
    pub(crate) verbs: Vec<String>,
    /// Group, version and kind of its responses; empty group and version mean those of the kind.
    pub(crate) answers: (String, String, String),
}

/// The origin of a kind.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The table of built-in kinds.
    Builtin,
    /// A CustomResourceDefinition.
    Custom(Arc<Custom>),
}

/// The properties of one version of a CRD beyond the schema.
#[derive(Debug, Default)]
pub(crate) struct Custom {
    /// The storage version.
    pub(crate) storage_version: String,
    pub(crate) scale: Option<ScalePaths>,
    /// The CEL rules of its schema; `None` if it has none.
    pub(crate) rules: Option<RuleTree>,
    /// Paths of `selectableFields`, without the leading dot.
    pub(crate) selectable: Vec<String>,
    /// `additionalPrinterColumns` of the CRD.
    pub(crate) columns: Vec<serde_json::Value>,
    /// `spec.conversion` of the CRD.
    pub(crate) conversion: serde_json::Value,
    /// The JSON Schema, for OpenAPI and validation.
    pub(crate) schema_json: serde_json::Value,
    /// The schemas of all versions, by name.
    pub(crate) versions: Arc<BTreeMap<String, Arc<Schema>>>,
    /// The store version from which on objects were written under the current schema.
    pub(crate) since: u64,
    /// Objects that webhooks have converted to this version.
    pub(crate) converted: crate::convert::Converted,
    /// Whether the CRD is terminating, so that creates are rejected.
    pub(crate) terminating: bool,
    /// The deprecation warning of this version.
    pub(crate) warning: Option<String>,
}

/// The schema of a built-in kind or of a CRD.
#[derive(Clone, Debug)]
pub(crate) enum SchemaOf {
    /// The definition of a built-in kind, looked up on first use; `None` if there is none.
    Table(OnceLock<Option<&'static Definition>>),
    Written(Arc<Schema>),
}

impl Kind {
    /// Returns the API version: `apps/v1`, or `v1` for the core group.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns the resource: `deployments.apps`, or `pods` for the core group.
    pub(crate) fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// Returns the qualified kind: `Deployment.apps`, or `Pod` for the core group.
    pub(crate) fn qualified(&self) -> String {
        match self.error_group() {
            "" => self.kind.clone(),
            group => format!("{}.{group}", self.kind),
        }
    }

    /// Returns the group of the kind in errors: Events of `events.k8s.io` are reported as core Events.
    pub(crate) fn error_group(&self) -> &str {
        if self.is("events.k8s.io", "events") { "" } else { &self.group }
    }

    /// Returns the schema of the objects of the kind.
    pub(crate) fn schema(&self) -> &Schema {
        match &self.schema {
            SchemaOf::Table(_) => self.in_table().map_or(&ANY, Definition::schema),
            SchemaOf::Written(schema) => schema,
        }
    }

    /// Returns the OpenAPI definition of the kind from the table of built-in kinds; `None` if the table has none, or if the
    /// schema comes from a CRD. The kind may be used by a subresource only, such as `Scale`.
    pub(crate) fn in_table(&self) -> Option<&'static Definition> {
        let SchemaOf::Table(found) = &self.schema else { return None };
        *found.get_or_init(|| definitions::of_kind(&self.group, &self.version, &self.kind))
    }

    /// Returns the OpenAPI definition of a built-in kind; `None` for a custom kind, and if the kind has no definition.
    pub(crate) fn definition(&self) -> Option<&'static Definition> {
        matches!(self.origin, Origin::Builtin).then(|| self.in_table()).flatten()
    }

    /// Returns the subresource with a name; `None` if the kind has no such subresource.
    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// Returns whether `status` is a subresource, so that other writes do not change it.
    pub(crate) fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }

    /// Returns the properties of a custom kind; `None` for a built-in kind.
    pub(crate) fn custom(&self) -> Option<&Custom> {
        match &self.origin {
            Origin::Builtin => None,
            Origin::Custom(custom) => Some(custom),
        }
    }

    /// Returns whether the kind is this built-in kind, in any version.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        self.group == group && self.plural == plural && matches!(self.origin, Origin::Builtin)
    }

    /// Returns whether objects of the kind are stored. Reviews, such as TokenReviews, are not: they have no `get`.
    pub(crate) fn is_stored(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "get")
    }
}
