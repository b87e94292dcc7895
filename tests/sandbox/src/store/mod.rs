//! Stores objects as JSON text, by group resource, with the history for watches.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use journal::Journal;
use notifier::Notifier;

pub(crate) use notifier::Subscription;
pub(crate) use resource_store::{Change, ChangeKind, Expired, Listed, ResourceStore};
use stored::Draft;
pub(crate) use stored::{Heading, Labels, Stored};
pub(crate) use text::Text;

mod journal;
mod notifier;
mod resource_store;
mod stored;
mod text;

/// All objects under one sequence of versions.
#[derive(Debug)]
pub(crate) struct Store {
    state: Mutex<StoreState>,
    /// The maximum number of changes in the history of each group resource.
    history: usize,
    /// Notifies of [lifecycle changes](Change::is_lifecycle) of any kind.
    lifecycle: Notifier,
}

#[derive(Debug)]
struct StoreState {
    version: u64,
    /// The oldest version that a history can start from.
    compacted: u64,
    /// The file, if there is one.
    file: File,
    group_resources: BTreeMap<Arc<str>, ResourceStore>,
}

/// The data file of the store.
#[derive(Debug)]
enum File {
    None,
    Open(Journal),
    /// The file was closed: writes are no longer persisted.
    Closed,
}

impl StoreState {
    fn group_resource(&mut self, group_resource: &Arc<str>, history: usize) -> &mut ResourceStore {
        self.group_resources
            .entry(group_resource.clone())
            .or_insert_with(|| ResourceStore::new(history, self.compacted))
    }
}

/// A change and its group resource.
pub(crate) type LifecycleChange = (Arc<str>, Arc<Change>);

/// The precondition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Absent,
    Version(u64),
}

/// The precondition of a write failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict;

impl Store {
    /// The version of an empty store.
    pub(crate) const FIRST: u64 = 1;

    pub(crate) fn new(history: usize) -> Self {
        let state =
            StoreState { version: Self::FIRST, compacted: 0, file: File::None, group_resources: BTreeMap::new() };
        Self { state: Mutex::new(state), history, lifecycle: Notifier::default() }
    }

    /// Whether the store has never been written to.
    pub(crate) fn is_new(&self) -> bool {
        self.version() == Self::FIRST
    }

    /// Loads finished objects with ascending versions.
    pub(crate) fn load(&self, objects: impl Iterator<Item = (Arc<str>, Stored)>) {
        let mut state = self.state();
        for (group_resource, object) in objects {
            let (version, object) = (object.version, Arc::new(object));
            state.version = version;
            state.group_resource(&group_resource, self.history).load(object.clone());
            if let File::Open(journal) = &state.file {
                journal.note(version, &group_resource, object.key(), Some(object));
            }
        }
    }

    /// Loads a data file, persists all further writes there, and returns the signing key in it. The store must be new.
    pub(crate) fn open_file(&self, path: &Path, key: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
        Ok(self.load_journal(Journal::open(path, key)?))
    }

    fn load_journal(&self, (journal, kept, key): (Journal, Option<journal::Kept>, Vec<u8>)) -> Vec<u8> {
        let mut objects = Vec::new();
        let mut state = self.state();
        if let Some(kept) = kept {
            for (group_resource, api_version, json) in kept.objects {
                objects.extend(Stored::from_json(&json, &api_version).map(|object| (group_resource, object)));
            }
            objects.sort_by_key(|(_, object)| object.version);
            state.version = kept.version;
        }
        for (group_resource, object) in objects {
            state.group_resource(&group_resource, self.history).restore(Arc::new(object));
        }
        state.file = File::Open(journal);
        drop(state);
        // The file contains no history.
        self.compact();
        key
    }

    /// Waits until all writes so far are in the file; false if they never will be.
    pub(crate) async fn settled(&self) -> bool {
        let (mut written, version) = {
            let state = self.state();
            match &state.file {
                File::None => return true,
                File::Closed => return false,
                File::Open(journal) => (journal.written(), state.version),
            }
        };
        written.wait_for(|written| *written >= version).await.is_ok()
    }

    /// Closes the file after all writes are in it.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        let file = if matches!(state.file, File::None) { File::None } else { File::Closed };
        let open = std::mem::replace(&mut state.file, file);
        drop(state);
        // Waits until the file is written.
        drop(open);
    }

    /// The version of the last write.
    pub(crate) fn version(&self) -> u64 {
        self.state().version
    }

    pub(crate) fn get(&self, group_resource: &str, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        self.state().group_resources.get(group_resource)?.get(namespace, name)
    }

    /// The objects of one namespace or of all (`None`), by namespace and name, and the version of the list.
    pub(crate) fn list(&self, group_resource: &str, namespace: Option<&str>) -> (u64, Vec<Arc<Stored>>) {
        let state = self.state();
        let items = state
            .group_resources
            .get(group_resource)
            .map(|group_resource| group_resource.list(namespace))
            .unwrap_or_default();
        (state.version, items)
    }

    /// The objects at an older version.
    pub(crate) fn list_at(
        &self,
        group_resource: &str,
        namespace: Option<&str>,
        version: u64,
    ) -> Result<Listed, Expired> {
        let state = self.state();
        state
            .group_resources
            .get(group_resource)
            .map_or_else(|| Ok(Listed::default()), |group_resource| group_resource.list_at(namespace, version))
    }

    /// Writes an object, or removes it with `None`, if the precondition holds. The object gets its new version as
    /// `resourceVersion`. A removal returns the last state with the version of the removal.
    pub(crate) fn commit(
        &self,
        group_resource: &Arc<str>,
        (namespace, name): (&str, &str),
        expected: Expect,
        object: Option<Value>,
        api_version: &str,
    ) -> Result<Arc<Stored>, Conflict> {
        // Serializes outside the lock.
        let draft = object.map(|object| Draft::new(object, api_version));
        let mut state = self.state();
        let next = state.version + 1;
        let name_of_resource = group_resource;
        let group_resource = state.group_resource(group_resource, self.history);
        let held = group_resource.get(namespace, name);
        match (expected, &held) {
            (Expect::Absent, None) => {}
            (Expect::Version(expected), Some(held)) if held.version == expected => {}
            _ => return Err(Conflict),
        }
        let removed = draft.is_none();
        let (put, is_lifecycle) = group_resource.put(next, held, draft);
        state.version = next;
        if let File::Open(journal) = &state.file {
            journal.note(next, name_of_resource, put.key(), (!removed).then(|| put.clone()));
        }
        if is_lifecycle {
            self.lifecycle.notify();
        }
        Ok(put)
    }

    /// The changes after a version, oldest first.
    pub(crate) fn changes(&self, group_resource: &Arc<str>, after: u64) -> Result<Vec<Arc<Change>>, Expired> {
        self.some_changes(group_resource, after, usize::MAX)
    }

    /// The first changes after a version.
    pub(crate) fn some_changes(
        &self,
        group_resource: &Arc<str>,
        after: u64,
        most: usize,
    ) -> Result<Vec<Arc<Change>>, Expired> {
        let state = self.state();
        state
            .group_resources
            .get(group_resource)
            .map_or_else(|| Ok(Vec::new()), |group_resource| group_resource.some_after(after, most))
    }

    /// Subscribes to the changes of a group resource.
    pub(crate) fn subscribe(&self, group_resource: &Arc<str>) -> Subscription {
        self.state().group_resource(group_resource, self.history).subscribe()
    }

    /// Subscribes to the changes of objects with one name.
    pub(crate) fn subscribe_name(&self, group_resource: &Arc<str>, name: &str) -> Subscription {
        self.state().group_resource(group_resource, self.history).subscribe_name(name)
    }

    /// Ends the subscriptions of a group resource that is no longer served.
    pub(crate) fn end_watches(&self, group_resource: &str) {
        if let Some(group_resource) = self.state().group_resources.get_mut(group_resource) {
            group_resource.end_watches();
        }
    }

    /// Subscribes to [lifecycle changes](Change::is_lifecycle) of any kind.
    pub(crate) fn subscribe_lifecycle(&self) -> Subscription {
        self.lifecycle.subscribe()
    }

    /// The [lifecycle changes](Change::is_lifecycle) of all kinds after a version in order, and the version that they reach.
    pub(crate) fn lifecycle_changes(&self, after: u64) -> Result<(u64, Vec<LifecycleChange>), Expired> {
        let state = self.state();
        let mut changes = Vec::new();
        for (group_resource, kept) in &state.group_resources {
            let new = kept.after(after)?.into_iter().filter(|change| change.is_lifecycle());
            changes.extend(new.map(|change| (group_resource.clone(), change)));
        }
        changes.sort_by_key(|(_, change)| change.version);
        Ok((state.version, changes))
    }

    /// Drops the history: a watch from an older version gets 410.
    pub(crate) fn compact(&self) {
        let mut state = self.state();
        let version = state.version;
        state.compacted = version;
        state.group_resources.values_mut().for_each(|group_resource| group_resource.compact(version));
    }

    /// The group resources that have or had objects.
    pub(crate) fn group_resources(&self) -> Vec<Arc<str>> {
        self.state().group_resources.keys().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
