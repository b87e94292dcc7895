//! Persists the changes of the store in a data file (redb), in batches on a thread of its own. A request is answered only when
//! its write is in the file.

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
struct JournalEntry {
    version: u64,
    group_resource: Arc<str>,
    key: String,
    /// `None` for a removal.
    object: Option<Arc<Stored>>,
}

/// Writes batches of changes to a file on its own thread.
#[derive(Debug)]
pub(super) struct Journal {
    /// The queue of changes; `None` while the journal is dropped.
    sender: Option<Mutex<Sender<JournalEntry>>>,
    /// The version up to which the file is complete.
    complete_version: watch::Receiver<u64>,
    thread: Option<JoinHandle<()>>,
}

/// The contents of a data file.
pub(super) struct FileContents {
    pub(super) version: u64,
    pub(super) objects: Vec<PersistedObject>,
}

/// An object in a data file.
pub(super) struct PersistedObject {
    pub(super) group_resource: Arc<str>,
    pub(super) api_version: String,
    pub(super) json: Vec<u8>,
}

/// An opened data file.
pub(super) struct OpenedJournal {
    pub(super) journal: Journal,
    /// The contents of the file; `None` for a new file.
    pub(super) contents: Option<FileContents>,
    /// The key that signs tokens.
    pub(super) key: Vec<u8>,
}

impl Journal {
    /// Opens or creates a data file. A new file gets the signing key that `key` creates. Returns an error if the path is not
    /// a regular file or the file cannot be read.
    pub(super) fn open(path: &Path, key: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<OpenedJournal> {
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Self::start(Database::create(path).map_err(io::Error::other)?, key)
    }

    /// Reads the contents and the signing key of an open database, and starts the thread that writes changes to it. A
    /// database without a key gets the key that `key` creates.
    pub(super) fn start(database: Database, key: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<OpenedJournal> {
        let contents = read_contents(&database).map_err(|error| io::Error::other(*error))?;
        let key = match read_key(&database).map_err(|error| io::Error::other(*error))? {
            Some(key) => key,
            None => write_key(&database, key()?).map_err(|error| io::Error::other(*error))?,
        };
        let (sender, receiver) = channel();
        let (version_sender, complete_version) =
            watch::channel(contents.as_ref().map_or(0, |contents| contents.version));
        let work = move || write_batches(&database, &receiver, &version_sender);
        let thread = thread::Builder::new().name("sandbox-file".to_owned()).spawn(work)?;
        let journal = Self { sender: Some(Mutex::new(sender)), complete_version, thread: Some(thread) };
        Ok(OpenedJournal { journal, contents, key })
    }

    /// Queues a change for the writer thread. Changes must come in the order of their versions.
    pub(super) fn append(&self, version: u64, group_resource: &Arc<str>, key: String, object: Option<Arc<Stored>>) {
        let entry = JournalEntry { version, group_resource: group_resource.clone(), key, object };
        let Some(sender) = &self.sender else { return };
        let sent = sender.lock().unwrap_or_else(PoisonError::into_inner).send(entry);
        // The send fails if the writer thread has ended; then `complete_version` reports an error to those who wait.
        drop(sent);
    }

    /// Returns the version up to which the file is complete. An error means that the file will never be complete.
    pub(super) fn complete_version(&self) -> watch::Receiver<u64> {
        self.complete_version.clone()
    }
}

impl Drop for Journal {
    /// Waits until all queued changes are in the file and the file is closed.
    fn drop(&mut self) {
        // The thread ends after it has written the rest of the closed queue.
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer of the data file did not end well");
        }
    }
}

/// Writes the queued changes until the journal is dropped or a write fails, and reports the version up to which the
/// file is complete.
fn write_batches(database: &Database, entries: &Receiver<JournalEntry>, complete_version: &watch::Sender<u64>) {
    while let Ok(first) = entries.recv() {
        // Changes that arrived in the meantime share the disk write.
        let batch: Vec<JournalEntry> = std::iter::once(first).chain(entries.try_iter()).collect();
        let version = batch.last().map_or(0, |entry| entry.version);
        if let Err(error) = write_batch(database, &batch, version) {
            tracing::error!(%error, "the data file can't be written");
            return;
        }
        complete_version.send_replace(version);
    }
}

/// Writes a batch of changes and `version`, the version of the last change, in one transaction.
fn write_batch(database: &Database, batch: &[JournalEntry], version: u64) -> Result<(), Box<redb::Error>> {
    let transaction = database.begin_write().map_err(boxed)?;
    {
        let mut objects = transaction.open_table(OBJECTS).map_err(boxed)?;
        for entry in batch {
            let key = (&*entry.group_resource, entry.key.as_str());
            match &entry.object {
                Some(object) => drop(objects.insert(key, (&*object.api_version, &**object.json)).map_err(boxed)?),
                None => drop(objects.remove(key).map_err(boxed)?),
            }
        }
        transaction.open_table(VERSION).map_err(boxed)?.insert((), version).map_err(boxed)?;
    }
    transaction.commit().map_err(boxed)
}

/// Reads all objects and the version of the last write from the file; `None` if the file is new.
fn read_contents(database: &Database) -> Result<Option<FileContents>, Box<redb::Error>> {
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
        objects.push(PersistedObject {
            group_resource: Arc::from(group_resource),
            api_version: api_version.to_owned(),
            json: json.to_vec(),
        });
    }
    Ok(Some(FileContents { version, objects }))
}

/// Reads the key that signs tokens; `None` if the file has none.
fn read_key(database: &Database) -> Result<Option<Vec<u8>>, Box<redb::Error>> {
    match database.begin_read().map_err(boxed)?.open_table(KEY) {
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        table => Ok(table.map_err(boxed)?.get(()).map_err(boxed)?.map(|key| key.value().to_vec())),
    }
}

/// Writes the key that signs tokens, and returns it.
fn write_key(database: &Database, key: Vec<u8>) -> Result<Vec<u8>, Box<redb::Error>> {
    let transaction = database.begin_write().map_err(boxed)?;
    transaction.open_table(KEY).map_err(boxed)?.insert((), &*key).map_err(boxed)?;
    transaction.commit().map_err(boxed)?;
    Ok(key)
}

fn boxed(error: impl Into<redb::Error>) -> Box<redb::Error> {
    Box::new(error.into())
}
