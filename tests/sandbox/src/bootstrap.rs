//! Creates the objects of a new cluster: namespaces, default roles and bindings, priority classes, the `kubernetes`
//! Service.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde::Deserialize;

use crate::{
    server::Server,
    store::{Expect, Heading, Labels, Store, Stored, Text},
};

/// The objects of a kube-apiserver that had just started, in the order in which it created them. Each has two lines:
/// the metadata that the store needs, and the object as the store holds it, with placeholders for values that differ
/// between sandboxes.
const TEXT: &str = include_str!("../table/bootstrap.jsonl");

/// The header line of an object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectRow<'a> {
    #[serde(rename = "shelf")]
    group_resource: &'a str,
    api_version: &'a str,
    #[serde(default)]
    namespace: &'a str,
    name: &'a str,
    #[serde(borrow, default)]
    labels: BTreeMap<&'a str, &'a str>,
    /// The length of the object line.
    bytes: usize,
}

/// An object of a new cluster.
#[derive(Debug)]
struct BootstrapObject {
    group_resource: Arc<str>,
    heading: Heading,
    /// The `resourceVersion`.
    version: u64,
    /// The JSON of the object, with placeholders for the uid and the creation time.
    template: &'static str,
}

/// The objects, parsed once in a process.
static OBJECTS: LazyLock<Vec<BootstrapObject>> = LazyLock::new(|| {
    let mut objects: Vec<BootstrapObject> = Vec::new();
    for ((header, template), version) in rows().zip(Store::FIRST + 1..) {
        // Shares the text with the previous object, which often has the same.
        let shared = |text: &str, field: fn(&BootstrapObject) -> &Arc<str>| match objects.last().map(field) {
            Some(last) if **last == *text => last.clone(),
            _ => text.into(),
        };
        let labels: Labels = header.labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let api_version = shared(header.api_version, |object| &object.heading.api_version);
        let heading = Heading { namespace: header.namespace, name: header.name, labels, api_version };
        let group_resource = shared(header.group_resource, |object| &object.group_resource);
        objects.push(BootstrapObject { group_resource, heading, version, template });
    }
    objects
});

/// Iterates over the objects of the table [`TEXT`]: the parsed header line and the template of each. Stops at the first malformed line.
fn rows() -> impl Iterator<Item = (ObjectRow<'static>, &'static str)> {
    let mut remaining = TEXT;
    std::iter::from_fn(move || {
        let (header, after) = remaining.split_once('\n')?;
        let header: ObjectRow<'_> = serde_json::from_str(header).ok()?;
        let (template, after) = after.split_at_checked(header.bytes)?;
        remaining = after.strip_prefix('\n')?;
        Some((header, template))
    })
}

/// Creates the bootstrap objects (namespaces, default roles and others) that the store lacks. Loads all of them at once into a new store.
pub(crate) fn fill(server: &Server) {
    let time = Arc::<str>::from(server.environment.time());
    let build = |object: &BootstrapObject| object.build(server.environment.uid().into(), time.clone());
    if server.store.is_new() {
        return server.store.load(OBJECTS.iter().map(|object| (object.group_resource.clone(), build(object))));
    }
    for bootstrap in OBJECTS.iter() {
        let Heading { namespace, name, api_version, .. } = &bootstrap.heading;
        if server.store.get(&bootstrap.group_resource, namespace, name).is_none() {
            let object = serde_json::from_slice(&build(bootstrap).json).unwrap_or_default();
            // No other writer exists before the server starts, so that the create has no conflict.
            let _ = server.store.commit(
                &bootstrap.group_resource,
                (namespace, name),
                Expect::Absent,
                Some(object),
                api_version,
            );
        }
    }
}

impl BootstrapObject {
    /// Returns the stored object: the template with a uid and a creation time.
    fn build(&self, uid: Arc<str>, time: Arc<str>) -> Stored {
        let text = Text::from_template(self.template, self.version, uid.clone(), time);
        Stored::from_heading(&self.heading, self.version, uid, text)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{kind::builtin, object};

    const ID: &str = "0a0a0a0a-0000-4000-8000-000000000001";

    #[test]
    fn every_bootstrap_object_is_encoded_as_by_the_store() {
        assert_eq!(OBJECTS.len() * 2, TEXT.lines().count());
        for bootstrap in OBJECTS.iter() {
            let stored = bootstrap.build(ID.into(), "2026-01-01T00:00:00Z".into());
            let object = serde_json::from_slice(&stored.json).unwrap();
            let Stored { namespace, name, uid, labels, owners, json, .. } =
                Stored::new(object, stored.version, &bootstrap.heading.api_version);
            assert_eq!(
                (&stored.namespace, &stored.name, &stored.uid, &stored.labels),
                (&namespace, &name, &uid, &labels)
            );
            assert_eq!(*stored.json, *json);
            assert!(owners.is_empty(), "{}", bootstrap.template);
        }
    }

    #[test]
    fn every_placeholder_of_a_template_is_replaced() {
        for bootstrap in OBJECTS.iter() {
            let stored = bootstrap.build(ID.into(), "2026-01-01T00:00:00Z".into());
            let text = str::from_utf8(&stored.json).unwrap();
            assert!(!text.contains("2006-01-02") && !text.contains("00000000-0000"), "{text}");
            let object: Value = serde_json::from_str(text).unwrap();
            assert_eq!(object::uid(&object), ID);
            assert_eq!(object::version(&object), Some(stored.version.to_string().as_str()));
            assert_eq!(object["metadata"]["creationTimestamp"], "2026-01-01T00:00:00Z");
        }
    }

    #[test]
    fn every_bootstrap_object_has_the_resource_and_api_version_of_a_builtin_kind() {
        for BootstrapObject { group_resource, heading, .. } in OBJECTS.iter() {
            assert!(
                builtin::kinds()
                    .any(|kind| kind.group_resource == *group_resource && *kind.api_version() == *heading.api_version),
                "{heading:?}"
            );
        }
    }
}
