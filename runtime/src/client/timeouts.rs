//! Limits the time of API server calls: to connect, to respond, to send the body, and between the events of a watch.

use super::{
    Client,
    inspected_body::{has_parameter, is_watch},
};
use crate::counters::Counters;
use http::Request;
use http_body::{Body as HttpBody, Frame, SizeHint};
use kube::client::Body;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep, timeout};

/// The timeouts of calls of the API server. A call that takes longer fails, and is retried like after any other failure.
///
/// Without a timeout, a connection whose other end disappears, for example behind a firewall or a load balancer, would block a
/// worker or a watch for as long as the operating system keeps the connection open. `Duration::MAX` waits without a limit.
///
/// ```
/// # use opgen::{Operator, Timeouts};
/// # use std::time::Duration;
/// let timeouts = Timeouts::default().response(Duration::from_secs(30)).watch(Duration::from_secs(90));
/// let operator = Operator::new("teams").timeouts(timeouts);
/// # let _ = operator;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    connect: Duration,
    response: Duration,
    body: Duration,
    watch: Duration,
}

impl Default for Timeouts {
    /// Returns the defaults that the methods document.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            response: Duration::from_secs(70),
            body: Duration::from_secs(60),
            watch: Duration::from_secs(150),
        }
    }
}

impl Timeouts {
    /// Sets the maximum time for connecting, with TLS. Default: 10 s. It applies to the clients that opgen creates
    /// ([`Operator::run`](crate::Operator::run)); your own client connects according to its own configuration.
    #[must_use]
    pub fn connect(mut self, timeout: Duration) -> Self {
        self.connect = timeout;
        self
    }

    /// Sets the maximum time until the server begins its response, with connecting. Default: 70 s. The API server itself ends a
    /// request after 60 s (its `--request-timeout`), so a longer wait is useless.
    #[must_use]
    pub fn response(mut self, timeout: Duration) -> Self {
        self.response = timeout;
        self
    }

    /// Sets the maximum time for the rest of a response. It applies to each page of a list, and not to watches and followed logs.
    /// Default: 60 s.
    #[must_use]
    pub fn body(mut self, timeout: Duration) -> Self {
        self.body = timeout;
        self
    }

    /// Sets the maximum time that a watch may go without an event or a bookmark; then the watch is restarted from its last
    /// version. Default: 150 s. The API server sends a bookmark about every minute, so choose at least two minutes.
    #[must_use]
    pub fn watch(mut self, timeout: Duration) -> Self {
        self.watch = timeout;
        self
    }

    /// Returns a client for a configuration, with the connect timeout and without the retries of `kube`: the caller retries a
    /// failed call.
    ///
    /// # Errors
    /// Fails if the configuration can't be used.
    pub fn client(&self, config: kube::Config) -> Result<kube::Client, kube::Error> {
        kube::Client::try_from(self.configure(config))
    }

    /// Sets the connect timeout in a configuration, and turns off the retries.
    pub(crate) fn configure(self, mut config: kube::Config) -> kube::Config {
        config.default_retry = false;
        config.connect_timeout = Some(self.connect).filter(|timeout| *timeout != Duration::MAX);
        config
    }

    /// Returns a client that sends requests through `client` and ends them after these timeouts, also while the body of a response arrives.
    /// Each timeout is counted.
    pub(crate) fn wrap(self, client: kube::Client, counters: Counters) -> kube::Client {
        let namespace = client.default_namespace().to_owned();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (client, counters) = (client.clone(), counters.clone());
            async move {
                let body_limit = self.body_limit(&request);
                match timeout(self.response, client.send(request)).await {
                    Ok(response) => {
                        response.map(|response| response.map(|body| TimedBody::new(body, body_limit, counters)))
                    }
                    Err(_) => {
                        counters.count_timeout();
                        Err(kube::Error::Service(TimeoutError::Response(self.response).into()))
                    }
                }
            }
        });
        kube::Client::new(service, namespace)
    }

    /// Returns the time limit of the response body: the pause between events for a watch, none for followed logs, and else the time for the
    /// body.
    fn body_limit(self, request: &Request<Body>) -> BodyLimit {
        if is_watch(request) {
            BodyLimit::Idle(self.watch)
        } else if has_parameter(request, &["follow=true", "follow=1"]) {
            BodyLimit::None
        } else {
            BodyLimit::Total(self.body)
        }
    }
}

impl Client {
    /// Returns the client of a subcommand of the operator, such as `why`. A subcommand sets its request timeout as the connect timeout of
    /// `config`. That limits each step of a call: to connect, to respond, and to send the body. Without a connect timeout in `config`, the
    /// default timeouts apply.
    ///
    /// # Errors
    /// Fails if the configuration can't be used.
    pub(crate) fn for_command(config: kube::Config) -> Result<Self, kube::Error> {
        let timeouts = Timeouts::default();
        let timeouts = config.connect_timeout.map_or(timeouts, |time| timeouts.connect(time).response(time).body(time));
        Ok(Self::new(timeouts.wrap(timeouts.client(config)?, Counters::default())))
    }
}

/// The error of a call that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimeoutError {
    #[error("the API server did not answer within {0:?}")]
    Response(Duration),
    #[error("the response of the API server was not complete within {0:?}")]
    Body(Duration),
    #[error("the watch received no event or bookmark for {0:?}")]
    Watch(Duration),
}

impl TimeoutError {
    /// Returns whether a timeout of [`Timeouts`] has caused an error of a client.
    pub(crate) fn is_cause_of(error: &kube::Error) -> bool {
        matches!(error, kube::Error::Service(source) if source.is::<Self>())
    }
}

/// The time limit of a response body.
#[derive(Clone, Copy, Debug)]
enum BodyLimit {
    /// The limit for the whole body.
    Total(Duration),
    /// The limit for each pause between two frames.
    Idle(Duration),
    None,
}

/// A response body that ends with an error if it exceeds its time limit.
struct TimedBody {
    body: Body,
    body_limit: BodyLimit,
    sleep: Option<Pin<Box<Sleep>>>,
    counters: Counters,
    ended: bool,
}

impl TimedBody {
    /// Returns a body that fails when its time limit is exceeded. The timer starts now, unless the body is empty or has no limit.
    fn new(body: Body, body_limit: BodyLimit, counters: Counters) -> Self {
        let sleep = match body_limit {
            _ if body.is_end_stream() => None,
            BodyLimit::Total(time) | BodyLimit::Idle(time) => Some(Box::pin(sleep(time))),
            BodyLimit::None => None,
        };
        Self { body, body_limit, sleep, counters, ended: false }
    }
}

impl HttpBody for TimedBody {
    type Data = <Body as HttpBody>::Data;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    /// Returns the next frame. If the timer of the body limit ends first, a timeout error takes its place and the body ends. Each frame of
    /// a watch restarts the timer.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            if let (BodyLimit::Idle(time), Some(sleep)) = (this.body_limit, &mut this.sleep)
                && let Some(until) = Instant::now().checked_add(time)
            {
                sleep.as_mut().reset(until);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let Some(sleep) = &mut this.sleep else { return Poll::Pending };
        ready!(sleep.as_mut().poll(context));
        this.ended = true;
        this.counters.count_timeout();
        let error = match this.body_limit {
            BodyLimit::Idle(time) => TimeoutError::Watch(time),
            BodyLimit::Total(time) => TimeoutError::Body(time),
            BodyLimit::None => return Poll::Ready(None),
        };
        Poll::Ready(Some(Err(error.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures::{StreamExt as _, stream};
    use http::Response;
    use std::convert::Infallible;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns a client with these timeouts, and its counters. The server responds after `delay`, sends a frame after each of the pauses,
    /// given in seconds, and then keeps the body open.
    fn client(delay: Duration, pauses: &'static [u64], timeouts: Timeouts) -> (kube::Client, Counters) {
        let service = tower::service_fn(move |_: Request<Body>| async move {
            sleep(delay).await;
            let frames = stream::iter(pauses).then(|pause| async move {
                sleep(SECOND * u32::try_from(*pause).unwrap()).await;
                Ok::<_, Infallible>("{\"a\"")
            });
            Ok::<_, Infallible>(Response::new(axum::body::Body::from_stream(frames.chain(stream::pending()))))
        });
        let counters = Counters::default();
        (timeouts.wrap(kube::Client::new(service, "default"), counters.clone()), counters)
    }

    /// Lists or watches Pods with this query, and returns the error of the request or of its body.
    async fn request_error(client: &kube::Client, query: &str) -> String {
        let request = Request::get(format!("/api/v1/pods{query}")).body(Body::empty()).unwrap();
        let body = match client.send(request).await {
            Ok(response) => response.into_body().collect_bytes().await.map(drop),
            Err(error) => Err(error),
        };
        format!("{}", crate::error::ErrorChain(&body.unwrap_err()))
    }

    fn timeouts() -> Timeouts {
        Timeouts::default().response(SECOND * 5).body(SECOND * 7).watch(SECOND * 3)
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_a_response_times_out() {
        let began = Instant::now();
        let (client, counters) = client(SECOND * 1_000_000, &[], timeouts());
        assert!(request_error(&client, "").await.contains("the API server did not answer within 5s"));
        assert!(request_error(&client, "?watch=true").await.contains("the API server did not answer within 5s"));
        assert_eq!((began.elapsed().as_secs(), counters.timeouts()), (10, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_not_complete_times_out_although_frames_arrive() {
        let began = Instant::now();
        let (client, _) = client(SECOND * 4, &[2, 2, 2, 2], timeouts());
        assert!(request_error(&client, "").await.contains("was not complete within 7s"));
        assert_eq!(began.elapsed().as_secs(), 4 + 7);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_continues_while_events_arrive_within_the_timeout() {
        let began = Instant::now();
        let (client, _) = client(SECOND, &[2, 2, 2, 2, 2], timeouts());
        let error = request_error(&client, "?allowWatchBookmarks=true&watch=true").await;
        assert!(error.contains("no event or bookmark for 3s"), "{error}");
        assert_eq!(began.elapsed().as_secs(), 1 + 10 + 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_time_is_no_limit() {
        let longest = Duration::MAX;
        let timeouts = Timeouts::default().connect(longest).response(longest).body(longest).watch(longest);
        let (client, counters) = client(SECOND * 3600, &[3600], timeouts);
        for query in ["", "?watch=true"] {
            let ended = timeout(SECOND * 86_400, request_error(&client, query)).await;
            assert!(ended.is_err(), "{ended:?}");
        }
        assert_eq!(counters.timeouts(), 0);
        assert_eq!(
            timeouts.client(kube::Config::new("http://localhost".parse().unwrap())).err().map(|e| e.to_string()),
            None
        );
    }
}
