//! Temporary folders that are removed on drop, or by the next run if their owner was killed.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Set it to keep the folders of planes (data, logs, kubeconfigs) for a look.
const KEEP: &str = "OPGEN_KEEP_PLANES";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A folder of this process. A lock on a file in it says that its owner lives.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes a new folder below `parent` and removes those whose owners are dead.
    pub(crate) fn new(parent: &Path) -> Self {
        Self::try_new(parent).unwrap_or_else(|error| panic!("no folder can be made in {}: {error}", parent.display()))
    }

    /// The parent's lock keeps a folder that has no owner yet from being taken for one that has none any more.
    fn try_new(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let parent_lock = File::create(parent.join("lock"))?;
        parent_lock.lock()?;
        sweep(parent);
        loop {
            let path = parent.join(format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            let lock = File::create(path.join("lock"))?;
            lock.lock()?;
            return Ok(Self { path, _lock: lock });
        }
    }

    /// Removes what a killed process left, for a suite's end: the next start may be far off.
    pub(crate) fn sweep(parent: &Path) {
        drop(Self::try_new(parent));
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::env::var_os(KEEP).is_none() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn sweep(parent: &Path) {
    if std::env::var_os(KEEP).is_some() {
        return;
    }
    for folder in fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let abandoned = File::open(folder.join("lock")).map_or(folder.is_dir(), |lock| lock.try_lock().is_ok());
        if abandoned {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}
