//! Defines `Folder`, a temporary folder that is removed on drop, or by the next run if its process was killed.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// The environment variable that keeps the folders of planes (data, logs, kubeconfigs) for inspection.
const KEEP: &str = "OPGEN_KEEP_PLANES";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A folder of this process. A locked file in it shows that the process is alive.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Creates a folder below `parent`, and removes the folders of dead processes.
    pub(crate) fn new(parent: &Path) -> Self {
        Self::try_new(parent).unwrap_or_else(|error| panic!("no folder can be made in {}: {error}", parent.display()))
    }

    /// Removes the folders of dead processes, and creates a folder with a locked file in it. The parent is locked meanwhile, so that
    /// another process does not take the new folder, while its file is missing, for that of a dead process.
    fn try_new(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let parent_lock = File::create(parent.join("lock"))?;
        parent_lock.lock()?;
        remove_abandoned(parent);
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

    /// Removes the folders of killed processes at the end of a suite, since the next start may come much later.
    pub(crate) fn remove_abandoned(parent: &Path) {
        // The creation of a folder removes them, and the drop removes the new folder.
        drop(Self::try_new(parent));
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    /// Removes the folder, unless `OPGEN_KEEP_PLANES` is set.
    fn drop(&mut self) {
        if std::env::var_os(KEEP).is_none() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes the folders whose processes have ended, unless `OPGEN_KEEP_PLANES` is set. A process holds a lock on the file `lock` in its
/// folder until it ends.
fn remove_abandoned(parent: &Path) {
    if std::env::var_os(KEEP).is_some() {
        return;
    }
    for folder in fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path()) {
        // A folder without the file belongs to a process that ended before it created the file.
        let abandoned = File::open(folder.join("lock")).map_or(folder.is_dir(), |lock| lock.try_lock().is_ok());
        if abandoned {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}
