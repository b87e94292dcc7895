//! Persists the store in a file; a write is on disk before its request is answered.

use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use tokio::sync::watch;

use super::Stored;

/// The table of objects: by group resource and key, the API version of the JSON, and the JSON.
const OBJECTS: TableDefinition<'static, (&str, &str), (&str, &[u8])> = TableDefinition::new("objects");

/// The table with the version of the last write.
const VERSION: TableDefinition<'static, (), u64> = TableDefinition::new("version");

/// The table with the key that signs tokens.
const KEY: TableDefinition<'static, (), &[u8]> = TableDefinition::new("key");

/// A change to persist.
struct Note {
    version: u64,
    group_resource: Arc<str>,
    key: String,
    /// `None` for a removal.
    object: Option<Arc<Stored>>,
}

/// Writes batches of changes to a file on its own thread.
#[derive(Debug)]
pub(super) struct Journal {
    notes: Option<Mutex<Sender<Note>>>,
    /// The version up to which the file is complete.
    written: watch::Receiver<u64>,
    thread: Option<JoinHandle<()>>,
}

/// The contents of a data file.
pub(super) struct Kept {
    pub(super) version: u64,
    /// The objects: group resource, API version, JSON.
    pub(super) objects: Vec<(Arc<str>, String, Vec<u8>)>,
}

impl Journal {
    /// Opens or creates a file; returns its contents, `None` for a new one, and its key.
    pub(super) fn open(
        path: &Path,
        key: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> io::Result<(Self, Option<Kept>, Vec<u8>)> {
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Self::start(Database::create(path).map_err(io::Error::other)?, key)
    }

    /// Starts with an open database.
    pub(super) fn start(
        database: Database,
        key: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> io::Result<(Self, Option<Kept>, Vec<u8>)> {
        let kept = read(&database).map_err(|error| io::Error::other(*error))?;
        let key = match read_key(&database).map_err(|error| io::Error::other(*error))? {
            Some(key) => key,
            None => written_key(&database, key()?).map_err(|error| io::Error::other(*error))?,
        };
        let (notes, taken) = channel();
        let (tell, written) = watch::channel(kept.as_ref().map_or(0, |kept| kept.version));
        let work = move || write_all(&database, &taken, &tell);
        let thread = thread::Builder::new().name("sandbox-file".to_owned()).spawn(work)?;
        let journal = Self { notes: Some(Mutex::new(notes)), written, thread: Some(thread) };
        Ok((journal, kept, key))
    }

    /// Queues a change; changes come in the order of their versions.
    pub(super) fn note(&self, version: u64, group_resource: &Arc<str>, key: String, object: Option<Arc<Stored>>) {
        let note = Note { version, group_resource: group_resource.clone(), key, object };
        let Some(notes) = &self.notes else { return };
        let sent = notes.lock().unwrap_or_else(PoisonError::into_inner).send(note);
        // If the writer is gone, the wait for the change fails.
        drop(sent);
    }

    /// Returns the version up to which the file is complete. An error means that the file will never be complete.
    pub(super) fn written(&self) -> watch::Receiver<u64> {
        self.written.clone()
    }
}

impl Drop for Journal {
    /// Waits until everything is in the file and the file is closed.
    fn drop(&mut self) {
        self.notes = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer of the data file did not end well");
        }
    }
}

fn write_all(database: &Database, notes: &Receiver<Note>, written: &watch::Sender<u64>) {
    while let Ok(first) = notes.recv() {
        // Changes that arrived in the meantime share the disk write.
        let batch: Vec<Note> = std::iter::once(first).chain(notes.try_iter()).collect();
        let version = batch.last().map_or(0, |note| note.version);
        if let Err(error) = write(database, &batch, version) {
            tracing::error!(%error, "the data file can't be written");
            return;
        }
        written.send_replace(version);
    }
}

fn write(database: &Database, batch: &[Note], version: u64) -> Result<(), Box<redb::Error>> {
    let transaction = database.begin_write().map_err(boxed)?;
    {
        let mut objects = transaction.open_table(OBJECTS).map_err(boxed)?;
        for note in batch {
            let key = (&*note.group_resource, note.key.as_str());
            match &note.object {
                Some(object) => drop(objects.insert(key, (&*object.api_version, &**object.json)).map_err(boxed)?),
                None => drop(objects.remove(key).map_err(boxed)?),
            }
        }
        transaction.open_table(VERSION).map_err(boxed)?.insert((), version).map_err(boxed)?;
    }
    transaction.commit().map_err(boxed)
}

fn read(database: &Database) -> Result<Option<Kept>, Box<redb::Error>> {
    let transaction = database.begin_read().map_err(boxed)?;
    let table = match transaction.open_table(VERSION) {
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        other => other.map_err(boxed)?,
    };
    let Some(version) = table.get(()).map_err(boxed)?.map(|version| version.value()) else { return Ok(None) };
    let mut objects = Vec::new();
    for entry in transaction.open_table(OBJECTS).map_err(boxed)?.iter().map_err(boxed)? {
        let (key, value) = entry.map_err(boxed)?;
        let ((group_resource, _), (api_version, json)) = (key.value(), value.value());
        objects.push((Arc::from(group_resource), api_version.to_owned(), json.to_vec()));
    }
    Ok(Some(Kept { version, objects }))
}

fn read_key(database: &Database) -> Result<Option<Vec<u8>>, Box<redb::Error>> {
    match database.begin_read().map_err(boxed)?.open_table(KEY) {
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        table => Ok(table.map_err(boxed)?.get(()).map_err(boxed)?.map(|key| key.value().to_vec())),
    }
}

fn written_key(database: &Database, key: Vec<u8>) -> Result<Vec<u8>, Box<redb::Error>> {
    let transaction = database.begin_write().map_err(boxed)?;
    transaction.open_table(KEY).map_err(boxed)?.insert((), &*key).map_err(boxed)?;
    transaction.commit().map_err(boxed)?;
    Ok(key)
}

fn boxed(error: impl Into<redb::Error>) -> Box<redb::Error> {
    Box::new(error.into())
}
