//! Subjects of the suite: the bucket in memory, and the bucket in a folder.

use std::{fs, io, path::PathBuf, sync::Arc};

use futures::{FutureExt as _, future::BoxFuture};
use opgen::bucket::{Bucket, BucketError, Expected, MemoryBucket};
use opgen_testing::bucket::{BucketDisturbance, BucketSubject, SubjectBucket};
use tempfile::TempDir;
use tokio::task::yield_now;

use crate::folder::FolderBucket;

/// The greatest size of a value of a bucket in memory.
pub(crate) const LIMIT: usize = 600 * 1024;

/// Makes buckets in memory.
pub(crate) struct MemorySubject;

pub(crate) struct MemoryStore(pub(crate) MemoryBucket);

impl BucketSubject for MemorySubject {
    fn create(&self) -> BoxFuture<'_, Result<Arc<dyn SubjectBucket>, String>> {
        let store: Arc<dyn SubjectBucket> = Arc::new(MemoryStore(MemoryBucket::with_limit("test", LIMIT)));
        async move { Ok(store) }.boxed()
    }
}

impl SubjectBucket for MemoryStore {
    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Bucket>, String>> {
        let client: Arc<dyn Bucket> = Arc::new(self.0.clone());
        async move { Ok(client) }.boxed()
    }

    fn disturb(&self, disturbance: BucketDisturbance) -> BoxFuture<'_, Result<bool, String>> {
        async move { Ok(disturb(&self.0, &disturbance)) }.boxed()
    }

    fn value_limit(&self) -> Option<usize> {
        Some(LIMIT)
    }
}

/// Disturbs a bucket in memory. Returns `false` if it has no such disturbance.
pub(crate) fn disturb(bucket: &MemoryBucket, disturbance: &BucketDisturbance) -> bool {
    match disturbance {
        BucketDisturbance::Delete { key, .. } => {
            bucket.delete_raw(key);
        }
        BucketDisturbance::Purge { key, .. } => {
            bucket.purge_raw(key);
        }
        BucketDisturbance::Put { key, value, .. } => {
            bucket.put_raw(key, value.clone());
        }
        BucketDisturbance::Interrupt => bucket.interrupt(),
        BucketDisturbance::DropTombstones => bucket.compact(),
        // A bucket in memory ends with its process.
        _ => return false,
    }
    true
}

/// Makes buckets in folders.
pub(crate) struct FolderSubject;

pub(crate) struct FolderStore {
    folder: PathBuf,
    /// Where the folder is during an interruption.
    away: PathBuf,
    _root: TempDir,
}

impl BucketSubject for FolderSubject {
    fn create(&self) -> BoxFuture<'_, Result<Arc<dyn SubjectBucket>, String>> {
        let store = FolderStore::new().map_err(|error| error.to_string());
        async move { Ok(Arc::new(store?) as Arc<dyn SubjectBucket>) }.boxed()
    }
}

impl FolderStore {
    fn new() -> io::Result<Self> {
        let root = tempfile::tempdir()?;
        Ok(Self { folder: root.path().join("bucket"), away: root.path().join("away"), _root: root })
    }

    /// Moves the folder away until the calls of a client fail.
    async fn interrupt(&self, client: &FolderBucket) -> io::Result<()> {
        fs::rename(&self.folder, &self.away)?;
        while client.list().await.is_ok() {
            yield_now().await;
        }
        fs::rename(&self.away, &self.folder)
    }

    async fn disturb(&self, disturbance: BucketDisturbance) -> io::Result<bool> {
        let bucket = FolderBucket::open(&self.folder)?;
        match disturbance {
            BucketDisturbance::Delete { key, .. } | BucketDisturbance::Purge { key, .. } => {
                overwrite(&bucket, &key, None).await.map_err(io::Error::other)?;
            }
            BucketDisturbance::Put { key, value, .. } => {
                overwrite(&bucket, &key, Some(value)).await.map_err(io::Error::other)?;
            }
            // Nothing runs that could be restarted.
            BucketDisturbance::Interrupt | BucketDisturbance::Restart => self.interrupt(&bucket).await?,
            BucketDisturbance::DropTombstones => bucket.drop_tombstones()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Writes or removes a key, whatever its revision is.
async fn overwrite(bucket: &FolderBucket, key: &str, value: Option<Vec<u8>>) -> Result<(), BucketError> {
    let revision = bucket.get(key).await?.map(|entry| entry.revision);
    match (value, revision) {
        (Some(value), None) => bucket.put(key, value, Expected::Absent).await.map(drop),
        (Some(value), Some(revision)) => bucket.put(key, value, Expected::Revision(revision)).await.map(drop),
        (None, Some(revision)) => bucket.remove(key, revision).await.map(drop),
        (None, None) => Ok(()),
    }
}

impl SubjectBucket for FolderStore {
    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Bucket>, String>> {
        let client = FolderBucket::open(&self.folder).map_err(|error| error.to_string());
        async move { Ok(Arc::new(client?) as Arc<dyn Bucket>) }.boxed()
    }

    fn disturb(&self, disturbance: BucketDisturbance) -> BoxFuture<'_, Result<bool, String>> {
        async move { self.disturb(disturbance).await.map_err(|error| error.to_string()) }.boxed()
    }

    fn value_limit(&self) -> Option<usize> {
        Some(FolderBucket::LIMIT)
    }
}
