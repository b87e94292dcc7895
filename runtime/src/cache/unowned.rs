//! `Unowned`: indexes children by the uid of their former owner, after another client has removed their owner reference.

use super::{Change, ObjectKey, Uid};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};

/// Objects by the uid of an owner that was removed from their owner references; empty unless a client edits these.
#[derive(Debug, Default)]
pub(crate) struct Unowned(Mutex<HashMap<Uid, BTreeMap<ObjectKey, Uid>>>);

impl Unowned {
    /// Adds the object under each owner that it no longer references. Removes it from owners that it references again, and from
    /// all owners when it is deleted or replaced by an object with another uid.
    pub(crate) fn on_change<V>(&self, change: &Change<V>) {
        let Some(old) = change.old().map(|old| &old.header) else { return };
        let new = change.new_entry().map(|entry| &entry.header).filter(|header| header.uid == old.uid);
        if new.is_some_and(|new| new.owners == old.owners) {
            return;
        }
        let is_current_owner =
            |owner: &Uid| new.is_some_and(|new| new.owners.iter().any(|reference| reference.uid == *owner));
        let mut unowned = self.0.lock();
        unowned.retain(|owner, children| {
            if new.is_none() || is_current_owner(owner) {
                children.retain(|_, uid| *uid != old.uid);
            }
            !children.is_empty()
        });
        for owner in old.owners.iter().filter(|owner| new.is_some() && !is_current_owner(&owner.uid)) {
            unowned.entry(owner.uid.clone()).or_default().insert(old.key.clone(), old.uid.clone());
        }
    }

    /// Returns the former children of an owner, with their uids.
    pub(crate) fn former_children_of(&self, owner: &Uid) -> Vec<(ObjectKey, Uid)> {
        let unowned = self.0.lock();
        unowned.get(owner).into_iter().flatten().map(|(key, uid)| (key.clone(), uid.clone())).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cache::{Header, Store};
    use serde_json::{Value, json};

    fn state(store: &Store<()>, version: u32, owners: Value) -> Change<()> {
        let object = json!({"metadata": {
            "name": "a", "namespace": "shop", "uid": "c", "resourceVersion": version.to_string(), "ownerReferences": owners,
        }});
        store.apply(Header::parse(object.to_string().as_bytes()).unwrap(), || ())
    }

    #[test]
    fn an_object_that_lost_its_owner_is_found_by_it_until_it_is_owned_again_or_gone() {
        let (store, unowned, owner) = (Store::default(), Unowned::default(), Uid::from("o"));
        let owned = json!([{"apiVersion": "v1", "kind": "Note", "name": "n", "uid": "o", "controller": true}]);
        unowned.on_change(&state(&store, 1, owned.clone()));
        assert!(unowned.former_children_of(&owner).is_empty());
        unowned.on_change(&state(&store, 2, json!([])));
        assert_eq!(unowned.former_children_of(&owner), [(ObjectKey::namespaced("shop", "a"), Uid::from("c"))]);
        unowned.on_change(&state(&store, 3, owned));
        assert!(unowned.0.lock().is_empty());
        unowned.on_change(&state(&store, 4, json!([])));
        let old = store.get(&ObjectKey::namespaced("shop", "a")).unwrap();
        unowned.on_change(&Change::Deleted { old });
        assert!(unowned.0.lock().is_empty());
    }
}
