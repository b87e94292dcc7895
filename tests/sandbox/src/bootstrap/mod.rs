//! What every cluster starts with: namespaces, default roles and their bindings, priority classes, the `kubernetes` Service.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use memchr::memmem::Finder;

use crate::{
    kind::builtin,
    sandbox::Server,
    store::{Expect, Heading, Store, Stored},
};

/// Taken from a kube-apiserver that had just started, in the order in which it made them: a line of what the store has to know of
/// an object, and a line of the object as the store keeps it, so that it need not be read at the start.
const TEXT: &str = include_str!("../../table/bootstrap.jsonl");

/// What stands there for the time of the start.
const TIME: &str = "2006-01-02T15:04:05Z";

/// What stands there for a uid.
const UID: &str = "00000000-0000-4000-8000-000000000000";

/// What stands before the gap for the version.
const BEFORE_VERSION: &str = r#""resourceVersion":""#;

/// An object as the store keeps it, but for its version, its uid and its times, whose places in the text are known.
#[derive(Debug)]
struct Template {
    shelf: Arc<str>,
    /// Yet without uid and JSON.
    stored: Stored,
    text: &'static str,
    /// Where the version goes.
    gap: usize,
    uids: Vec<usize>,
    /// Where a time begins and how much of it stands there: a date is the first ten letters of one.
    times: Vec<(usize, usize)>,
}

/// Made once in a process: a new sandbox copies texts and writes over what stands there for its own.
static TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    let (versions, finders) = (Store::FIRST + 1.., Finders::new());
    written().zip(versions).filter_map(|((heading, text), at)| Template::of(&heading, text, &finders, at)).collect()
});

/// Of what stands in a text for what only a sandbox knows.
struct Finders {
    version: Finder<'static>,
    uid: Finder<'static>,
    date: Finder<'static>,
}

impl Finders {
    fn new() -> Self {
        Self { version: Finder::new(BEFORE_VERSION), uid: Finder::new(UID), date: Finder::new(&TIME[..10]) }
    }
}

fn written() -> impl Iterator<Item = (Heading<'static>, &'static str)> {
    let mut lines = TEXT.lines();
    std::iter::from_fn(move || Some((serde_json::from_str(lines.next()?).ok()?, lines.next()?)))
}

/// Puts into the store what is not there.
pub(crate) fn fill(server: &Server) {
    let time = server.environment.time();
    if server.store.is_new() {
        let object = |template: &Template| (template.shelf.clone(), template.at(&server.environment.uid(), &time));
        return server.store.load(TEMPLATES.iter().map(object));
    }
    for template in TEMPLATES.iter() {
        let Stored { namespace, name, api_version, .. } = &template.stored;
        if server.store.get(&template.shelf, namespace, name).is_none() {
            let stored = template.at(&server.environment.uid(), &time);
            let object = serde_json::from_slice(&stored.json).unwrap_or_default();
            let at = (&**namespace, &**name);
            // Nobody else writes before the start.
            let _ = server.store.commit(&template.shelf, at, Expect::Absent, Some(object), api_version);
        }
    }
}

impl Template {
    fn of(heading: &Heading<'_>, text: &'static str, finders: &Finders, version: u64) -> Option<Self> {
        let mut kinds = builtin::by_name(heading.kind);
        let kind = kinds.find(|kind| kind.api_version() == heading.api_version)?;
        let gap = finders.version.find(text.as_bytes())? + BEFORE_VERSION.len();
        let uids = finders.uid.find_iter(text.as_bytes()).collect();
        let length = |at: usize| if text[at..].starts_with(TIME) { TIME.len() } else { 10 };
        let times = finders.date.find_iter(text.as_bytes()).map(|at| (at, length(at))).collect();
        Some(Self { shelf: kind.shelf.clone(), stored: Stored::headed(heading, version), text, gap, uids, times })
    }

    fn at(&self, uid: &str, time: &str) -> Stored {
        let version = self.stored.version.to_string();
        let mut json = Vec::with_capacity(self.text.len() + version.len());
        json.extend_from_slice(self.text.as_bytes());
        for at in &self.uids {
            json[*at..at + UID.len()].copy_from_slice(uid.as_bytes());
        }
        for (at, length) in &self.times {
            json[*at..at + length].copy_from_slice(&time.as_bytes()[..*length]);
        }
        json.splice(self.gap..self.gap, version.into_bytes());
        Stored { uid: uid.into(), json: Bytes::from(json), ..self.stored.clone() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::object;

    #[test]
    fn every_object_of_the_table_is_as_the_store_writes_it() {
        assert_eq!(TEMPLATES.len() * 2, TEXT.lines().count());
        for (template, (heading, text)) in TEMPLATES.iter().zip(written()) {
            let (object, kept) = (serde_json::from_str(text).unwrap(), template.at(UID, TIME));
            let Stored { namespace, name, labels, owners, json, .. } =
                Stored::new(object, kept.version, heading.api_version);
            assert_eq!((&kept.namespace, &kept.name, &kept.labels), (&namespace, &name, &labels));
            assert_eq!(kept.json, json);
            assert!(owners.is_empty(), "{text}");
        }
    }

    #[test]
    fn every_object_of_the_table_gets_a_uid_and_a_time() {
        for template in TEMPLATES.iter() {
            let stored = template.at("0a0a0a0a-0000-4000-8000-000000000001", "2026-01-01T00:00:00Z");
            let text = std::str::from_utf8(&stored.json).unwrap();
            assert!(!text.contains("2006-01-02") && !text.contains(UID), "{text}");
            let object: Value = serde_json::from_str(text).unwrap();
            assert_eq!(object::uid(&object), &*stored.uid);
            assert_eq!(object::version(&object), Some(stored.version.to_string().as_str()));
        }
    }
}
