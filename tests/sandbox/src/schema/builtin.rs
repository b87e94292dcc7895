//! The definitions of the table: what kube-apiserver says of its own kinds.

use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
};

use serde_json::value::RawValue;

use super::{Schema, parse};

/// Taken from the OpenAPI that kube-apiserver serves, without its descriptions.
const TEXT: &str = include_str!("../../table/schemas.json");

static DEFINITIONS: LazyLock<HashMap<&'static str, Definition>> = LazyLock::new(|| {
    let read: HashMap<&'static str, &'static RawValue> = serde_json::from_str(TEXT).unwrap_or_default();
    let definition = |(name, text): (&'static str, &'static RawValue)| {
        (name, Definition { name, text: text.get(), schema: OnceLock::new() })
    };
    read.into_iter().map(definition).collect()
});

/// A definition that others may name, parsed when it is first asked for.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// Its JSON Schema.
    pub(crate) text: &'static str,
    schema: OnceLock<Schema>,
}

impl Definition {
    pub(crate) fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| parse(&serde_json::from_str(self.text).unwrap_or_default()))
    }
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
    static BY_KIND: LazyLock<HashMap<(String, String, String), &'static Definition>> = LazyLock::new(by_kind);
    BY_KIND.get(&(group.to_owned(), version.to_owned(), kind.to_owned())).copied()
}

fn by_kind() -> HashMap<(String, String, String), &'static Definition> {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(rename = "x-kubernetes-group-version-kind", default)]
        kinds: Vec<GroupVersionKind>,
    }
    #[derive(serde::Deserialize)]
    struct GroupVersionKind {
        group: String,
        version: String,
        kind: String,
    }
    let mut found = HashMap::new();
    for definition in DEFINITIONS.values().filter(|definition| definition.text.contains("group-version-kind")) {
        let Ok(named) = serde_json::from_str::<Named>(definition.text) else { continue };
        found.extend(named.kinds.into_iter().map(|named| ((named.group, named.version, named.kind), definition)));
    }
    found
}
