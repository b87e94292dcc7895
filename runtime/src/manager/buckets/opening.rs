//! `OpeningBuckets` opens the key-value buckets of a run and keeps the errors. `UnopenedBuckets` retries the buckets that are not open
//! yet.

use crate::{
    bucket::{Bucket, BucketDefinition, BucketError, BucketOpener, DeferredBucket, MemoryBucket, OpenBuckets},
    environment::Environment,
    error::yield_because,
    kind::Kind,
    manager::{checks::HealthCheck, run_error::RunError},
    queue::{Backoff, KeyBackoff},
};
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, BTreeSet},
    future::{pending, ready},
    mem,
    sync::Arc,
    time::Duration,
};

/// The name of the check of `/readyz` that fails until all buckets are open.
const BUCKETS_CHECK: &str = "buckets";

/// The delays between attempts.
const RETRY: Backoff = Backoff::Exponential { base: Duration::from_secs(1), cap: Duration::from_secs(30) };

/// A bucket to open.
#[derive(Clone, Debug)]
pub(super) struct BucketToOpen {
    pub(super) kind: Kind,
    pub(super) definition: BucketDefinition,
    pub(super) provider: Arc<dyn OpenBuckets>,
    /// Whether nothing runs before the bucket is open.
    pub(super) is_required: bool,
}

impl BucketToOpen {
    async fn open(&self) -> Result<Arc<dyn Bucket>, BucketError> {
        self.provider.open(&self.definition).await
    }

    /// Returns a placeholder, whose calls fail until the bucket is open, and this bucket with the opener that opens the placeholder.
    fn defer(self) -> (DeferredBucket, (Self, BucketOpener)) {
        let name = &*self.definition.name;
        let (deferred, opener) = DeferredBucket::new(name, BucketError::unavailable(name, "it is not open yet"));
        (deferred, (self, opener))
    }
}

/// Opens the buckets of a run, and keeps the errors of those that are not open. Clones share the errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpeningBuckets {
    /// The last error of each bucket that is not open; `None` until the first error or the end of the first attempt.
    errors: Arc<Mutex<Option<BTreeMap<Kind, BucketError>>>>,
    /// The names of the buckets that don't exist, if each is opened once.
    missing: Arc<Mutex<BTreeSet<String>>>,
    /// Whether there is one attempt, and its first error is final.
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
        HealthCheck::new(BUCKETS_CHECK, move || {
            ready(match opening.describe_errors() {
                Some(text) if text.is_empty() => Ok(()),
                Some(text) => yield_because("BucketsNotOpen", text),
                None => yield_because("BucketsNotOpen", "not open yet"),
            })
        })
    }

    /// Tries to open the buckets, with growing delays, until the required ones are open. Returns all buckets in the order of `buckets`,
    /// and the list of the unopened ones: their calls fail until [`UnopenedBuckets::open_all`] opens them. Only a bucket whose store
    /// doesn't answer, or that doesn't exist and can't be created, is tried again.
    ///
    /// # Errors
    /// Fails if the store refuses the credentials, and for a bucket that can't exist.
    pub(super) async fn open_all(
        &self,
        buckets: Vec<BucketToOpen>,
        environment: &Environment,
    ) -> Result<(Vec<Arc<dyn Bucket>>, UnopenedBuckets), RunError> {
        let (deferred, buckets): (Vec<_>, Vec<_>) = buckets.into_iter().map(BucketToOpen::defer).unzip();
        let (opening, delays) = (self.clone(), delays(environment));
        let mut unopened = UnopenedBuckets { buckets, opening, delays, delay: Duration::ZERO };
        unopened.attempt().await?;
        while unopened.buckets.iter().any(|(bucket, _)| bucket.is_required) {
            unopened.retry().await?;
        }
        Ok((deferred.into_iter().map(DeferredBucket::into_opened).collect(), unopened))
    }

    /// Returns the texts of the errors; an empty text if all buckets are open, and `None` before the first attempt.
    fn describe_errors(&self) -> Option<String> {
        let errors = self.errors.lock();
        let texts = errors.as_ref()?.iter().map(|(kind, error)| format!("the bucket of {kind}: {error}"));
        Some(texts.collect::<Vec<_>>().join("; "))
    }

    fn set_error(&self, kind: &Kind, error: BucketError) {
        self.errors.lock().get_or_insert_default().insert(kind.clone(), error);
    }

    /// Removes the error of a bucket that is open now, and returns whether it had one.
    fn remove_error(&self, kind: &Kind) -> bool {
        self.errors.lock().as_mut().is_some_and(|errors| errors.remove(kind).is_some())
    }

    /// Makes the check pass if no bucket has an error.
    fn end_attempt(&self) {
        self.errors.lock().get_or_insert_default();
    }
}

/// The buckets of a run that are not open. After its start, only the controllers that need them wait.
pub(crate) struct UnopenedBuckets {
    buckets: Vec<(BucketToOpen, BucketOpener)>,
    opening: OpeningBuckets,
    delays: KeyBackoff<()>,
    /// The delay before the next attempt.
    delay: Duration,
}

impl UnopenedBuckets {
    /// Returns the check of `/readyz` that names the buckets which are not open; `None` if all were open at the start.
    pub(crate) fn check(&self) -> Option<HealthCheck> {
        (!self.buckets.is_empty()).then(|| self.opening.check())
    }

    /// Repeats the attempts until all buckets are open, and then waits forever, so that it can be a branch of a `select!` over the run.
    /// Returns only with an error that no further attempt can resolve.
    pub(crate) async fn open_all(mut self) -> RunError {
        while !self.buckets.is_empty() {
            if let Err(error) = self.retry().await {
                return error;
            }
        }
        pending().await
    }

    /// Makes the next attempt after its delay. The errors are those of [`attempt`](Self::attempt).
    async fn retry(&mut self) -> Result<(), RunError> {
        tokio::time::sleep(self.delay).await;
        self.attempt().await
    }

    /// Tries to open each bucket, keeps those for which another attempt may succeed, and logs their errors.
    ///
    /// # Errors
    /// Fails with the first error that no further attempt can resolve.
    async fn attempt(&mut self) -> Result<(), RunError> {
        let opening = &self.opening;
        for (bucket, opener) in mem::take(&mut self.buckets) {
            match bucket.open().await {
                Ok(open) => {
                    opener.open(open);
                    if opening.remove_error(&bucket.kind) {
                        tracing::info!(kind = %bucket.kind, bucket = &*bucket.definition.name, "the bucket is open");
                    }
                }
                Err(error) if !opening.once && is_temporary(&error) => {
                    opening.set_error(&bucket.kind, error.clone());
                    opener.fail(error);
                    self.buckets.push((bucket, opener));
                }
                // A verb of the command line makes one attempt, and reads a bucket that doesn't exist as an empty one.
                Err(BucketError::NoBucket { .. }) if opening.once => {
                    opening.missing.lock().insert(bucket.definition.name.to_string());
                    opener.open(Arc::new(MemoryBucket::new(&*bucket.definition.name)));
                }
                Err(source) => return Err(RunError::Bucket { kind: bucket.kind, source }),
            }
        }
        opening.end_attempt();
        if !self.buckets.is_empty() {
            self.delay = self.delays.failed(&());
            let failures = opening.describe_errors().unwrap_or_default();
            tracing::warn!(failures, "waiting for buckets; trying again in {:?}", self.delay);
        }
        Ok(())
    }
}

/// Returns the delays between attempts of one run.
fn delays(environment: &Environment) -> KeyBackoff<()> {
    let environment = environment.clone();
    KeyBackoff::new(RETRY, move || environment.random())
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
        bucket::{BucketEvent, EntryList},
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
    use futures::{FutureExt, StreamExt as _, future::BoxFuture};
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
            attempts.iter().zip(attempts.iter().skip(1)).map(|(previous, next)| (*next - *previous).as_secs()).collect()
        }
    }

    impl OpenBuckets for Failing {
        /// Records the time of the attempt. Fails with the last of the remaining errors, or opens an empty bucket if there is none.
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

    async fn open(provider: &Arc<Failing>, opening: &OpeningBuckets) -> Result<Vec<Arc<dyn Bucket>>, RunError> {
        let bucket = BucketToOpen { is_required: true, ..bucket_to_open(provider) };
        opening.open_all(vec![bucket], &environment()).await.map(|(buckets, _)| buckets)
    }

    /// Returns a bucket without which the run starts.
    fn bucket_to_open(provider: &Arc<Failing>) -> BucketToOpen {
        let (kind, definition) = (kind_of::<ConfigMap>(), BucketDefinition::new("pumps"));
        BucketToOpen { kind, definition, provider: provider.clone(), is_required: false }
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

    #[tokio::test(start_paused = true)]
    async fn nats_u31_a_bucket_that_is_not_required_is_opened_after_the_start() {
        let missing = BucketError::not_created("pumps", "not allowed");
        let provider = Failing::with((0..3).map(|_| missing.clone()));
        let bucket = bucket_to_open(&provider);
        let (buckets, unopened) = OpeningBuckets::default().open_all(vec![bucket], &environment()).await.unwrap();
        assert_eq!(buckets[0].list().await, Err(missing));
        let (check, counters) = (unopened.check().unwrap(), Counters::default());
        let text =
            "buckets: the bucket of ConfigMap: bucket \"pumps\" does not exist, and can't be created: not allowed\n";
        assert_eq!(check.run(&counters).await.lines, text);
        let opening = tokio::spawn(unopened.open_all());
        let mut events = buckets[0].watch().skip_while(|event| ready(event.is_err()));
        assert_eq!(events.next().await, Some(Ok(BucketEvent::ListStarted)));
        assert_eq!(buckets[0].list().await, Ok(EntryList::default()));
        assert!(check.run(&counters).await.is_ok);
        assert_eq!(provider.delays(), [1, 2, 4]);
        opening.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn nats_u31_credentials_that_are_refused_after_the_start_end_the_run() {
        let silent = BucketError::unavailable("pumps", "no answer");
        let provider = Failing::with([BucketError::forbidden("pumps", "connect", "wrong password"), silent]);
        let bucket = bucket_to_open(&provider);
        let (_, unopened) = OpeningBuckets::default().open_all(vec![bucket], &environment()).await.unwrap();
        let error = unopened.open_all().await;
        assert!(matches!(error, RunError::Bucket { source: BucketError::Forbidden { .. }, .. }), "{error:?}");
    }

    #[tokio::test]
    async fn a_verb_finds_no_objects_where_there_is_no_bucket() {
        let provider = Failing::with([BucketError::no_bucket("pumps")]);
        let opening = OpeningBuckets::once();
        let buckets = open(&provider, &opening).await.unwrap();
        assert_eq!(buckets[0].list().await, Ok(EntryList::default()));
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
