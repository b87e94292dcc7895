//! What is kept: objects as JSON text, by kind, with the history that watches go on from.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use tokio::sync::watch;

pub(crate) use shelf::{Change, ChangeKind, Listed, Shelf};
pub(crate) use stored::Stored;

mod shelf;
mod stored;

/// All objects of all kinds under one sequence of versions.
#[derive(Debug)]
pub(crate) struct Store {
    state: Mutex<State>,
    /// How many changes a kind remembers.
    history: usize,
    /// The version of the newest change of any kind that is [of life](Change::is_of_life).
    lives: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    version: u64,
    /// No history goes back beyond this version.
    compacted: u64,
    shelves: HashMap<Arc<str>, Shelf>,
}

impl State {
    fn shelf(&mut self, shelf: &Arc<str>, history: usize) -> &mut Shelf {
        self.shelves.entry(shelf.clone()).or_insert_with(|| Shelf::new(history, self.compacted))
    }
}

/// A change and the shelf it is on.
pub(crate) type LifeChange = (Arc<str>, Arc<Change>);

/// What must be true of an object for a write to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Absent,
    Version(u64),
}

/// Somebody else was there first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raced;

/// The history doesn't go back that far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooOld;

impl Store {
    /// The version of a store in which nothing was written.
    pub(crate) const FIRST: u64 = 1;

    pub(crate) fn new(history: usize) -> Self {
        let state = State { version: Self::FIRST, compacted: 0, shelves: HashMap::new() };
        Self { state: Mutex::new(state), history, lives: watch::channel(0).0 }
    }

    /// Whether nothing was ever written.
    pub(crate) fn is_new(&self) -> bool {
        self.version() == Self::FIRST
    }

    /// Takes objects that are ready to be kept, their versions rising from that of the store.
    pub(crate) fn load(&self, objects: impl Iterator<Item = (Arc<str>, Stored)>) {
        let mut state = self.state();
        for (shelf, object) in objects {
            state.version = object.version;
            state.shelf(&shelf, self.history).load(Arc::new(object));
        }
    }

    /// The version of the last write.
    pub(crate) fn version(&self) -> u64 {
        self.state().version
    }

    pub(crate) fn get(&self, shelf: &str, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        self.state().shelves.get(shelf)?.get(namespace, name)
    }

    /// The objects of a kind in one namespace or in all (`None`), by namespace and name, and the version they have together.
    pub(crate) fn list(&self, shelf: &str, namespace: Option<&str>) -> (u64, Vec<Arc<Stored>>) {
        let state = self.state();
        let items = state.shelves.get(shelf).map(|shelf| shelf.list(namespace)).unwrap_or_default();
        (state.version, items)
    }

    /// The objects of a kind as they were at a version.
    pub(crate) fn list_at(&self, shelf: &str, namespace: Option<&str>, version: u64) -> Result<Listed, TooOld> {
        let state = self.state();
        state.shelves.get(shelf).map_or_else(|| Ok(Listed::default()), |shelf| shelf.list_at(namespace, version))
    }

    /// Writes, or removes with `None`, if what is `expected` holds. The object gets its new version as `resourceVersion`.
    /// Of a removal the last state comes back, with the version of the removal.
    pub(crate) fn commit(
        &self,
        shelf: &Arc<str>,
        (namespace, name): (&str, &str),
        expected: Expect,
        object: Option<Value>,
        api_version: &str,
    ) -> Result<Arc<Stored>, Raced> {
        let mut state = self.state();
        let next = state.version + 1;
        let shelf = state.shelf(shelf, self.history);
        let held = shelf.get(namespace, name);
        match (expected, &held) {
            (Expect::Absent, None) => {}
            (Expect::Version(expected), Some(held)) if held.version == expected => {}
            _ => return Err(Raced),
        }
        let (put, of_life) = shelf.put(next, held, object, api_version);
        state.version = next;
        if of_life {
            self.lives.send_replace(next);
        }
        Ok(put)
    }

    /// Changes of a kind after a version, and how to wait for more.
    pub(crate) fn changes(&self, shelf: &Arc<str>, after: u64) -> Result<Vec<Arc<Change>>, TooOld> {
        let state = self.state();
        state.shelves.get(shelf).map_or_else(|| Ok(Vec::new()), |shelf| shelf.after(after))
    }

    /// Says the version of a kind's newest change.
    pub(crate) fn news(&self, shelf: &Arc<str>) -> watch::Receiver<u64> {
        self.state().shelf(shelf, self.history).news()
    }

    /// Says the version of the newest change of any kind that is [of life](Change::is_of_life).
    pub(crate) fn lives(&self) -> watch::Receiver<u64> {
        self.lives.subscribe()
    }

    /// The changes of all kinds after a version that are [of life](Change::is_of_life), in their order, and the version
    /// that this goes up to.
    pub(crate) fn life_changes(&self, after: u64) -> Result<(u64, Vec<LifeChange>), TooOld> {
        let state = self.state();
        let mut changes = Vec::new();
        for (shelf, kept) in &state.shelves {
            let new = kept.after(after)?.into_iter().filter(|change| change.is_of_life());
            changes.extend(new.map(|change| (shelf.clone(), change)));
        }
        changes.sort_by_key(|(_, change)| change.version);
        Ok((state.version, changes))
    }

    /// Forgets the history up to now: a watch from an older version is told 410.
    pub(crate) fn compact(&self) {
        let mut state = self.state();
        let version = state.version;
        state.compacted = version;
        state.shelves.values_mut().for_each(|shelf| shelf.compact(version));
    }

    /// The kinds of which something is or was kept, by name.
    pub(crate) fn shelves(&self) -> Vec<Arc<str>> {
        let mut shelves: Vec<_> = self.state().shelves.keys().cloned().collect();
        shelves.sort();
        shelves
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
