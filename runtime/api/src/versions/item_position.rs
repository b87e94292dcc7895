//! Finds the former items of a list again after another client has changed the list, by key, content or position.

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

/// Finds former items of a list in `values`, the current items, and returns the current index of each; `None` for an item that is gone.
/// An item with key fields is found by its key. Other items are found by their content, else by their former index if the list still has
/// the same length. No index is returned twice.
pub(super) fn positions<'a>(items: impl IntoIterator<Item = &'a ItemIdentity>, values: &[Value]) -> Vec<Option<usize>> {
    let items: Vec<_> = items.into_iter().collect();
    let mut indexes = FreeIndexes { is_free: vec![true; values.len()], by_identity: BTreeMap::new() };
    // The sets of key fields of all items; the empty set stands for items without a key.
    let key_sets: BTreeSet<Vec<&String>> = items.iter().map(|item| item.key.keys().collect()).collect();
    for (index, value) in values.iter().enumerate() {
        for names in &key_sets {
            let identity = if names.is_empty() { Some(digest(value)) } else { key_of(value, names) };
            indexes.by_identity.entry(identity).or_default().push_back(index);
        }
    }
    let mut found = vec![None; items.len()];
    // Among equal items, those that are still at their former index keep it. The others follow in their order.
    for exact in [true, false] {
        for (item, found) in items.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            let identity =
                if item.key.is_empty() { item.digest.clone() } else { digest(&Value::Object(item.key.clone())) };
            *found = indexes.take(&identity, exact.then_some(item.index));
        }
    }
    for (item, found) in items.iter().zip(&mut found).filter(|(item, found)| found.is_none() && item.key.is_empty()) {
        *found = (item.len == values.len()).then(|| indexes.take_free(item.index)).flatten();
    }
    found
}

/// The indexes of a list that are not yet assigned to a former item.
struct FreeIndexes {
    /// For each index, whether it is not yet assigned.
    is_free: Vec<bool>,
    /// The indexes of the items with a key or content, by the digest of the key or content, in ascending order.
    by_identity: BTreeMap<Option<String>, VecDeque<usize>>,
}

impl FreeIndexes {
    /// Assigns a free index of an item with this identity, the digest of its key or content: `index`, or the first one if `index` is
    /// `None`. Returns `None` if no such index is free.
    fn take(&mut self, identity: &str, index: Option<usize>) -> Option<usize> {
        let candidates = self.by_identity.get_mut(&Some(identity.to_owned()))?;
        if let Some(index) = index {
            // Fails if the item at `index` has another identity.
            candidates.binary_search(&index).ok()?;
            return self.take_free(index);
        }
        while let Some(index) = candidates.pop_front() {
            if self.is_free.get(index).copied().unwrap_or_default() {
                self.is_free[index] = false;
                return Some(index);
            }
        }
        None
    }

    /// Assigns an index. Returns `None` if it is out of range or already assigned.
    fn take_free(&mut self, index: usize) -> Option<usize> {
        let is_free = self.is_free.get_mut(index).filter(|is_free| **is_free)?;
        *is_free = false;
        Some(index)
    }
}

/// Returns the digest of the fields `names` of an item, which identify it in its list; `None` if the item lacks one of the fields.
fn key_of(value: &Value, names: &[&String]) -> Option<String> {
    let field = |name: &&String| Some(((*name).clone(), value.get(name.as_str())?.clone()));
    let key: Option<Map<_, _>> = names.iter().map(field).collect();
    key.map(|key| digest(&Value::Object(key)))
}
