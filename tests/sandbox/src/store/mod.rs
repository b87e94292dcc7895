//! What is kept: objects as JSON text, by kind, with the history that watches go on from.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use journal::Journal;
pub(crate) use news::News;
use news::Teller;
pub(crate) use shelf::{Change, ChangeKind, Listed, Shelf};
use stored::Draft;
pub(crate) use stored::{Heading, Labels, Stored};
pub(crate) use text::Text;

mod journal;
mod news;
mod shelf;
mod stored;
mod text;

/// All objects of all kinds under one sequence of versions.
#[derive(Debug)]
pub(crate) struct Store {
    state: Mutex<State>,
    /// How many changes a kind remembers.
    history: usize,
    /// Of changes of any kind that are [of life](Change::is_of_life).
    lives: Teller,
}

#[derive(Debug)]
struct State {
    version: u64,
    /// No history goes back beyond this version.
    compacted: u64,
    /// The file, if there is one.
    file: File,
    shelves: BTreeMap<Arc<str>, Shelf>,
}

/// Whether what is written goes to a disk, too.
#[derive(Debug)]
enum File {
    None,
    Open(Journal),
    /// It was closed: no write is safe any more.
    Closed,
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
        let state = State { version: Self::FIRST, compacted: 0, file: File::None, shelves: BTreeMap::new() };
        Self { state: Mutex::new(state), history, lives: Teller::default() }
    }

    /// Whether nothing was ever written.
    pub(crate) fn is_new(&self) -> bool {
        self.version() == Self::FIRST
    }

    /// Takes objects that are ready to be kept, their versions rising from that of the store.
    pub(crate) fn load(&self, objects: impl Iterator<Item = (Arc<str>, Stored)>) {
        let mut state = self.state();
        for (shelf, object) in objects {
            let (version, object) = (object.version, Arc::new(object));
            state.version = version;
            state.shelf(&shelf, self.history).load(object.clone());
            if let File::Open(journal) = &state.file {
                journal.note(version, &shelf, object.key(), Some(object));
            }
        }
    }

    /// Goes on with what a file holds, and writes everything there from now on; gives the key that lies there. It is to be
    /// called on a new store.
    pub(crate) fn keep(&self, path: &Path, key: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
        Ok(self.keep_in(Journal::open(path, key)?))
    }

    fn keep_in(&self, (journal, kept, key): (Journal, Option<journal::Kept>, Vec<u8>)) -> Vec<u8> {
        let mut objects = Vec::new();
        let mut state = self.state();
        if let Some(kept) = kept {
            for (shelf, api_version, json) in kept.objects {
                objects.extend(Stored::kept(&json, &api_version).map(|object| (shelf, object)));
            }
            objects.sort_by_key(|(_, object)| object.version);
            state.version = kept.version;
        }
        for (shelf, object) in objects {
            state.shelf(&shelf, self.history).restore(Arc::new(object));
        }
        state.file = File::Open(journal);
        drop(state);
        // What led here is not in the file.
        self.compact();
        key
    }

    /// Waits until all that is written now is in the file, if there is one; false if it never will be.
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

    /// Closes the file, when all that is written is in it.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        let file = if matches!(state.file, File::None) { File::None } else { File::Closed };
        let open = std::mem::replace(&mut state.file, file);
        drop(state);
        // This waits for the disk.
        drop(open);
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
        // Others need not wait while it is written out.
        let draft = object.map(|object| Draft::new(object, api_version));
        let mut state = self.state();
        let next = state.version + 1;
        let name_of_shelf = shelf;
        let shelf = state.shelf(shelf, self.history);
        let held = shelf.get(namespace, name);
        match (expected, &held) {
            (Expect::Absent, None) => {}
            (Expect::Version(expected), Some(held)) if held.version == expected => {}
            _ => return Err(Raced),
        }
        let removed = draft.is_none();
        let (put, of_life) = shelf.put(next, held, draft);
        state.version = next;
        if let File::Open(journal) = &state.file {
            journal.note(next, name_of_shelf, put.key(), (!removed).then(|| put.clone()));
        }
        if of_life {
            self.lives.tell();
        }
        Ok(put)
    }

    /// Changes of a kind after a version, oldest first.
    pub(crate) fn changes(&self, shelf: &Arc<str>, after: u64) -> Result<Vec<Arc<Change>>, TooOld> {
        self.some_changes(shelf, after, usize::MAX)
    }

    /// The first changes of a kind after a version.
    pub(crate) fn some_changes(&self, shelf: &Arc<str>, after: u64, most: usize) -> Result<Vec<Arc<Change>>, TooOld> {
        let state = self.state();
        state.shelves.get(shelf).map_or_else(|| Ok(Vec::new()), |shelf| shelf.some_after(after, most))
    }

    /// Of changes of a kind.
    pub(crate) fn news(&self, shelf: &Arc<str>) -> News {
        self.state().shelf(shelf, self.history).news()
    }

    /// Of changes of objects of a kind that have this name.
    pub(crate) fn news_of(&self, shelf: &Arc<str>, name: &str) -> News {
        self.state().shelf(shelf, self.history).news_of(name)
    }

    /// Ends what follows a kind that is served no more.
    pub(crate) fn end_watches(&self, shelf: &str) {
        if let Some(shelf) = self.state().shelves.get_mut(shelf) {
            shelf.end_watches();
        }
    }

    /// Of changes of any kind that are [of life](Change::is_of_life).
    pub(crate) fn lives(&self) -> News {
        self.lives.news()
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
        self.state().shelves.keys().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
