// A bucket in a folder. The file `journal` has a line for each write, and each entry has a file that is named after its revision.

use std::{
    collections::{BTreeMap, VecDeque},
    fs::{self, File, OpenOptions},
    io::{self, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use opgen::bucket::{Bucket, BucketEntry, BucketError, BucketEvent, EntryList, Expected};
use tokio::time::{Interval, MissedTickBehavior, interval};

// A client of the bucket. A program with many writes would call the file system in threads of their own.
#[derive(Clone, Debug)]
pub(crate) struct FolderBucket {
    folder: PathBuf,
    name: String,
    index: Arc<Mutex<FolderIndex>>,
}

// What a client has read of the journal.
#[derive(Debug, Default)]
struct FolderIndex {
    // The first line of the journal: another one after `drop_tombstones`.
    header: String,
    // The number of bytes that were read.
    length: usize,
    // The revision of the last write.
    last: u64,
    // The revisions of the entries by their keys.
    entries: BTreeMap<String, u64>,
}

// A line of the journal.
struct JournalLine {
    revision: u64,
    is_removal: bool,
    key: String,
}

impl FolderBucket {
    // The greatest size of a value in bytes.
    pub(crate) const LIMIT: usize = 1024 * 1024;

    // Opens a bucket. If the folder has none, it is created.
    pub(crate) fn open(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let bucket = Self { folder, name, index: Arc::default() };
        let _lock = bucket.lock()?;
        if !bucket.journal().exists() {
            fs::write(bucket.journal(), "journal 1 after 0\n")?;
        }
        Ok(bucket)
    }

    // Rewrites the journal without the lines of removed entries. Each watch lists the entries then.
    pub(crate) fn drop_tombstones(&self) -> io::Result<()> {
        let _lock = self.lock()?;
        let mut index = self.index();
        index.read_on(&self.journal())?;
        let number = index.header.split(' ').nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or_default();
        let mut text = format!("journal {} after {}\n", number + 1, index.last);
        for (key, revision) in &index.entries {
            text.push_str(&format!("{revision} put {key}\n"));
        }
        // A reader sees the old journal or the new one.
        fs::write(self.folder.join("journal.new"), text)?;
        fs::rename(self.folder.join("journal.new"), self.journal())
    }

    fn journal(&self) -> PathBuf {
        self.folder.join("journal")
    }

    fn value_file(&self, revision: u64) -> PathBuf {
        self.folder.join(revision.to_string())
    }

    // Waits until no other client reads or writes. The lock ends with the file, also if the process is stopped.
    fn lock(&self) -> io::Result<File> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(self.folder.join("lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn index(&self) -> MutexGuard<'_, FolderIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_entry(&self, key: &str, revision: u64) -> io::Result<BucketEntry> {
        Ok(BucketEntry::new(key, fs::read(self.value_file(revision))?, revision))
    }

    fn read_entries(&self, index: &FolderIndex) -> io::Result<Vec<BucketEntry>> {
        index.entries.iter().map(|(key, revision)| self.read_entry(key, *revision)).collect()
    }

    fn find(&self, key: &str) -> io::Result<Option<BucketEntry>> {
        let _lock = self.lock()?;
        let mut index = self.index();
        index.read_on(&self.journal())?;
        index.entries.get(key).map(|revision| self.read_entry(key, *revision)).transpose()
    }

    fn find_all(&self) -> io::Result<Vec<BucketEntry>> {
        let _lock = self.lock()?;
        let mut index = self.index();
        index.read_on(&self.journal())?;
        self.read_entries(&index)
    }

    // Writes a value, or with `None` a removal. Returns `None` if the key is in another state.
    fn write(&self, key: &str, value: Option<&[u8]>, expected: Expected) -> io::Result<Option<u64>> {
        let _lock = self.lock()?;
        let mut index = self.index();
        index.read_on(&self.journal())?;
        let before = index.entries.get(key).copied();
        let is_expected = match expected {
            Expected::Absent => before.is_none(),
            Expected::Revision(revision) => before == Some(revision),
            // A condition of a newer release.
            _ => false,
        };
        if !is_expected {
            return Ok(None);
        }
        let revision = index.last + 1;
        if let Some(value) = value {
            fs::write(self.value_file(revision), value)?;
        }
        let kind = if value.is_some() { "put" } else { "remove" };
        let mut journal = OpenOptions::new().write(true).open(self.journal())?;
        // A client that was stopped may have left a part of a line.
        journal.set_len(index.length as u64)?;
        journal.seek(SeekFrom::End(0))?;
        // The write happens with its line.
        journal.write_all(format!("{revision} {kind} {key}\n").as_bytes())?;
        if let Some(before) = before {
            // A value that stays is in no way.
            let _ = fs::remove_file(self.value_file(before));
        }
        Ok(Some(revision))
    }

    fn unavailable(&self, error: &io::Error) -> BucketError {
        BucketError::unavailable(&self.name, error.to_string())
    }
}

impl FolderIndex {
    // Reads the new lines of the journal. Returns `None` if it is another journal: lines may be missing.
    fn read_on(&mut self, journal: &Path) -> io::Result<Option<Vec<JournalLine>>> {
        let text = fs::read_to_string(journal)?;
        let header = text.lines().next().unwrap_or_default();
        let is_same = header == self.header;
        if !is_same {
            let last = header.rsplit(' ').next().and_then(|last| last.parse().ok()).unwrap_or_default();
            *self = Self { header: header.to_owned(), length: header.len() + 1, last, entries: BTreeMap::new() };
        }
        let mut lines = Vec::new();
        for line in text.get(self.length..).unwrap_or_default().split_inclusive('\n') {
            let Some(content) = line.strip_suffix('\n') else { break };
            self.length += line.len();
            let Some(line) = JournalLine::parse(content) else { continue };
            self.last = self.last.max(line.revision);
            if line.is_removal {
                self.entries.remove(&line.key);
            } else {
                self.entries.insert(line.key.clone(), line.revision);
            }
            lines.push(line);
        }
        Ok(is_same.then_some(lines))
    }
}

impl JournalLine {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, ' ');
        let revision = parts.next()?.parse().ok()?;
        let is_removal = parts.next()? == "remove";
        Some(Self { revision, is_removal, key: parts.next()?.to_owned() })
    }
}

fn check_key(key: &str) -> Result<(), BucketError> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-/_=.".contains(c);
    let is_valid = key.len() <= 1024 && key.chars().all(is_allowed) && key.split('.').all(|part| !part.is_empty());
    if is_valid { Ok(()) } else { Err(BucketError::invalid_key(key)) }
}

impl Bucket for FolderBucket {
    fn name(&self) -> &str {
        &self.name
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        let result = check_key(key).and_then(|()| self.find(key).map_err(|error| self.unavailable(&error)));
        ready(result).boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        let found = self.find_all().map_err(|error| self.unavailable(&error));
        ready(found.map(EntryList::from_iter)).boxed()
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        async move {
            check_key(key)?;
            if value.len() > Self::LIMIT {
                return Err(BucketError::too_large(key, value.len(), Self::LIMIT));
            }
            let written = self.write(key, Some(&value), expected).map_err(|error| self.unavailable(&error))?;
            written.ok_or_else(|| BucketError::conflict(key))
        }
        .boxed()
    }

    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        async move {
            check_key(key)?;
            let expected = Expected::Revision(revision);
            let removed = self.write(key, None, expected).map_err(|error| self.unavailable(&error))?;
            removed.ok_or_else(|| BucketError::conflict(key))
        }
        .boxed()
    }

    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        // The watch has an index of its own: what the calls of the client have read is new for it.
        let bucket = Self { index: Arc::default(), ..self.clone() };
        let mut pause = interval(Duration::from_millis(5));
        pause.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let watch = FolderWatch { bucket, queue: VecDeque::new(), pause };
        stream::unfold(watch, |mut watch| async move { Some((watch.next().await, watch)) }).boxed()
    }
}

// A watch, which looks at the journal every five milliseconds.
struct FolderWatch {
    bucket: FolderBucket,
    queue: VecDeque<Result<BucketEvent, BucketError>>,
    pause: Interval,
}

impl FolderWatch {
    async fn next(&mut self) -> Result<BucketEvent, BucketError> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return event;
            }
            self.pause.tick().await;
            match self.read() {
                Ok(events) => self.queue.extend(events.into_iter().map(Ok)),
                Err(error) => {
                    // What was read may not have been delivered.
                    *self.bucket.index() = FolderIndex::default();
                    self.queue.push_back(Err(self.bucket.unavailable(&error)));
                }
            }
        }
    }

    // Returns the entries as a list at the start and if the journal is another one, and the changes otherwise.
    fn read(&self) -> io::Result<Vec<BucketEvent>> {
        let _lock = self.bucket.lock()?;
        let mut index = self.bucket.index();
        let Some(lines) = index.read_on(&self.bucket.journal())? else {
            let mut events = vec![BucketEvent::ListStarted];
            events.extend(self.bucket.read_entries(&index)?.into_iter().map(BucketEvent::Put));
            events.push(BucketEvent::ListEnded);
            return Ok(events);
        };
        let mut events = Vec::new();
        for JournalLine { revision, is_removal, key } in lines {
            match index.entries.get(&key) {
                Some(last) if *last == revision => {
                    events.push(BucketEvent::Put(self.bucket.read_entry(&key, revision)?));
                }
                None if is_removal => events.push(BucketEvent::Removed { key, revision }),
                // A later line has a new value of the key, or removes it.
                _ => {}
            }
        }
        Ok(events)
    }
}
