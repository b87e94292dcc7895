//! Stores objects as JSON text, by group resource, with the history for watches.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use journal::{Journal, OpenedJournal, PersistedObject};
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

/// All objects. Each write gets the next version (`resourceVersion`) of one sequence.
#[derive(Debug)]
pub(crate) struct Store {
    state: Mutex<StoreState>,
    /// The maximum number of changes in the history of each group resource.
    history: usize,
    /// Notifies of [lifecycle changes](Change::is_lifecycle) of any kind.
    lifecycle: Notifier,
}

/// The objects and the data file, behind the lock of the store.
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
    /// Returns the store of a group resource, which is created on first use.
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

/// The error of a write whose precondition does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict;

impl Store {
    /// The version of an empty store.
    pub(crate) const FIRST: u64 = 1;

    /// Creates an empty store without a data file. `history` is the maximum number of changes in the history of each group
    /// resource.
    pub(crate) fn new(history: usize) -> Self {
        let state =
            StoreState { version: Self::FIRST, compacted: 0, file: File::None, group_resources: BTreeMap::new() };
        Self { state: Mutex::new(state), history, lifecycle: Notifier::default() }
    }

    /// Returns whether the store has never been written to.
    pub(crate) fn is_new(&self) -> bool {
        self.version() == Self::FIRST
    }

    /// Adds the first objects of a new store, which already have their uids and versions, without the checks of a write, and
    /// records them as added. Their versions must ascend.
    pub(crate) fn load(&self, objects: impl Iterator<Item = (Arc<str>, Stored)>) {
        let mut state = self.state();
        for (group_resource, object) in objects {
            let (version, object) = (object.version, Arc::new(object));
            state.version = version;
            state.group_resource(&group_resource, self.history).load(object.clone());
            if let File::Open(journal) = &state.file {
                journal.append(version, &group_resource, object.key(), Some(object));
            }
        }
    }

    /// Loads the objects of a data file, persists all further writes in the file, and returns its signing key. A new file
    /// gets the key that `key` creates. The store must be new.
    pub(crate) fn open_file(&self, path: &Path, key: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
        Ok(self.load_journal(Journal::open(path, key)?))
    }

    /// Loads the objects of an opened data file, persists all further writes in the file, and returns its signing key.
    fn load_journal(&self, OpenedJournal { journal, contents, key }: OpenedJournal) -> Vec<u8> {
        let mut objects = Vec::new();
        let mut state = self.state();
        if let Some(contents) = contents {
            for PersistedObject { group_resource, api_version, json } in contents.objects {
                objects.extend(Stored::from_json(&json, &api_version).map(|object| (group_resource, object)));
            }
            objects.sort_by_key(|(_, object)| object.version);
            state.version = contents.version;
        }
        for (group_resource, object) in objects {
            state.group_resource(&group_resource, self.history).restore(Arc::new(object));
        }
        state.file = File::Open(journal);
        drop(state);
        // The file contains no history, so a watch can't start from an earlier version.
        self.compact();
        key
    }

    /// Returns a new store with the objects that this store had at a version. The last version of the new store is `latest`, and it has no
    /// history.
    ///
    /// # Errors
    /// [`Expired`] if the history does not reach back to the version.
    pub(crate) fn restored(&self, version: u64, latest: u64) -> Result<Self, Expired> {
        let (state, restored) = (self.state(), Self::new(self.history));
        {
            let mut new = restored.state();
            for (group_resource, objects) in &state.group_resources {
                for object in objects.list_at(None, version)? {
                    new.group_resource(group_resource, self.history).restore(object);
                }
            }
            new.version = latest;
        }
        restored.compact();
        Ok(restored)
    }

    /// Waits until all writes so far are in the data file, if there is one. Returns `false` if the file is closed or can't be
    /// written.
    pub(crate) async fn wait_until_persisted(&self) -> bool {
        let (mut complete_version, version) = {
            let state = self.state();
            match &state.file {
                File::None => return true,
                File::Closed => return false,
                File::Open(journal) => (journal.complete_version(), state.version),
            }
        };
        complete_version.wait_for(|complete| *complete >= version).await.is_ok()
    }

    /// Waits until all writes are in the data file, and closes it. Later writes are not persisted.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        let file = if matches!(state.file, File::None) { File::None } else { File::Closed };
        let open_file = std::mem::replace(&mut state.file, file);
        drop(state);
        // Dropping the journal waits until the file is written.
        drop(open_file);
    }

    /// Returns the version of the last write.
    pub(crate) fn version(&self) -> u64 {
        self.state().version
    }

    /// Returns an object; `None` if it does not exist.
    pub(crate) fn get(&self, group_resource: &str, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        self.state().group_resources.get(group_resource)?.get(namespace, name)
    }

    /// Returns the version of the last write, and the objects of a namespace, sorted by namespace and name. An empty
    /// namespace or `None` means all namespaces.
    pub(crate) fn list(&self, group_resource: &str, namespace: Option<&str>) -> (u64, Vec<Arc<Stored>>) {
        let state = self.state();
        let items = state
            .group_resources
            .get(group_resource)
            .map(|group_resource| group_resource.list(namespace))
            .unwrap_or_default();
        (state.version, items)
    }

    /// Returns the objects at an older version, sorted by namespace and name.
    ///
    /// # Errors
    /// [`Expired`] if the history does not reach back to it.
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

    /// Writes an object, or removes it if `object` is `None`, if the precondition `expected` holds. The object gets its new
    /// version as `resourceVersion`. A removal returns the last state of the object with the version of the removal.
    ///
    /// # Errors
    /// [`Conflict`] if the precondition does not hold.
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
        let next_version = state.version + 1;
        let resource_store = state.group_resource(group_resource, self.history);
        let current = resource_store.get(namespace, name);
        match (expected, &current) {
            (Expect::Absent, None) => {}
            (Expect::Version(expected), Some(current)) if current.version == expected => {}
            _ => return Err(Conflict),
        }
        let removed = draft.is_none();
        let (stored, is_lifecycle) = resource_store.write(next_version, current, draft);
        state.version = next_version;
        if let File::Open(journal) = &state.file {
            journal.append(next_version, group_resource, stored.key(), (!removed).then(|| stored.clone()));
        }
        if is_lifecycle {
            self.lifecycle.notify();
        }
        Ok(stored)
    }

    /// Returns the changes after a version, oldest first. Returns [`Expired`] if the history does not reach back to it.
    pub(crate) fn changes(&self, group_resource: &Arc<str>, after: u64) -> Result<Vec<Arc<Change>>, Expired> {
        self.some_changes(group_resource, after, usize::MAX)
    }

    /// Returns the first changes after a version, at most `max_count`. Returns [`Expired`] if the history does not
    /// reach back to it.
    pub(crate) fn some_changes(
        &self,
        group_resource: &Arc<str>,
        after: u64,
        max_count: usize,
    ) -> Result<Vec<Arc<Change>>, Expired> {
        let state = self.state();
        state
            .group_resources
            .get(group_resource)
            .map_or_else(|| Ok(Vec::new()), |group_resource| group_resource.first_changes_after(after, max_count))
    }

    /// Subscribes to the changes of a group resource.
    pub(crate) fn subscribe(&self, group_resource: &Arc<str>) -> Subscription {
        self.state().group_resource(group_resource, self.history).subscribe()
    }

    /// Subscribes to the changes of the objects of a group resource that have a name, in any namespace.
    pub(crate) fn subscribe_name(&self, group_resource: &Arc<str>, name: &str) -> Subscription {
        self.state().group_resource(group_resource, self.history).subscribe_name(name)
    }

    /// Ends the subscriptions of a group resource that is no longer served.
    pub(crate) fn end_watches(&self, group_resource: &str) {
        if let Some(group_resource) = self.state().group_resources.get_mut(group_resource) {
            group_resource.end_watches();
        }
    }

    /// Subscribes to the [lifecycle changes](Change::is_lifecycle) of all kinds.
    pub(crate) fn subscribe_lifecycle(&self) -> Subscription {
        self.lifecycle.subscribe()
    }

    /// Returns the version of the store, and the [lifecycle changes](Change::is_lifecycle) of all kinds after a version, in
    /// the order of their versions. Returns [`Expired`] if the history of a kind does not reach back to the version.
    pub(crate) fn lifecycle_changes(&self, after: u64) -> Result<(u64, Vec<LifecycleChange>), Expired> {
        let state = self.state();
        let mut changes = Vec::new();
        for (group_resource, resource_store) in &state.group_resources {
            let changes_of_resource =
                resource_store.changes_after(after)?.into_iter().filter(|change| change.is_lifecycle());
            changes.extend(changes_of_resource.map(|change| (group_resource.clone(), change)));
        }
        changes.sort_by_key(|(_, change)| change.version);
        Ok((state.version, changes))
    }

    /// Drops the history of all kinds: a watch from an older version gets 410.
    pub(crate) fn compact(&self) {
        let mut state = self.state();
        let version = state.version;
        state.compacted = version;
        state.group_resources.values_mut().for_each(|group_resource| group_resource.compact(version));
    }

    /// Returns the group resources that have or had objects.
    pub(crate) fn group_resources(&self) -> Vec<Arc<str>> {
        self.state().group_resources.keys().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
