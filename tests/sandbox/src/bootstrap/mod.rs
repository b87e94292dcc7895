//! What every cluster starts with: namespaces, default roles and their bindings, priority classes, the `kubernetes` Service.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::{
    kind::builtin,
    sandbox::Server,
    store::{Expect, Store, Stored},
};

/// Taken from a kube-apiserver that had just started, an object a line, in the order in which it made them: its version, its
/// kind, and the rest as the store keeps it, so that it need not be read at the start.
const TEXT: &str = include_str!("../../table/bootstrap.json");

/// What stands there for the time of the start.
const TIME: &str = "2006-01-02T15:04:05Z";

/// What stands there for a uid.
const UID: &str = "00000000-0000-4000-8000-000000000000";

/// The version of its kind, the kind, and the object.
type Row<'a> = (&'a str, &'a str, &'a RawValue);

/// An object as the store keeps it, but for its uid and its times, whose places are known.
#[derive(Debug)]
struct Template {
    shelf: Arc<str>,
    stored: Stored,
    uids: Vec<usize>,
    /// Where a time begins and how much of it stands there: a date is the first ten letters of one.
    times: Vec<(usize, usize)>,
}

/// Made once in a process: a new sandbox copies texts of a known length and writes over their gaps.
static TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    let rows: Vec<Row<'static>> = serde_json::from_str(TEXT).unwrap_or_default();
    let versions = Store::FIRST + 1..;
    rows.into_iter().zip(versions).filter_map(|(row, version)| Template::of(row, version)).collect()
});

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
    fn of((api_version, name, object): Row<'_>, version: u64) -> Option<Self> {
        let (group, of_group) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = builtin::by_name(name).iter().find(|kind| kind.group == group && kind.version == of_group)?;
        let stored = Stored::written(object.get(), version, api_version)?;
        let text = std::str::from_utf8(&stored.json).ok()?;
        let (uids, times) = (places(text, UID), places(text, &TIME[..10]));
        let length = |at: &usize| if text[*at..].starts_with(TIME) { TIME.len() } else { 10 };
        let times = times.into_iter().map(|at| (at, length(&at))).collect();
        Some(Self { shelf: kind.shelf.clone(), stored, uids, times })
    }

    fn at(&self, uid: &str, time: &str) -> Stored {
        let mut json = self.stored.json.to_vec();
        for at in &self.uids {
            json[*at..at + UID.len()].copy_from_slice(uid.as_bytes());
        }
        for (at, length) in &self.times {
            json[*at..at + length].copy_from_slice(&time.as_bytes()[..*length]);
        }
        Stored { uid: uid.into(), json: Bytes::from(json), ..self.stored.clone() }
    }
}

/// Where a word begins in a text.
fn places(text: &str, word: &str) -> Vec<usize> {
    text.match_indices(word).map(|(at, _)| at).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::object;

    #[test]
    fn every_line_of_the_table_is_as_the_store_writes_it() {
        let rows: Vec<(&str, &str, Value)> = serde_json::from_str(TEXT).unwrap();
        for (template, (api_version, _, object)) in TEMPLATES.iter().zip(rows) {
            let Stored { version, json, labels, owners, .. } =
                Stored::new(object, template.stored.version, api_version);
            let Template { stored, .. } = template;
            assert_eq!((stored.version, &stored.json, &stored.labels), (version, &json, &labels));
            assert!(owners.is_empty(), "{json:?}");
        }
    }

    #[test]
    fn every_line_of_the_table_becomes_an_object() {
        let lines: Vec<Value> = serde_json::from_str(TEXT).unwrap();
        assert_eq!(TEMPLATES.len(), lines.len());
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
