//! Limits the rate of requests to the API server with a token bucket, as the client of Kubernetes does.

use http::Request;
use kube::client::Body;
use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep_until};

/// The maximum rate of requests to the API server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateLimit {
    /// The average number of requests a second.
    pub(crate) qps: f64,
    /// The number of requests that are sent without a wait after a pause.
    pub(crate) burst: u32,
}

impl RateLimit {
    /// Returns a limit; `None` for a rate that is not positive and finite. The burst is at least one.
    pub(crate) fn new(qps: f64, burst: u32) -> Option<Self> {
        (qps.is_finite() && qps > 0.0).then(|| Self { qps, burst: burst.max(1) })
    }

    /// Returns a client that delays requests so that their rate stays within the limit. Clones of the client share the limit, and a watch
    /// counts as one request.
    pub(crate) fn wrap_client(self, client: kube::Client) -> kube::Client {
        let namespace = client.default_namespace().to_owned();
        let bucket = Arc::new(TokenBucket { limit: self, full_at: Mutex::new(Instant::now()) });
        let service = tower::service_fn(move |request: Request<Body>| {
            let (bucket, client) = (bucket.clone(), client.clone());
            async move {
                sleep_until(bucket.reserve()).await;
                client.send(request).await
            }
        });
        kube::Client::new(service, namespace)
    }
}

/// A bucket that holds up to `burst` tokens and gets `qps` of them a second; each request takes one.
struct TokenBucket {
    limit: RateLimit,
    /// The time at which the bucket is full again, which says how many tokens are missing.
    full_at: Mutex<Instant>,
}

impl TokenBucket {
    /// Takes a token, in advance if the bucket is empty, and returns the time from which the request may be sent.
    fn reserve(&self) -> Instant {
        let now = Instant::now();
        // At most a day for each request, so that the times of a very low rate don't overflow.
        let interval = Duration::from_secs_f64((1.0 / self.limit.qps).min(86_400.0));
        let mut full_at = self.full_at.lock();
        *full_at = (*full_at).max(now) + interval;
        // At a time `t`, `(full_at - t) / interval` tokens are missing, with the one taken here. The request may be sent once at most
        // `burst` tokens are missing: from `full_at - capacity` on.
        let capacity = interval.saturating_mul(self.limit.burst);
        full_at.checked_sub(capacity).map_or(now, |send_at| send_at.max(now))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures::future::join_all;
    use http::Response;
    use std::convert::Infallible;

    /// Returns the seconds at which `count` concurrent requests arrive at the server.
    async fn arrivals(client: &kube::Client, count: usize) -> Vec<u64> {
        let begin = Instant::now();
        let send = || async {
            client.send(Request::get("/api").body(Body::empty()).unwrap()).await.unwrap();
            begin.elapsed().as_secs()
        };
        join_all((0..count).map(|_| send())).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_sent_at_once_and_the_rest_at_the_rate() {
        let answer = |_| std::future::ready(Ok::<_, Infallible>(Response::new(Body::empty())));
        let client = kube::Client::new(tower::service_fn(answer), "default");
        assert_eq!(arrivals(&client, 5).await, [0; 5]);
        let client = RateLimit::new(0.5, 3).unwrap().wrap_client(client);
        assert_eq!(arrivals(&client.clone(), 6).await, [0, 0, 0, 2, 4, 6]);
        // Two seconds refill one token, and a long pause refills the burst, not more.
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(arrivals(&client, 2).await, [0, 2]);
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(arrivals(&client, 4).await, [0, 0, 0, 2]);
    }

    #[test]
    fn a_rate_that_is_not_positive_and_finite_is_no_limit() {
        for qps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(RateLimit::new(qps, 5), None);
        }
        assert_eq!(RateLimit::new(1.0, 0).unwrap().burst, 1);
    }
}
