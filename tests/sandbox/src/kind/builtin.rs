//! The kinds of the table.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, OnceLock},
};

use serde::Deserialize;

use super::{Kind, Origin, SchemaOf, Subresource};

/// Taken from the discovery that kube-apiserver serves, a kind a line.
const TEXT: &str = include_str!("../../table/kinds.json");

/// All of them, in the order of discovery.
pub(crate) fn kinds() -> &'static [Arc<Kind>] {
    static KINDS: LazyLock<Vec<Arc<Kind>>> = LazyLock::new(|| {
        let rows: Vec<Row> = serde_json::from_str(TEXT).unwrap_or_default();
        rows.into_iter().map(|row| Arc::new(row.kind())).collect()
    });
    &KINDS
}

/// Kinds of the table by a name of theirs.
type ByName = HashMap<&'static str, Vec<&'static Arc<Kind>>>;

/// Those of a plural, in the order of discovery.
pub(crate) fn by_plural(plural: &str) -> &'static [&'static Arc<Kind>] {
    static BY_PLURAL: LazyLock<ByName> = LazyLock::new(|| by(|kind| &kind.plural));
    BY_PLURAL.get(plural).map_or(&[], Vec::as_slice)
}

/// Those that an object calls so, in the order of discovery.
pub(crate) fn by_name(kind: &str) -> &'static [&'static Arc<Kind>] {
    static BY_NAME: LazyLock<ByName> = LazyLock::new(|| by(|kind| &kind.kind));
    BY_NAME.get(kind).map_or(&[], Vec::as_slice)
}

fn by(name: fn(&'static Kind) -> &'static str) -> ByName {
    let mut found = ByName::new();
    for kind in kinds() {
        found.entry(name(kind)).or_default().push(kind);
    }
    found
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
        let dot = if self.group.is_empty() { "" } else { "." };
        // The two forms of events are of the same objects.
        let shelf = match self.group.as_str() {
            "events.k8s.io" => self.resource.as_str().into(),
            group => format!("{}{dot}{group}", self.resource).into(),
        };
        Kind {
            schema: SchemaOf::Table(OnceLock::new()),
            shelf,
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
