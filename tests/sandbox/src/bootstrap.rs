//! What every cluster starts with: namespaces, default roles and their bindings, priority classes, the `kubernetes` Service.

use std::sync::{Arc, LazyLock};

use crate::{
    sandbox::Server,
    store::{Expect, Heading, Store, Stored, Text},
};

/// Taken from a kube-apiserver that had just started, in the order in which it made them: a line of what the store has to know of
/// an object, and a line of the object as the store keeps it, with blanks for what only a sandbox knows.
const TEXT: &str = include_str!("../table/bootstrap.jsonl");

/// An object of the table.
#[derive(Debug)]
struct First {
    shelf: Arc<str>,
    heading: Heading<'static>,
    version: u64,
    form: &'static str,
}

/// Read once in a process.
static OBJECTS: LazyLock<Vec<First>> = LazyLock::new(|| {
    let mut lines = TEXT.lines();
    let written = std::iter::from_fn(|| Some((serde_json::from_str(lines.next()?).ok()?, lines.next()?)));
    let first = |((heading, form), version): ((Heading<'static>, _), _)| First {
        shelf: heading.shelf.into(),
        heading,
        version,
        form,
    };
    written.zip(Store::FIRST + 1..).map(first).collect()
});

/// Puts into the store what is not there.
pub(crate) fn fill(server: &Server) {
    let time = Arc::<str>::from(server.environment.time());
    let made = |first: &First| first.made(&server.environment.uid(), &time);
    if server.store.is_new() {
        return server.store.load(OBJECTS.iter().map(|first| (first.shelf.clone(), made(first))));
    }
    for first in OBJECTS.iter() {
        let Heading { namespace, name, api_version, .. } = first.heading;
        if server.store.get(&first.shelf, namespace, name).is_none() {
            let object = serde_json::from_slice(&made(first).json).unwrap_or_default();
            // Nobody else writes before the start.
            let _ = server.store.commit(&first.shelf, (namespace, name), Expect::Absent, Some(object), api_version);
        }
    }
}

impl First {
    fn made(&self, uid: &str, time: &Arc<str>) -> Stored {
        let text = Text::printed(self.form, self.version, uid, time);
        Stored::headed(&self.heading, self.version, uid, text)
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
    fn every_object_of_the_table_is_as_the_store_writes_it() {
        assert_eq!(OBJECTS.len() * 2, TEXT.lines().count());
        for first in OBJECTS.iter() {
            let made = first.made(ID, &"2026-01-01T00:00:00Z".into());
            let object = serde_json::from_slice(&made.json).unwrap();
            let Stored { namespace, name, uid, labels, owners, json, .. } =
                Stored::new(object, made.version, first.heading.api_version);
            assert_eq!((&made.namespace, &made.name, &made.uid, &made.labels), (&namespace, &name, &uid, &labels));
            assert_eq!(*made.json, *json);
            assert!(owners.is_empty(), "{}", first.form);
        }
    }

    #[test]
    fn every_object_of_the_table_gets_a_version_a_uid_and_a_time() {
        for first in OBJECTS.iter() {
            let made = first.made(ID, &"2026-01-01T00:00:00Z".into());
            let text = str::from_utf8(&made.json).unwrap();
            assert!(!text.contains("2006-01-02") && !text.contains("00000000-0000"), "{text}");
            let object: Value = serde_json::from_str(text).unwrap();
            assert_eq!(object::uid(&object), ID);
            assert_eq!(object::version(&object), Some(made.version.to_string().as_str()));
            assert_eq!(object["metadata"]["creationTimestamp"], "2026-01-01T00:00:00Z");
        }
    }

    #[test]
    fn every_object_of_the_table_lies_where_its_kind_is_kept() {
        for First { shelf, heading, .. } in OBJECTS.iter() {
            assert!(
                builtin::kinds().any(|kind| kind.shelf == *shelf && kind.api_version() == heading.api_version),
                "{heading:?}"
            );
        }
    }
}
