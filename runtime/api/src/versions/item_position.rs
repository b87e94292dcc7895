//! Finds the items of a list again after another client has changed the list.

use super::digest::digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What identifies an item of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ItemIdentity {
    pub(super) index: usize,
    /// The number of items of the list.
    pub(super) len: usize,
    /// The key fields of the item, in a list with `x-kubernetes-list-type: map`; empty in other lists.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) key: Map<String, Value>,
    /// The digest of the item that the conversion back gives without the preserved part.
    #[serde(rename = "seen")]
    pub(super) digest: String,
}

/// Returns the index of each item in a list: by its key, else by its content, else by its former index if the list has the same length.
pub(super) fn positions<'a>(items: impl IntoIterator<Item = &'a ItemIdentity>, values: &[Value]) -> Vec<Option<usize>> {
    let items: Vec<_> = items.into_iter().collect();
    let mut places = Places { free: vec![true; values.len()], by_identity: BTreeMap::new() };
    let names: BTreeSet<Vec<&String>> = items.iter().map(|item| item.key.keys().collect()).collect();
    for (index, value) in values.iter().enumerate() {
        for names in &names {
            let identity = if names.is_empty() { Some(digest(value)) } else { key_of(value, names) };
            places.by_identity.entry(identity).or_default().push_back(index);
        }
    }
    let mut found = vec![None; items.len()];
    // Equal items keep their order: those at their index before come first.
    for exact in [true, false] {
        for (item, found) in items.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            let identity =
                if item.key.is_empty() { item.digest.clone() } else { digest(&Value::Object(item.key.clone())) };
            *found = places.take(&identity, exact.then_some(item.index));
        }
    }
    for (item, found) in items.iter().zip(&mut found).filter(|(item, found)| found.is_none() && item.key.is_empty()) {
        *found = (item.len == values.len()).then(|| places.take_free(item.index)).flatten();
    }
    found
}

/// The places of a list that no item has yet.
struct Places {
    free: Vec<bool>,
    /// The places of the items with a key or content, by its digest.
    by_identity: BTreeMap<Option<String>, VecDeque<usize>>,
}

impl Places {
    /// Takes a free place with this identity: the one at `index`, or without an index the first. Returns `None` if there is none.
    fn take(&mut self, identity: &str, index: Option<usize>) -> Option<usize> {
        let places = self.by_identity.get_mut(&Some(identity.to_owned()))?;
        if let Some(index) = index {
            places.binary_search(&index).ok()?;
            return self.take_free(index);
        }
        while let Some(index) = places.pop_front() {
            if self.free.get(index).copied().unwrap_or_default() {
                self.free[index] = false;
                return Some(index);
            }
        }
        None
    }

    fn take_free(&mut self, index: usize) -> Option<usize> {
        let free = self.free.get_mut(index).filter(|free| **free)?;
        *free = false;
        Some(index)
    }
}

/// Returns the digest of the fields that identify an item; `None` if it lacks one.
fn key_of(value: &Value, names: &[&String]) -> Option<String> {
    let field = |name: &&String| Some(((*name).clone(), value.get(name.as_str())?.clone()));
    let key: Option<Map<_, _>> = names.iter().map(field).collect();
    key.map(|key| digest(&Value::Object(key)))
}
