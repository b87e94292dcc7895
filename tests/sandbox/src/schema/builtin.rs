//! The OpenAPI definitions of built-in kinds.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::Value;

use super::{Definition, Schema, parse};

/// Taken from the OpenAPI that kube-apiserver serves, without its descriptions.
const TEXT: &str = include_str!("../../table/schemas.json");

static DEFINITIONS: LazyLock<HashMap<&'static str, Definition>> = LazyLock::new(|| {
    let definition = |(name, text): (&'static str, &'static str)| (name, Definition::new(name, text, parse));
    table_lines().map(definition).collect()
});

/// The names and the texts of the table, which has one a line: to find them so is many times faster than to read the JSON.
fn table_lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXT.lines().filter_map(|line| line.strip_prefix('"')?.trim_end_matches(',').split_once("\":"))
}

/// Reads the schema of a definition, which may refer to others.
pub(crate) fn parse(schema: &Value) -> Schema {
    parse::parse(schema, definition)
}

/// A definition by its name, `io.k8s.api.core.v1.Pod`.
pub(crate) fn definition(name: &str) -> Option<&'static Definition> {
    DEFINITIONS.get(name)
}

/// All definitions.
pub(crate) fn definitions() -> impl Iterator<Item = &'static Definition> {
    DEFINITIONS.values()
}

/// The definition of a kind, by the group, version and kind that it names.
pub(crate) fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Definition> {
    static BY_KIND: LazyLock<ByKind> = LazyLock::new(by_kind);
    let of_name = BY_KIND.get(kind)?;
    of_name.iter().find(|(of, at, _)| of == group && at == version).map(|(_, _, definition)| *definition)
}

/// By the name of the kind: group, version, and the definition.
type ByKind = HashMap<String, Vec<(String, String, &'static Definition)>>;

fn by_kind() -> ByKind {
    #[derive(serde::Deserialize)]
    struct GroupVersionKind {
        group: String,
        version: String,
        kind: String,
    }
    let mut found = ByKind::new();
    for definition in DEFINITIONS.values() {
        // What stands before and after it is no concern of this.
        let Some((_, kinds)) = definition.text.split_once(r#""x-kubernetes-group-version-kind":"#) else { continue };
        let mut read = serde_json::Deserializer::from_str(kinds).into_iter::<Vec<GroupVersionKind>>();
        for GroupVersionKind { group, version, kind } in read.next().and_then(Result::ok).unwrap_or_default() {
            found.entry(kind).or_default().push((group, version, definition));
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_table_are_what_its_json_says() {
        let read: HashMap<&str, Value> = serde_json::from_str(TEXT).unwrap();
        assert_eq!(table_lines().count(), read.len());
        for (name, text) in table_lines() {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value, read[name]);
            for named in value["x-kubernetes-group-version-kind"].as_array().into_iter().flatten() {
                let part = |at: &str| named[at].as_str().unwrap();
                assert!(of_kind(part("group"), part("version"), part("kind")).is_some(), "{named}");
            }
        }
    }
}
