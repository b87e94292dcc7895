//! The statements about buckets, checked for NATS.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use futures::{FutureExt as _, future::BoxFuture};
use opgen::{
    bucket::{Bucket, BucketDefinition},
    nats::NatsOptions,
};
use opgen_testing::bucket::{BucketDisturbance, BucketSubject, SubjectBucket, conformance};
use opgen_tests::{NatsServer, NatsServerOptions, nats::ForeignClient};
use tokio::{runtime::Handle, sync::Mutex, time::Duration};

use crate::case::{connect, open};

/// The size of the largest message of a server, less the space that a bucket keeps for headers.
const VALUE_LIMIT: usize = 1024 * 1024 - 256;

/// The server of all checks, each of which has a bucket of its own.
struct CheckedServer {
    url: String,
    server: Arc<Mutex<NatsServer>>,
    buckets: AtomicU32,
}

/// One bucket, and its server.
struct OneBucket {
    url: String,
    server: Arc<Mutex<NatsServer>>,
    name: String,
}

pub(crate) async fn all_statements() {
    let server = NatsServer::start(&NatsServerOptions::default()).await;
    let (url, buckets) = (server.url(), AtomicU32::new(0));
    let subject = CheckedServer { url, server: Arc::new(Mutex::new(server)), buckets };
    conformance(subject).deadline(Duration::from_secs(60)).await.assert_complete();
}

impl BucketSubject for CheckedServer {
    fn create(&self) -> BoxFuture<'_, Result<Arc<dyn SubjectBucket>, String>> {
        async {
            let number = self.buckets.fetch_add(1, Ordering::Relaxed);
            let name = format!("statement-{number}");
            let connection = connect(NatsOptions::new([self.url.clone()])).await;
            open(&connection, &BucketDefinition::named(name.clone().into()).history(1)).await;
            let bucket: Arc<dyn SubjectBucket> =
                Arc::new(OneBucket { url: self.url.clone(), server: Arc::clone(&self.server), name });
            Ok(bucket)
        }
        .boxed()
    }
}

impl OneBucket {
    async fn foreign(&self) -> ForeignClient {
        ForeignClient::connect(std::slice::from_ref(&self.url), &self.name).await
    }
}

impl SubjectBucket for OneBucket {
    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Bucket>, String>> {
        async {
            let connection = connect(NatsOptions::new([self.url.clone()])).await;
            let bucket: Arc<dyn Bucket> =
                Arc::new(open(&connection, &BucketDefinition::named(self.name.clone().into()).history(1)).await);
            Ok(bucket)
        }
        .boxed()
    }

    fn disturb(&self, disturbance: BucketDisturbance) -> BoxFuture<'_, Result<bool, String>> {
        async move {
            match disturbance {
                BucketDisturbance::Delete { key, .. } => {
                    self.foreign().await.delete(&key).await;
                }
                BucketDisturbance::Purge { key, .. } => {
                    self.foreign().await.purge(&key).await;
                }
                BucketDisturbance::Put { key, value, .. } => {
                    self.foreign().await.put(&key, &value).await;
                }
                BucketDisturbance::DropTombstones => self.foreign().await.delete_tombstones().await,
                BucketDisturbance::Interrupt | BucketDisturbance::Restart => {
                    restart(Arc::clone(&self.server)).await?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        }
        .boxed()
    }

    fn value_limit(&self) -> Option<usize> {
        Some(VALUE_LIMIT)
    }
}

/// Restarts a server on a thread of its own, since the checks want a future that can change its thread.
async fn restart(server: Arc<Mutex<NatsServer>>) -> Result<(), String> {
    let runtime = Handle::current();
    let restarted = tokio::task::spawn_blocking(move || {
        runtime.block_on(async {
            let mut server = server.lock().await;
            server.start_again();
            server.until_healthy().await;
        });
    });
    restarted.await.map_err(|error| error.to_string())
}
