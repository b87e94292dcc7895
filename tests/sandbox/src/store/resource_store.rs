//! Stores the objects of one group resource, such as `deployments.apps`, and the history of their changes.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use serde_json::Value;

use super::{
    Stored,
    notifier::{Notifier, Subscription},
    stored::{Draft, key},
};

/// Objects by key, and their recent changes.
#[derive(Debug)]
pub(crate) struct ResourceStore {
    objects: BTreeMap<String, Arc<Stored>>,
    changes: VecDeque<Arc<Change>>,
    /// Changes up to this version are dropped.
    compacted: u64,
    /// The maximum number of changes in the history.
    max_changes: usize,
    notifier: Notifier,
    /// Notifiers of subscriptions to one name.
    name_notifiers: Vec<(Box<str>, Notifier)>,
}

/// A change of an object.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    pub(crate) version: u64,
    /// The new state; for a deletion the last one, with the version of the deletion.
    pub(crate) object: Arc<Stored>,
    /// The state before the change; `None` if the object did not exist.
    pub(crate) before: Option<Arc<Stored>>,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

impl Change {
    /// Returns whether the change is a lifecycle change: a deletion, or a change whose old or new object has owners or is
    /// terminating.
    pub(crate) fn is_lifecycle(&self) -> bool {
        let has_lifecycle = |object: &Stored| !object.owners.is_empty() || object.deleting;
        self.kind == ChangeKind::Deleted
            || has_lifecycle(&self.object)
            || self.before.as_deref().is_some_and(has_lifecycle)
    }
}

/// Objects by namespace and name.
pub(crate) type Listed = Vec<Arc<Stored>>;

impl ResourceStore {
    /// Creates an empty store. `compacted` is the version from which its history starts.
    pub(super) fn new(max_changes: usize, compacted: u64) -> Self {
        let notifier = Notifier::default();
        Self {
            objects: BTreeMap::new(),
            changes: VecDeque::new(),
            compacted,
            max_changes,
            notifier,
            name_notifiers: Vec::new(),
        }
    }

    /// Returns an object; `None` if it does not exist.
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        if self.objects.is_empty() {
            return None;
        }
        self.objects.get(&key(namespace, name)).cloned()
    }

    /// Returns the objects of a namespace, or of all namespaces if it is `None` or empty, in the order of their keys.
    pub(super) fn list(&self, namespace: Option<&str>) -> Listed {
        in_namespace(&self.objects, namespace)
    }

    /// Returns the objects at an older version, by undoing the later changes. Returns [`Expired`] if the history does not
    /// reach back to the version.
    pub(super) fn list_at(&self, namespace: Option<&str>, version: u64) -> Result<Listed, Expired> {
        let later_changes = self.changes_after(version)?;
        if later_changes.is_empty() {
            return Ok(self.list(namespace));
        }
        let mut objects = self.objects.clone();
        for change in later_changes.iter().rev() {
            match &change.before {
                Some(before) => objects.insert(before.key(), before.clone()),
                None => objects.remove(&change.object.key()),
            };
        }
        Ok(in_namespace(&objects, namespace))
    }

    /// Writes an object with a version, or removes it if `draft` is `None`. `before` is its current state; `None` if it does
    /// not exist. Returns the new (for a removal, the last) state, and whether this is a [lifecycle
    /// change](Change::is_lifecycle).
    pub(super) fn write(
        &mut self,
        version: u64,
        before: Option<Arc<Stored>>,
        draft: Option<Draft>,
    ) -> (Arc<Stored>, bool) {
        let (kind, mut stored) = match (draft, &before) {
            (Some(draft), before) => {
                let kind = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
                (kind, draft.with_version(version))
            }
            // The last state gets the version of the deletion, which the watch event shows.
            (None, Some(before)) => {
                let last_state = serde_json::from_slice(&before.json).unwrap_or_default();
                (ChangeKind::Deleted, Stored::new(last_state, version, &before.api_version))
            }
            (None, None) => (ChangeKind::Deleted, Stored::new(Value::Null, version, "")),
        };
        stored.fresh = kind == ChangeKind::Added;
        let object = Arc::new(stored);
        match kind {
            ChangeKind::Deleted => self.objects.remove(&object.key()),
            ChangeKind::Added | ChangeKind::Modified => self.objects.insert(object.key(), object.clone()),
        };
        let change = Change { kind, version, object: object.clone(), before };
        let is_lifecycle = change.is_lifecycle();
        self.record_change(change);
        (object, is_lifecycle)
    }

    /// Adds an object that already has its version, and records it as added.
    pub(super) fn load(&mut self, object: Arc<Stored>) {
        self.objects.insert(object.key(), object.clone());
        self.record_change(Change { kind: ChangeKind::Added, version: object.version, object, before: None });
    }

    /// Adds a change to the history, drops changes beyond its maximum, and notifies the subscribers.
    fn record_change(&mut self, change: Change) {
        for (_, notifier) in self.name_notifiers.iter().filter(|(name, _)| *name == change.object.name) {
            notifier.notify();
        }
        self.changes.push_back(Arc::new(change));
        while self.changes.len() > self.max_changes {
            self.compacted = self.changes.pop_front().map_or(self.compacted, |change| change.version);
        }
        self.notifier.notify();
    }

    /// Adds an object from a data file, without a change in the history.
    pub(super) fn restore(&mut self, object: Arc<Stored>) {
        self.objects.insert(object.key(), object);
    }

    /// Returns the changes after a version, oldest first. Returns [`Expired`] if the history does not reach back to the
    /// version.
    pub(super) fn changes_after(&self, version: u64) -> Result<Vec<Arc<Change>>, Expired> {
        self.first_changes_after(version, usize::MAX)
    }

    /// Returns the first changes after a version, oldest first, at most `max_count`. Returns [`Expired`] if the history does
    /// not reach back to the version.
    pub(super) fn first_changes_after(&self, version: u64, max_count: usize) -> Result<Vec<Arc<Change>>, Expired> {
        if version < self.compacted {
            return Err(Expired);
        }
        let start = self.changes.partition_point(|change| change.version <= version);
        Ok(self.changes.range(start..).take(max_count).cloned().collect())
    }

    /// Ends all subscriptions.
    pub(super) fn end_watches(&mut self) {
        self.notifier = Notifier::default();
        self.name_notifiers.clear();
    }

    pub(super) fn subscribe(&self) -> Subscription {
        self.notifier.subscribe()
    }

    /// Subscribes to the changes of objects with a name, in any namespace. Also drops the notifiers of names that have no
    /// subscribers any more.
    pub(super) fn subscribe_name(&mut self, name: &str) -> Subscription {
        if let Some((_, notifier)) = self.name_notifiers.iter().find(|(subscribed, _)| **subscribed == *name) {
            return notifier.subscribe();
        }
        self.name_notifiers.retain(|(_, notifier)| !notifier.has_no_subscriber());
        let notifier = Notifier::default();
        let subscription = notifier.subscribe();
        self.name_notifiers.push((name.into(), notifier));
        subscription
    }

    /// Drops the history. `version` is the last version of the store, from which the new history starts.
    pub(super) fn compact(&mut self, version: u64) {
        self.changes.clear();
        self.compacted = version;
    }
}

/// Returns the objects of a namespace, or all if it is `None` or empty, in the order of their keys.
fn in_namespace(objects: &BTreeMap<String, Arc<Stored>>, namespace: Option<&str>) -> Listed {
    if objects.is_empty() {
        return Listed::new();
    }
    let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) else {
        return objects.values().cloned().collect();
    };
    let prefix = format!("{namespace}/");
    let with_prefix = objects.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
    with_prefix.map(|(_, object)| object.clone()).collect()
}

/// The error for a version to which the history does not reach back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expired;
