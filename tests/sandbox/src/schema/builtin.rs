//! Provides the OpenAPI definitions of built-in kinds.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::Value;

use super::{Definition, Schema, parse};

/// The OpenAPI definitions that kube-apiserver serves, without descriptions, one a line.
const TEXT: &str = include_str!("../../table/schemas.json");

/// The definitions by name, parsed on first use.
static DEFINITIONS: LazyLock<HashMap<&'static str, Definition>> = LazyLock::new(|| {
    let definition = |(name, text): (&'static str, &'static str)| (name, Definition::new(name, text, parse));
    table_lines().map(definition).collect()
});

/// Returns the name and the text of each definition. Splits the lines of the table, which is many times faster than
/// parsing its JSON.
fn table_lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXT.lines().filter_map(|line| line.strip_prefix('"')?.trim_end_matches(',').split_once("\":"))
}

/// Parses the schema of a definition, which may refer to other definitions.
pub(crate) fn parse(schema: &Value) -> Schema {
    parse::parse(schema, definition)
}

/// Returns the definition with a name, such as `io.k8s.api.core.v1.Pod`; `None` if there is none.
pub(crate) fn definition(name: &str) -> Option<&'static Definition> {
    DEFINITIONS.get(name)
}

/// Returns all definitions.
pub(crate) fn definitions() -> impl Iterator<Item = &'static Definition> {
    DEFINITIONS.values()
}

/// Returns the definition of a kind in a group and version; `None` if there is none.
pub(crate) fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Definition> {
    static BY_KIND: LazyLock<ByKind> = LazyLock::new(index_by_kind);
    let definitions = BY_KIND.get(kind)?;
    let found = definitions.iter().find(|versioned| versioned.group == group && versioned.version == version);
    found.map(|versioned| versioned.definition)
}

/// The definitions by kind, each with its group and version.
type ByKind = HashMap<String, Vec<VersionedDefinition>>;

/// The definition of a kind in one group and version.
struct VersionedDefinition {
    group: String,
    version: String,
    definition: &'static Definition,
}

/// Returns the definitions by the kinds in their extension `x-kubernetes-group-version-kind`, which lists group, version and
/// kind. A definition without the extension belongs to no kind.
fn index_by_kind() -> ByKind {
    #[derive(serde::Deserialize)]
    struct GroupVersionKind {
        group: String,
        version: String,
        kind: String,
    }
    let mut by_kind = ByKind::new();
    for definition in DEFINITIONS.values() {
        // The text is split at the extension, so that only its value is parsed.
        let Some((_, kinds)) = definition.text.split_once(r#""x-kubernetes-group-version-kind":"#) else { continue };
        let mut values = serde_json::Deserializer::from_str(kinds).into_iter::<Vec<GroupVersionKind>>();
        for GroupVersionKind { group, version, kind } in values.next().and_then(Result::ok).unwrap_or_default() {
            by_kind.entry(kind).or_default().push(VersionedDefinition { group, version, definition });
        }
    }
    by_kind
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_table_match_its_json() {
        let parsed: HashMap<&str, Value> = serde_json::from_str(TEXT).unwrap();
        assert_eq!(table_lines().count(), parsed.len());
        for (name, text) in table_lines() {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value, parsed[name]);
            for gvk in value["x-kubernetes-group-version-kind"].as_array().into_iter().flatten() {
                let field = |key: &str| gvk[key].as_str().unwrap();
                assert!(of_kind(field("group"), field("version"), field("kind")).is_some(), "{gvk}");
            }
        }
    }
}
