//! Stores the objects of one group resource and their history.

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
    forgotten: u64,
    history: usize,
    notifier: Notifier,
    /// Notifiers of subscriptions to one name.
    named: Vec<(Box<str>, Notifier)>,
}

/// A change of an object.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    pub(crate) version: u64,
    /// The new state; for a deletion the last one, with the version of the deletion.
    pub(crate) object: Arc<Stored>,
    pub(crate) before: Option<Arc<Stored>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

impl Change {
    /// Whether the change is a lifecycle change: of an object with owners, of a terminating one, or a removal.
    pub(crate) fn is_lifecycle(&self) -> bool {
        let lives = |object: &Stored| !object.owners.is_empty() || object.deleting;
        self.kind == ChangeKind::Deleted || lives(&self.object) || self.before.as_deref().is_some_and(lives)
    }
}

/// Objects by namespace and name.
pub(crate) type Listed = Vec<Arc<Stored>>;

impl ResourceStore {
    pub(super) fn new(history: usize, forgotten: u64) -> Self {
        let notifier = Notifier::default();
        Self { objects: BTreeMap::new(), changes: VecDeque::new(), forgotten, history, notifier, named: Vec::new() }
    }

    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        if self.objects.is_empty() {
            return None;
        }
        self.objects.get(&key(namespace, name)).cloned()
    }

    pub(super) fn list(&self, namespace: Option<&str>) -> Listed {
        within(&self.objects, namespace)
    }

    pub(super) fn list_at(&self, namespace: Option<&str>, version: u64) -> Result<Listed, Expired> {
        let later = self.after(version)?;
        if later.is_empty() {
            return Ok(self.list(namespace));
        }
        let mut objects = self.objects.clone();
        for change in later.iter().rev() {
            match &change.before {
                Some(before) => objects.insert(before.key(), before.clone()),
                None => objects.remove(&change.object.key()),
            };
        }
        Ok(within(&objects, namespace))
    }

    /// Writes or removes an object; also returns whether it is a [lifecycle change](Change::is_lifecycle).
    pub(super) fn put(
        &mut self,
        version: u64,
        before: Option<Arc<Stored>>,
        draft: Option<Draft>,
    ) -> (Arc<Stored>, bool) {
        let (kind, mut stored) = match (draft, &before) {
            (Some(draft), before) => {
                let kind = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
                (kind, draft.at(version))
            }
            (None, Some(before)) => {
                let last = serde_json::from_slice(&before.json).unwrap_or_default();
                (ChangeKind::Deleted, Stored::new(last, version, &before.api_version))
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
        self.remember(change);
        (object, is_lifecycle)
    }

    /// Adds a finished object.
    pub(super) fn load(&mut self, object: Arc<Stored>) {
        self.objects.insert(object.key(), object.clone());
        self.remember(Change { kind: ChangeKind::Added, version: object.version, object, before: None });
    }

    fn remember(&mut self, change: Change) {
        for (_, notifier) in self.named.iter().filter(|(name, _)| *name == change.object.name) {
            notifier.notify();
        }
        self.changes.push_back(Arc::new(change));
        while self.changes.len() > self.history {
            self.forgotten = self.changes.pop_front().map_or(self.forgotten, |change| change.version);
        }
        self.notifier.notify();
    }

    /// Restores an object from a data file.
    pub(super) fn restore(&mut self, object: Arc<Stored>) {
        self.objects.insert(object.key(), object);
    }

    /// The changes after a version, oldest first.
    pub(super) fn after(&self, version: u64) -> Result<Vec<Arc<Change>>, Expired> {
        self.some_after(version, usize::MAX)
    }

    /// The first changes after a version.
    pub(super) fn some_after(&self, version: u64, most: usize) -> Result<Vec<Arc<Change>>, Expired> {
        if version < self.forgotten {
            return Err(Expired);
        }
        let start = self.changes.partition_point(|change| change.version <= version);
        Ok(self.changes.range(start..).take(most).cloned().collect())
    }

    /// Ends all subscriptions.
    pub(super) fn end_watches(&mut self) {
        self.notifier = Notifier::default();
        self.named.clear();
    }

    pub(super) fn subscribe(&self) -> Subscription {
        self.notifier.subscribe()
    }

    pub(super) fn subscribe_name(&mut self, name: &str) -> Subscription {
        if let Some((_, notifier)) = self.named.iter().find(|(own, _)| **own == *name) {
            return notifier.subscribe();
        }
        self.named.retain(|(_, notifier)| !notifier.has_no_subscriber());
        let notifier = Notifier::default();
        let subscription = notifier.subscribe();
        self.named.push((name.into(), notifier));
        subscription
    }

    pub(super) fn compact(&mut self, version: u64) {
        self.changes.clear();
        self.forgotten = version;
    }
}

fn within(objects: &BTreeMap<String, Arc<Stored>>, namespace: Option<&str>) -> Listed {
    if objects.is_empty() {
        return Listed::new();
    }
    let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) else {
        return objects.values().cloned().collect();
    };
    let prefix = format!("{namespace}/");
    let from_there = objects.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
    from_there.map(|(_, object)| object.clone()).collect()
}

/// The history does not reach back to a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expired;
