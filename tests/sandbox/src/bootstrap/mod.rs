//! What every cluster starts with: namespaces, default roles and their bindings, priority classes, the `kubernetes` Service.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use serde_json::Value;

use crate::{
    kind::builtin,
    object,
    sandbox::Server,
    store::{Expect, Store, Stored},
};

/// Taken from a kube-apiserver that had just started, an object a line, in the order in which it made them.
const TEXT: &str = include_str!("../../table/bootstrap.json");

/// What stands in the table and in the templates for the time of the start.
const TIME: &str = "2006-01-02T15:04:05Z";

/// What stands in the templates for a uid.
const UID: &str = "00000000-0000-4000-8000-000000000000";

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
    let objects: Vec<Value> = serde_json::from_str(TEXT).unwrap_or_default();
    let versions = Store::FIRST + 1..;
    objects.into_iter().zip(versions).filter_map(|(object, version)| Template::of(object, version)).collect()
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
    fn of(mut object: Value, version: u64) -> Option<Self> {
        let api_version = object::text(&object, &["apiVersion"]).to_owned();
        let (group, of_group) = api_version.split_once('/').unwrap_or(("", &api_version));
        let name = object::text(&object, &["kind"]);
        let kind = builtin::kinds()
            .iter()
            .find(|kind| kind.kind == name && kind.group == group && kind.version == of_group)?;
        let metadata = object::metadata_mut(&mut object);
        metadata.insert("uid".into(), UID.into());
        metadata.insert("creationTimestamp".into(), TIME.into());
        let stored = Stored::new(object, version, &api_version);
        let (uids, times) = (places(&stored.json, UID), places(&stored.json, &TIME[..10]));
        let length = |at: &usize| if stored.json[*at..].starts_with(TIME.as_bytes()) { TIME.len() } else { 10 };
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
fn places(text: &[u8], word: &str) -> Vec<usize> {
    (0..text.len()).filter(|at| text[*at..].starts_with(word.as_bytes())).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
