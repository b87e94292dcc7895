//! Provides the built-in kinds, from a table of kube-apiserver's discovery.

use std::sync::{Arc, LazyLock, OnceLock};

use serde::Deserialize;

use super::{Kind, Origin, SchemaOf, Subresource};

/// The discovery documents of kube-apiserver, one kind a line.
const TEXT: &str = include_str!("../../table/kinds.json");

/// A built-in kind, parsed on first use.
#[derive(Debug)]
struct Entry {
    plural: &'static str,
    /// The `kind` of its objects.
    name: &'static str,
    text: &'static str,
    kind: OnceLock<Option<Arc<Kind>>>,
}

/// The built-in kinds, in the order of discovery.
static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| TEXT.lines().filter_map(Entry::parse).collect());

/// Returns all built-in kinds, in the order of discovery.
pub(crate) fn kinds() -> impl Iterator<Item = &'static Arc<Kind>> {
    ENTRIES.iter().filter_map(Entry::kind)
}

/// Returns the kinds with a plural, in the order of discovery.
pub(crate) fn by_plural(plural: &str) -> impl Iterator<Item = &'static Arc<Kind>> {
    ENTRIES.iter().filter(move |entry| entry.plural == plural).filter_map(Entry::kind)
}

/// Returns the kinds with a name, in the order of discovery.
pub(crate) fn by_name(name: &str) -> impl Iterator<Item = &'static Arc<Kind>> {
    ENTRIES.iter().filter(move |entry| entry.name == name).filter_map(Entry::kind)
}

impl Entry {
    /// Extracts plural and kind from a line of the table, without parsing its JSON, which is many times slower. The
    /// first `resource` and the first `kind` in a line are those of the kind itself; the others are of its subresources.
    /// Returns `None` for a line without a kind.
    fn parse(line: &'static str) -> Option<Self> {
        let text = line.trim_end_matches(',');
        let first_value_after = |key: &str| Some(text.split_once(key)?.1.split_once('"')?.0);
        let (plural, name) = (first_value_after(r#""resource":""#)?, first_value_after(r#""kind":""#)?);
        Some(Self { plural, name, text, kind: OnceLock::new() })
    }

    /// Returns the kind, parsed on first use; `None` if the line is invalid.
    fn kind(&'static self) -> Option<&'static Arc<Kind>> {
        let parse = || serde_json::from_str(self.text).ok().map(|row: KindRow| Arc::new(row.into_kind()));
        self.kind.get_or_init(parse).as_ref()
    }
}

/// A kind as in aggregated discovery (`apidiscovery.k8s.io/v2`).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KindRow {
    group: String,
    version: String,
    resource: String,
    response_kind: ResponseKind,
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
    response_kind: ResponseKind,
    verbs: Vec<String>,
}

#[derive(Deserialize)]
struct ResponseKind {
    group: String,
    version: String,
    kind: String,
}

impl KindRow {
    /// Converts the row of the discovery document to a `Kind`, whose schema is looked up on first use.
    fn into_kind(self) -> Kind {
        let kind = self.response_kind.kind;
        let dot = if self.group.is_empty() { "" } else { "." };
        // Both groups of Events share the same objects.
        let group_resource = match self.group.as_str() {
            "events.k8s.io" => self.resource.as_str().into(),
            group => format!("{}{dot}{group}", self.resource).into(),
        };
        Kind {
            schema: SchemaOf::Table(OnceLock::new()),
            group_resource,
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
            subresources: self.subresources.into_iter().map(SubresourceRow::into_subresource).collect(),
            origin: Origin::Builtin,
        }
    }
}

impl SubresourceRow {
    /// Converts the row to a subresource.
    fn into_subresource(self) -> Subresource {
        let ResponseKind { group, version, kind } = self.response_kind;
        Subresource { name: self.subresource, verbs: self.verbs, answers: (group, version, kind) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_each_line_match_its_json() {
        let rows: Vec<KindRow> = serde_json::from_str(TEXT).unwrap();
        assert_eq!(rows.len(), ENTRIES.len());
        for (row, entry) in rows.into_iter().zip(ENTRIES.iter()) {
            assert_eq!((&*row.resource, &*row.response_kind.kind), (entry.plural, entry.name));
            let (expected, kind) = (row.into_kind(), entry.kind().unwrap());
            assert_eq!(format!("{expected:?}"), format!("{kind:?}"));
        }
    }
}
