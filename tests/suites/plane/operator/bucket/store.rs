//! The buckets of a case: in the process on a sandbox, and those of a real nats-server on a real plane.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use opgen::{
    bucket::{Bucket as _, BucketDefinition, BucketEntry, MemoryBucket, MemoryBuckets},
    nats::{NatsBucket, NatsBuckets},
};
use opgen_tests::{
    Form, Plane,
    nats::{ForeignClient, shared_address},
    wait::{PATIENCE, until},
};
use tokio::sync::OnceCell;

use super::link::{BucketLink, NatsLink, connect};

/// A counter, since the kinds of all cases name the same buckets.
static NUMBERS: AtomicU32 = AtomicU32::new(0);

/// The buckets of a case, with the connection of its operator. Other clients have a connection of their own.
#[derive(Clone, Debug)]
pub(super) struct CaseBuckets {
    store: Store,
    link: BucketLink,
}

#[derive(Clone, Debug)]
enum Store {
    Memory(MemoryBuckets),
    Nats(Arc<NatsStore>),
}

/// The shared server, on which the buckets of a case have its number in their names.
#[derive(Debug)]
struct NatsStore {
    server: SocketAddr,
    number: u32,
    buckets: NatsBuckets,
    foreign: ForeignClient,
}

impl Store {
    /// Returns a connection of an operator.
    async fn link(&self) -> BucketLink {
        match self {
            Self::Memory(buckets) => BucketLink::memory(buckets.clone()),
            Self::Nats(store) => BucketLink::Nats(Arc::new(NatsLink::new(store.server, store.number).await)),
        }
    }
}

impl CaseBuckets {
    /// Returns buckets that no other case uses, without entries.
    pub(super) async fn new(plane: &Plane) -> Self {
        let store = match plane.form() {
            Form::Sandbox => Store::Memory(MemoryBuckets::default()),
            Form::ControlPlane | Form::Cluster => {
                let server = shared_address().await;
                let foreign = ForeignClient::connect(&[format!("nats://{server}")], "").await;
                let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
                let buckets = NatsBuckets::new(connect(server).await);
                Store::Nats(Arc::new(NatsStore { server, number, buckets, foreign }))
            }
        };
        let link = store.link().await;
        Self { store, link }
    }

    /// Returns the connection of the operator.
    pub(super) fn link(&self) -> BucketLink {
        self.link.clone()
    }

    /// Returns another connection, for one more replica.
    pub(super) async fn another_link(&self) -> BucketLink {
        self.store.link().await
    }

    /// Returns a bucket as other clients use it. On a real plane the operator creates it, and the calls wait for that.
    pub(super) fn bucket(&self, name: &str) -> CaseBucket {
        match &self.store {
            Store::Memory(buckets) => CaseBucket::Memory(buckets.bucket(name)),
            Store::Nats(store) => {
                let name = format!("{name}-{}", store.number);
                let foreign = store.foreign.of_bucket(&name);
                let opened = OnceCell::new();
                CaseBucket::Nats(Box::new(BucketOfServer { name, buckets: store.buckets.clone(), foreign, opened }))
            }
        }
    }

    /// Makes changes in a bucket that the watches of the operator do not deliver. They list again afterwards.
    pub(super) async fn gap(&self, bucket: &CaseBucket, changes: impl Future<Output = ()>) {
        self.link.cut(true);
        changes.await;
        self.link.cut(false);
        if let CaseBucket::Memory(bucket) = bucket {
            bucket.interrupt();
        }
    }
}

/// A bucket as clients use it that know nothing of the operator. Their writes have no condition.
#[derive(Debug)]
pub(super) enum CaseBucket {
    Memory(MemoryBucket),
    Nats(Box<BucketOfServer>),
}

/// A bucket of the shared server.
#[derive(Debug)]
pub(super) struct BucketOfServer {
    name: String,
    buckets: NatsBuckets,
    foreign: ForeignClient,
    opened: OnceCell<NatsBucket>,
}

impl BucketOfServer {
    /// Waits until the bucket exists.
    async fn opened(&self) -> &NatsBucket {
        let definition = BucketDefinition::named(self.name.clone().into());
        let open = || {
            until(format!("bucket {} exists", self.name), PATIENCE, async || {
                self.buckets.open(&definition).await.map_err(|error| error.to_string())
            })
        };
        self.opened.get_or_init(open).await
    }

    /// Returns another client of the bucket, when it exists.
    async fn foreign(&self) -> &ForeignClient {
        self.opened().await;
        &self.foreign
    }
}

impl CaseBucket {
    pub(super) async fn get(&self, key: &str) -> Option<BucketEntry> {
        match self {
            Self::Memory(bucket) => bucket.get(key).await,
            Self::Nats(bucket) => bucket.opened().await.get(key).await,
        }
        .unwrap()
    }

    pub(super) async fn list(&self) -> Vec<BucketEntry> {
        match self {
            Self::Memory(bucket) => bucket.list().await,
            Self::Nats(bucket) => bucket.opened().await.list().await,
        }
        .unwrap()
        .into_iter()
        .collect()
    }

    /// Writes a value, and returns its revision.
    pub(super) async fn put_raw(&self, key: &str, value: impl AsRef<[u8]>) -> u64 {
        match self {
            Self::Memory(bucket) => bucket.put_raw(key, value.as_ref()),
            Self::Nats(bucket) => bucket.foreign().await.put(key, value.as_ref()).await,
        }
    }

    /// Deletes a key, as `nats kv del` does.
    pub(super) async fn delete_raw(&self, key: &str) {
        match self {
            Self::Memory(bucket) => bucket.delete_raw(key),
            Self::Nats(bucket) => bucket.foreign().await.delete(key).await,
        };
    }

    /// Deletes a key with its history, as `nats kv purge` does.
    pub(super) async fn purge_raw(&self, key: &str) {
        match self {
            Self::Memory(bucket) => bucket.purge_raw(key),
            Self::Nats(bucket) => bucket.foreign().await.purge(key).await,
        };
    }

    /// Removes the markers of deleted keys, as `nats kv compact` does.
    pub(super) async fn compact(&self) {
        match self {
            Self::Memory(bucket) => bucket.compact(),
            Self::Nats(bucket) => bucket.foreign().await.delete_tombstones().await,
        }
    }
}
