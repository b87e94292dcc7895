//! `BucketLink`: a connection of an operator to buckets that a case can cut.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, ready},
    stream::BoxStream,
};
use opgen::{
    bucket::{
        Bucket, BucketDefinition, BucketEntry, BucketError, BucketEvent, EntryList, Expected, MemoryBucket,
        MemoryBuckets, OpenBuckets,
    },
    nats::{NatsBuckets, NatsConnection, NatsOptions},
};
use opgen_tests::{Cut, Proxy};

/// The time for which a call waits for its answer. It is shorter than the leases of the cases.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Connects to a server.
pub(super) async fn connect(server: SocketAddr) -> NatsConnection {
    let options = NatsOptions::new([format!("nats://{server}")]).request_timeout(TIMEOUT);
    NatsConnection::connect(options).await.unwrap()
}

/// The connection of an operator. Clones share it.
#[derive(Clone, Debug)]
pub(super) enum BucketLink {
    Memory { buckets: MemoryBuckets, cut: Arc<AtomicBool> },
    Nats(Arc<NatsLink>),
}

impl BucketLink {
    pub(super) fn memory(buckets: MemoryBuckets) -> Self {
        Self::Memory { buckets, cut: Arc::default() }
    }

    /// Cuts or mends the connection.
    pub(super) fn cut(&self, is_cut: bool) {
        match self {
            Self::Memory { cut, .. } => cut.store(is_cut, Ordering::Relaxed),
            Self::Nats(link) => link.proxy.cut(if is_cut { Cut::Both } else { Cut::Nothing }),
        }
    }
}

impl OpenBuckets for BucketLink {
    fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
        match self {
            Self::Memory { buckets, cut } => {
                let bucket = CutBucket { inner: buckets.bucket(&definition.name), cut: cut.clone() };
                ready(Ok(Arc::new(bucket) as Arc<dyn Bucket>)).boxed()
            }
            Self::Nats(link) => link.open(definition).boxed(),
        }
    }
}

/// A connection through a proxy to the shared server.
#[derive(Debug)]
pub(super) struct NatsLink {
    /// The number of the case, in the names of its buckets.
    number: u32,
    buckets: NatsBuckets,
    proxy: Proxy,
}

impl NatsLink {
    pub(super) async fn new(server: SocketAddr, number: u32) -> Self {
        let proxy = Proxy::start(server).await.unwrap();
        let buckets = NatsBuckets::new(connect(proxy.address()).await).create_missing(true);
        Self { number, buckets, proxy }
    }

    /// Opens the bucket of the case.
    async fn open(&self, definition: &BucketDefinition) -> Result<Arc<dyn Bucket>, BucketError> {
        let mut of_case = definition.clone();
        of_case.name = format!("{}-{}", definition.name, self.number).into();
        OpenBuckets::open(&self.buckets, &of_case).await
    }
}

/// A bucket in the process whose calls fail while the connection is cut. Its watches deliver nothing meanwhile.
#[derive(Clone, Debug)]
struct CutBucket {
    inner: MemoryBucket,
    cut: Arc<AtomicBool>,
}

impl CutBucket {
    /// Makes a call, unless the connection is cut.
    fn checked<'a, T: Send + 'a>(
        &'a self,
        call: impl FnOnce(&'a MemoryBucket) -> BoxFuture<'a, Result<T, BucketError>>,
    ) -> BoxFuture<'a, Result<T, BucketError>> {
        match self.cut.load(Ordering::Relaxed) {
            true => ready(Err(BucketError::unavailable(self.inner.name(), "the connection is cut"))).boxed(),
            false => call(&self.inner),
        }
    }
}

impl Bucket for CutBucket {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        self.checked(|inner| inner.get(key))
    }

    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        self.checked(|inner| inner.list())
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        self.checked(|inner| inner.put(key, value, expected))
    }

    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        self.checked(|inner| inner.remove(key, revision))
    }

    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        let cut = self.cut.clone();
        let is_through = move |_: &Result<BucketEvent, BucketError>| ready(!cut.load(Ordering::Relaxed));
        self.inner.watch().filter(is_through).boxed()
    }
}
