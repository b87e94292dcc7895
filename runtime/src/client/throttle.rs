//! Honors `Retry-After`: after a response 429 or 503 with this header, the client sends nothing until that time has passed.

use crate::{counters::Counters, environment::Environment};
use futures::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, StatusCode, header::RETRY_AFTER};
use kube::client::Body;
use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep_until};

/// The maximum wait after one response. The API server asks for seconds.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Waiting requests are sent at random times within this fraction of the wait after its end.
const SPREAD_DIVISOR: u32 = 10;

/// The time until which a client waits; its clones and its watches share it.
#[derive(Clone, Debug)]
pub(super) struct Throttle {
    /// The end of the wait, and its length.
    until: Arc<Mutex<Option<(Instant, Duration)>>>,
    environment: Environment,
    counters: Counters,
}

impl Throttle {
    pub(super) fn new(environment: Environment, counters: Counters) -> Self {
        Self { until: Arc::default(), environment, counters }
    }

    /// Returns a client that sends requests through `client`, but delays them until the time of the last `Retry-After` has passed.
    pub(super) fn wrap_client(self, client: kube::Client) -> kube::Client {
        let namespace = client.default_namespace().to_owned();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (throttle, client) = (self.clone(), client.clone());
            let send: BoxFuture<'static, Result<Response<Body>, kube::Error>> = Box::pin(async move {
                throttle.wait().await;
                let is_eviction = request.method() == Method::POST && request.uri().path().ends_with("/eviction");
                let response = client.send(request).await?;
                // A PodDisruptionBudget refuses an eviction with 429, although the server is not overloaded.
                if !is_eviction {
                    throttle.record_response(response.status(), response.headers());
                }
                Ok(response)
            });
            send
        });
        kube::Client::new(service, namespace)
    }

    /// Waits until the time of `Retry-After` has passed, and then for a random part of a tenth of it. If another response has extended the
    /// time meanwhile, the wait continues.
    async fn wait(&self) {
        loop {
            let Some((until, waited_for)) = *self.until.lock() else { return };
            if until <= Instant::now() {
                return;
            }
            // The random time prevents that all waiting requests are sent at the same moment. The upper half of the random bits, divided by
            // the largest `u32`, is a fraction from 0 to 1.
            let fraction = u32::try_from(self.environment.random() >> 32).unwrap_or(u32::MAX);
            sleep_until(until + (waited_for / SPREAD_DIVISOR).mul_f64(f64::from(fraction) / f64::from(u32::MAX))).await;
        }
    }

    /// Makes all requests of the client wait if a response is 429 or 503 with `Retry-After`. A later end replaces an earlier one.
    fn record_response(&self, status: StatusCode, headers: &HeaderMap) {
        let Some(after) = retry_after(status, headers) else { return };
        self.counters.count_throttled();
        let until = Instant::now() + after;
        let mut current = self.until.lock();
        if current.is_none_or(|(current_until, _)| current_until < until) {
            *current = Some((until, after));
            tracing::warn!(%status, seconds = after.as_secs(), "the API server is overloaded; waiting for the time of Retry-After");
        }
    }
}

/// Returns the wait that a response asks for: the whole seconds of its header `Retry-After`, at most `MAX_WAIT`. `None` for a status other
/// than 429 and 503, without a valid header, and for zero seconds.
fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_WAIT)).filter(|after| !after.is_zero())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        client::{Client, Target},
        kind::kind_of,
    };
    use futures::future::join_all;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde::de::IgnoredAny;

    /// The status code and the header `Retry-After` of a response.
    type Answer = (u16, Option<&'static str>);

    /// Returns a client whose first requests get these responses and all others succeed, and the times of the requests.
    fn server(answers: &[Answer]) -> (kube::Client, Arc<Mutex<Vec<Instant>>>) {
        let (requests, answers) = (Arc::<Mutex<Vec<Instant>>>::default(), answers.to_vec());
        let recorded = requests.clone();
        let service = tower::service_fn(move |_: Request<Body>| {
            let mut recorded = recorded.lock();
            let (code, header) = answers.get(recorded.len()).copied().unwrap_or((200, None));
            recorded.push(Instant::now());
            let mut response = Response::builder().status(code);
            if let Some(header) = header {
                response = response.header(RETRY_AFTER, header);
            }
            std::future::ready(response.body(Body::from(b"{}".to_vec())))
        });
        (kube::Client::new(service, "default"), requests)
    }

    /// Returns a client that honors `Retry-After`, and its counters. The random fraction of each wait is one half.
    fn throttled(client: kube::Client) -> (Client, Counters) {
        let counters = Counters::default();
        (Client::throttled(client, Environment::new(Default::default, || u64::MAX / 2), counters.clone()), counters)
    }

    /// Reads a ConfigMap, and returns whether the call succeeds.
    async fn get(client: &Client) -> bool {
        let kind = kind_of::<ConfigMap>();
        client.get::<IgnoredAny>(Target { kind: &kind, namespace: Some("shop"), name: "web" }).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn all_callers_of_a_client_wait_as_long_as_the_server_asks_for() {
        for code in [429, 503] {
            let (client, requests) = server(&[(code, Some("7"))]);
            let (client, counters) = throttled(client);
            let begin = Instant::now();
            assert!(!get(&client).await, "the call that was refused is the pass's to schedule");
            let calls = join_all((0..20).map(|_| get(&client))).await;
            let watch = Request::get("/api/v1/pods?watch=true").body(Body::empty()).unwrap();
            client.watch_client(true).send(watch).await.unwrap();
            assert!(calls.into_iter().all(|is_ok| is_ok));
            let times: Vec<_> = requests.lock().iter().map(|time| *time - begin).collect();
            assert!(times[1..].iter().all(|time| *time >= Duration::from_secs(7)), "{times:?}");
            assert!(times[1..].iter().all(|time| *time <= Duration::from_millis(7700)), "{times:?}");
            assert_eq!(counters.throttled(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn responses_without_a_time_and_other_status_codes_delay_no_request() {
        let others =
            [(429, None), (503, None), (429, Some("0")), (429, Some("soon")), (500, Some("7")), (409, Some("7"))];
        let (client, requests) = server(&others);
        let (client, counters) = throttled(client);
        let begin = Instant::now();
        for _ in 0..=others.len() {
            get(&client).await;
        }
        assert_eq!((requests.lock().len(), begin.elapsed(), counters.throttled()), (7, Duration::ZERO, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn no_response_delays_requests_for_longer_than_a_minute() {
        let (client, requests) = server(&[(503, Some("86400")), (503, Some("1"))]);
        let (client, _) = throttled(client);
        let begin = Instant::now();
        get(&client).await;
        get(&client).await;
        let waited = requests.lock()[1] - begin;
        assert!((MAX_WAIT..=MAX_WAIT + MAX_WAIT / SPREAD_DIVISOR).contains(&waited), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_eviction_delays_no_request() {
        let (client, _) = server(&[(429, Some("10"))]);
        let (client, counters) = throttled(client);
        let eviction = Request::post("/api/v1/namespaces/shop/pods/web/eviction").body(Body::empty()).unwrap();
        client.kube().send(eviction).await.unwrap();
        let begin = Instant::now();
        assert!(get(&client).await);
        assert_eq!((begin.elapsed(), counters.throttled()), (Duration::ZERO, 0));
    }
}
