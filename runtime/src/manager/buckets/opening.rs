//! `OpeningBuckets` opens buckets, again and again while their store doesn't answer.

use crate::{
    bucket::{Bucket, BucketDefinition, BucketError, MemoryBucket, OpenBuckets},
    environment::Environment,
    error::yield_because,
    kind::Kind,
    manager::{checks::HealthCheck, run_error::RunError},
    queue::{Backoff, KeyBackoff},
};
use parking_lot::Mutex;
use std::{collections::BTreeSet, future::ready, sync::Arc, time::Duration};

/// The name of the check of `/readyz` that fails until all buckets are open.
const BUCKETS_CHECK: &str = "buckets";

/// The delays between attempts.
const RETRY: Backoff = Backoff::Exponential { base: Duration::from_secs(1), cap: Duration::from_secs(30) };

/// A bucket to open.
pub(super) struct BucketToOpen<'a> {
    pub(super) kind: &'a Kind,
    pub(super) definition: &'a BucketDefinition,
    pub(super) provider: &'a dyn OpenBuckets,
}

/// The buckets of a run that are not open yet, in words. Clones share the words.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpeningBuckets {
    text: Arc<Mutex<String>>,
    /// The names of the buckets that don't exist, if each is opened once.
    missing: Arc<Mutex<BTreeSet<String>>>,
    /// Whether the first failure is the last.
    once: bool,
}

impl OpeningBuckets {
    /// Opens each bucket once, and waits for none. One that doesn't exist is empty.
    pub(super) fn once() -> Self {
        Self { once: true, ..Self::default() }
    }

    /// Returns the names of the buckets that don't exist, and are empty instead.
    pub(super) fn missing(&self) -> BTreeSet<String> {
        self.missing.lock().clone()
    }

    /// Returns the check of `/readyz` that names the buckets which are not open.
    pub(crate) fn check(&self) -> HealthCheck {
        let opening = self.clone();
        HealthCheck::new(BUCKETS_CHECK, move || ready(yield_because("BucketsNotOpen", opening.text())))
    }

    fn text(&self) -> String {
        match self.text.lock().as_str() {
            "" => "not open yet".to_owned(),
            text => text.to_owned(),
        }
    }

    /// Opens buckets, and returns them in the same order. Buckets whose store doesn't answer, and buckets that don't exist and can't be
    /// created, are tried again for as long as it takes.
    ///
    /// # Errors
    /// Fails if the store refuses the credentials, and for a bucket that can't exist.
    pub(super) async fn open_all(
        &self,
        buckets: &[BucketToOpen<'_>],
        environment: &Environment,
    ) -> Result<Vec<Arc<dyn Bucket>>, RunError> {
        let environment = environment.clone();
        let delays = KeyBackoff::new(RETRY, move || environment.random());
        let mut opened: Vec<Option<Arc<dyn Bucket>>> = buckets.iter().map(|_| None).collect();
        loop {
            let mut failures = Vec::new();
            for (place, bucket) in opened.iter_mut().zip(buckets).filter(|(place, _)| place.is_none()) {
                match bucket.provider.open(bucket.definition).await {
                    Ok(open) => *place = Some(open),
                    Err(error) if !self.once && is_temporary(&error) => {
                        failures.push(self.report(bucket, &error, &failures))
                    }
                    // Where there is no bucket, there are no objects.
                    Err(BucketError::NoBucket { .. }) if self.once => {
                        self.missing.lock().insert(bucket.definition.name.to_string());
                        *place = Some(Arc::new(MemoryBucket::new(&*bucket.definition.name)));
                    }
                    Err(source) => return Err(RunError::Bucket { kind: bucket.kind.clone(), source }),
                }
            }
            if failures.is_empty() {
                return Ok(opened.into_iter().flatten().collect());
            }
            let delay = delays.failed(&());
            tracing::warn!(failures = failures.join("; "), "waiting for buckets; trying again in {delay:?}");
            tokio::time::sleep(delay).await;
        }
    }

    /// Sets the words to the failures of this attempt so far and a new one, and returns the new one.
    fn report(&self, bucket: &BucketToOpen<'_>, error: &BucketError, earlier: &[String]) -> String {
        let failure = format!("the bucket of {}: {error}", bucket.kind);
        let failures = earlier.iter().map(String::as_str).chain([failure.as_str()]).collect::<Vec<_>>();
        *self.text.lock() = failures.join("; ");
        failure
    }
}

/// Returns whether another attempt may succeed, as for a kind whose definition is not installed yet.
fn is_temporary(error: &BucketError) -> bool {
    matches!(error, BucketError::Unavailable { .. } | BucketError::NoBucket { .. })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        client::Client,
        counters::Counters,
        kind::kind_of,
        manager::{
            buckets::tests::{Pump, PumpTree},
            operator::Operator,
            probes::{self, ProbeTargets},
            run_options::RunOptions,
        },
    };
    use futures::{FutureExt, future::BoxFuture};
    use k8s_openapi::api::core::v1::ConfigMap;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
        sync::Notify,
        time::Instant,
    };

    /// Fails with these errors, the last one first; then it opens buckets.
    #[derive(Debug, Default)]
    struct Failing {
        errors: Mutex<Vec<BucketError>>,
        attempts: Mutex<Vec<Instant>>,
        /// Is notified at the attempt whose number is [`MANY_ATTEMPTS`].
        many_attempts: Notify,
    }

    const MANY_ATTEMPTS: usize = 21;

    impl Failing {
        fn with(errors: impl IntoIterator<Item = BucketError>) -> Arc<Self> {
            Arc::new(Self { errors: Mutex::new(errors.into_iter().collect()), ..Self::default() })
        }

        /// Returns the seconds between the attempts, without those of jitter.
        fn delays(&self) -> Vec<u64> {
            let attempts = self.attempts.lock();
            attempts.iter().zip(attempts.iter().skip(1)).map(|(one, next)| (*next - *one).as_secs()).collect()
        }
    }

    impl OpenBuckets for Failing {
        fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
            let mut attempts = self.attempts.lock();
            attempts.push(Instant::now());
            if attempts.len() == MANY_ATTEMPTS {
                self.many_attempts.notify_one();
            }
            drop(attempts);
            let error = self.errors.lock().pop();
            let name = definition.name.to_string();
            async move {
                match error {
                    Some(error) => Err(error),
                    None => Ok(Arc::new(MemoryBucket::new(name)) as Arc<dyn Bucket>),
                }
            }
            .boxed()
        }
    }

    fn environment() -> Environment {
        Environment::new(jiff::Timestamp::now, || 0)
    }

    async fn open(provider: &Failing, opening: &OpeningBuckets) -> Result<Vec<Arc<dyn Bucket>>, RunError> {
        let (kind, definition) = (kind_of::<ConfigMap>(), BucketDefinition::new("pumps"));
        let bucket = BucketToOpen { kind: &kind, definition: &definition, provider };
        opening.open_all(&[bucket], &environment()).await
    }

    #[tokio::test(start_paused = true)]
    async fn nats_u31_a_store_that_does_not_answer_is_asked_again_with_growing_delays() {
        let silent = || BucketError::unavailable("pumps", "no answer");
        let provider = Failing::with((0..7).map(|_| silent()));
        let buckets = open(&provider, &OpeningBuckets::default()).await.unwrap();
        assert_eq!(buckets.iter().map(|bucket| bucket.name()).collect::<Vec<_>>(), ["pumps"]);
        assert_eq!(provider.delays(), [1, 2, 4, 8, 16, 30, 30]);
    }

    #[tokio::test(start_paused = true)]
    async fn nats_u31_readiness_names_the_bucket_that_is_waited_for() {
        let opening = OpeningBuckets::default();
        let counters = Counters::default();
        assert_eq!(opening.check().run(&counters).await.lines, "buckets: not open yet\n");
        let provider = Failing::with([BucketError::not_created("pumps", "not allowed")]);
        let waiting = tokio::time::timeout(Duration::from_millis(500), open(&provider, &opening)).await;
        assert!(waiting.is_err());
        let result = opening.check().run(&counters).await;
        assert_eq!(
            result.lines,
            "buckets: the bucket of ConfigMap: bucket \"pumps\" does not exist, and can't be created: not allowed\n"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn nats_u31_refused_credentials_end_the_run() {
        let provider = Failing::with([BucketError::forbidden("pumps", "connect", "wrong password")]);
        let refused = open(&provider, &OpeningBuckets::default()).await;
        assert!(matches!(refused, Err(RunError::Bucket { .. })), "{refused:?}");
        assert_eq!(provider.attempts.lock().len(), 1);
    }

    #[tokio::test]
    async fn a_verb_finds_no_objects_where_there_is_no_bucket() {
        let provider = Failing::with([BucketError::no_bucket("pumps")]);
        let opening = OpeningBuckets::once();
        let buckets = open(&provider, &opening).await.unwrap();
        assert_eq!(buckets[0].list().await, Ok(Vec::new()));
        assert_eq!(opening.missing(), BTreeSet::from(["pumps".to_owned()]));
        let provider = Failing::with([BucketError::unavailable("pumps", "no answer")]);
        assert!(open(&provider, &OpeningBuckets::once()).await.is_err());
    }

    #[tokio::test]
    async fn a_verb_names_the_bucket_that_does_not_exist() {
        let provider = Failing::with([BucketError::no_bucket("pumps")]);
        let operator = Operator::new("pumps").buckets(provider).controls::<Pump, PumpTree>();
        let client = Client::disconnected().kube();
        let absent = operator.why(client, "pump", "web", Some("default")).await.unwrap_err();
        assert_eq!(absent.to_string(), "Pump default/web not found: bucket \"pumps\" does not exist");
        assert!(absent.hint().unwrap().contains("nats/buckets.yaml"), "{absent}");
    }

    #[tokio::test(start_paused = true)]
    async fn nats_u30_a_stop_ends_the_wait_for_a_bucket() {
        let provider = Failing::with((0..1_000).map(|_| BucketError::unavailable("alone-leases", "no answer")));
        let operator = Operator::new("alone").buckets(provider.clone()).without_kubernetes();
        let stopping = provider.clone();
        let stop = async move { stopping.many_attempts.notified().await };
        operator.run_with(Client::disconnected().kube(), RunOptions::default(), stop).await.unwrap();
        assert!(provider.attempts.lock().len() >= MANY_ATTEMPTS);
    }

    #[tokio::test]
    async fn a_run_that_waits_for_buckets_is_alive_and_not_ready() {
        let listener = probes::bind(Some(([127, 0, 0, 1], 0).into())).await.unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        let targets = ProbeTargets::before_start(OpeningBuckets::default().check(), Counters::default());
        let server = tokio::spawn(probes::serve_before_start(listener, targets));
        for (path, status) in [("/livez", 200), ("/readyz", 503)] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: operator\r\n\r\n").as_bytes()).await.unwrap();
            let mut response = String::new();
            // It ends since the server closes the connection.
            stream.read_to_string(&mut response).await.unwrap();
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {response}");
        }
        server.abort();
    }
}
