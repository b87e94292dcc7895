//! The kinds of the table.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::{Kind, Origin, SchemaOf, Subresource};
use crate::schema::{Schema, builtin};

/// Taken from the discovery that kube-apiserver serves, a kind a line.
const TEXT: &str = include_str!("../../table/kinds.json");

static ANY: Schema = Schema { shape: crate::schema::Shape::Any, nullable: false, default: None, keywords: None };

/// All of them, in the order of discovery.
pub(crate) fn kinds() -> &'static [Arc<Kind>] {
    static KINDS: LazyLock<Vec<Arc<Kind>>> = LazyLock::new(|| {
        let rows: Vec<Row> = serde_json::from_str(TEXT).unwrap_or_default();
        rows.into_iter().map(|row| Arc::new(row.kind())).collect()
    });
    &KINDS
}

/// A kind as aggregated discovery (`apidiscovery.k8s.io/v2`) has it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    group: String,
    version: String,
    resource: String,
    response_kind: Answers,
    scope: String,
    singular_resource: String,
    verbs: Vec<String>,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
    #[serde(default)]
    subresources: Vec<SubresourceRow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubresourceRow {
    subresource: String,
    response_kind: Answers,
    verbs: Vec<String>,
}

#[derive(Deserialize)]
struct Answers {
    group: String,
    version: String,
    kind: String,
}

impl Row {
    fn kind(self) -> Kind {
        let kind = self.response_kind.kind;
        let definition = builtin::of_kind(&self.group, &self.version, &kind);
        let dot = if self.group.is_empty() { "" } else { "." };
        Kind {
            schema: SchemaOf::Table(definition.map_or(&ANY, builtin::Definition::schema)),
            // Events of both groups are the same objects.
            shelf: match self.group.as_str() {
                "events.k8s.io" => self.resource.clone().into(),
                group => format!("{}{dot}{group}", self.resource).into(),
            },
            list_kind: format!("{kind}List"),
            namespaced: self.scope == "Namespaced",
            group: self.group,
            version: self.version,
            kind,
            plural: self.resource,
            singular: self.singular_resource,
            short_names: self.short_names,
            categories: self.categories,
            verbs: self.verbs,
            subresources: self.subresources.into_iter().map(SubresourceRow::subresource).collect(),
            origin: Origin::Builtin,
        }
    }
}

impl SubresourceRow {
    fn subresource(self) -> Subresource {
        let Answers { group, version, kind } = self.response_kind;
        Subresource { name: self.subresource, verbs: self.verbs, answers: (group, version, kind) }
    }
}
