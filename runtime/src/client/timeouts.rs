//! Connect, response, body and watch timeouts of calls of the API server.

use super::Client;
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

/// How long a call of the API server may take. A call that takes longer fails, and is tried again as after any other failure.
///
/// Without these a connection whose other end is gone without a word, behind a firewall or a load balancer for example, would hold
/// a worker or a watch for as long as the system keeps it open. `Duration::MAX` waits without a limit.
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
    /// The defaults that the functions name.
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
    /// How long connecting may take, TLS included. Default: 10 s. It holds for the clients that opgen makes
    /// ([`Operator::run`](crate::Operator::run)); a client of your own connects by its own configuration.
    #[must_use]
    pub fn connect(mut self, timeout: Duration) -> Self {
        self.connect = timeout;
        self
    }

    /// How long the server may take to begin its answer, connecting included. Default: 70 s. The API server gives up a request
    /// after 60 s (its `--request-timeout`) and says so; who waits longer waits for nobody.
    #[must_use]
    pub fn response(mut self, timeout: Duration) -> Self {
        self.response = timeout;
        self
    }

    /// How long the rest of an answer may take, once it has begun. It is for one page where a list comes in pages, and not for
    /// watches and followed logs. Default: 60 s.
    #[must_use]
    pub fn body(mut self, timeout: Duration) -> Self {
        self.body = timeout;
        self
    }

    /// For how long a watch may bring nothing, neither an event nor a bookmark; then it is made anew, from where it was. Default:
    /// 150 s. The API server sends a bookmark about every minute, so choose no less than two.
    #[must_use]
    pub fn watch(mut self, timeout: Duration) -> Self {
        self.watch = timeout;
        self
    }

    /// A client for a configuration, with the timeout for connecting and without the retries of `kube`: a failed call is
    /// repeated by whoever makes it.
    ///
    /// # Errors
    /// If the configuration can't be used.
    pub fn client(&self, mut config: kube::Config) -> Result<kube::Client, kube::Error> {
        config.default_retry = false;
        config.connect_timeout = Some(self.connect).filter(|timeout| *timeout != Duration::MAX);
        kube::Client::try_from(config)
    }

    /// A client whose calls end by these timeouts.
    pub(crate) fn bound(self, client: kube::Client, counters: Counters) -> kube::Client {
        let namespace = client.default_namespace().to_owned();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (client, counters) = (client.clone(), counters.clone());
            async move {
                let limit = self.limit(&request);
                match timeout(self.response, client.send(request)).await {
                    Ok(response) => response.map(|response| response.map(|body| Timed::new(body, limit, counters))),
                    Err(_) => {
                        counters.count_timeout();
                        Err(kube::Error::Service(TimedOut::Response(self.response).into()))
                    }
                }
            }
        });
        kube::Client::new(service, namespace)
    }

    fn limit(self, request: &Request<Body>) -> Limit {
        let has = |wanted: &[&str]| {
            request.uri().query().unwrap_or_default().split('&').any(|parameter| wanted.contains(&parameter))
        };
        if has(&["watch=true", "watch=1"]) {
            Limit::Pause(self.watch)
        } else if has(&["follow=true", "follow=1"]) {
            Limit::None
        } else {
            Limit::Whole(self.body)
        }
    }
}

impl Client {
    /// A client for a command, with the default timeouts, or for each step of a call that for connecting in the configuration.
    ///
    /// # Errors
    /// If the configuration can't be used.
    pub(crate) fn connect(config: kube::Config) -> Result<Self, kube::Error> {
        let timeouts = Timeouts::default();
        let timeouts = config.connect_timeout.map_or(timeouts, |time| timeouts.connect(time).response(time).body(time));
        Ok(Self::new(timeouts.bound(timeouts.client(config)?, Counters::default())))
    }
}

/// A call that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimedOut {
    #[error("the API server did not answer within {0:?}")]
    Response(Duration),
    #[error("the answer of the API server was not complete within {0:?}")]
    Body(Duration),
    #[error("the watch brought neither an event nor a bookmark for {0:?}")]
    Watch(Duration),
}

/// How long a body may take.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// All of it.
    Whole(Duration),
    /// Each pause between two of its pieces.
    Pause(Duration),
    None,
}

/// A body that ends with an error if it takes too long.
struct Timed {
    body: Body,
    limit: Limit,
    sleep: Option<Pin<Box<Sleep>>>,
    counters: Counters,
    ended: bool,
}

impl Timed {
    fn new(body: Body, limit: Limit, counters: Counters) -> Self {
        let sleep = match limit {
            // Nothing is waited for.
            _ if body.is_end_stream() => None,
            Limit::Whole(time) | Limit::Pause(time) => Some(Box::pin(sleep(time))),
            Limit::None => None,
        };
        Self { body, limit, sleep, counters, ended: false }
    }
}

impl HttpBody for Timed {
    type Data = <Body as HttpBody>::Data;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            if let (Limit::Pause(time), Some(sleep)) = (this.limit, &mut this.sleep)
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
        let error = match this.limit {
            Limit::Pause(time) => TimedOut::Watch(time),
            Limit::Whole(time) => TimedOut::Body(time),
            Limit::None => return Poll::Ready(None),
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

    /// A server that answers after a time, then brings a piece after each of these pauses, then nothing more.
    fn client(answer: Duration, pauses: &'static [u64], timeouts: Timeouts) -> (kube::Client, Counters) {
        let service = tower::service_fn(move |_: Request<Body>| async move {
            sleep(answer).await;
            let pieces = stream::iter(pauses).then(|pause| async move {
                sleep(SECOND * u32::try_from(*pause).unwrap()).await;
                Ok::<_, Infallible>("{\"a\"")
            });
            Ok::<_, Infallible>(Response::new(axum::body::Body::from_stream(pieces.chain(stream::pending()))))
        });
        let counters = Counters::default();
        (timeouts.bound(kube::Client::new(service, "default"), counters.clone()), counters)
    }

    async fn ask(client: &kube::Client, query: &str) -> String {
        let request = Request::get(format!("/api/v1/pods{query}")).body(Body::empty()).unwrap();
        let body = match client.send(request).await {
            Ok(response) => response.into_body().collect_bytes().await.map(drop),
            Err(error) => Err(error),
        };
        format!("{}", crate::error::Chain(&body.unwrap_err()))
    }

    fn timeouts() -> Timeouts {
        Timeouts::default().response(SECOND * 5).body(SECOND * 7).watch(SECOND * 3)
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_never_answered_ends() {
        let began = Instant::now();
        let (client, counters) = client(SECOND * 1_000_000, &[], timeouts());
        assert!(ask(&client, "").await.contains("the API server did not answer within 5s"));
        assert!(ask(&client, "?watch=true").await.contains("the API server did not answer within 5s"));
        assert_eq!((began.elapsed().as_secs(), counters.timeouts()), (10, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_stops_in_the_middle_ends_however_often_it_goes_on() {
        let began = Instant::now();
        let (client, _) = client(SECOND * 4, &[2, 2, 2, 2], timeouts());
        assert!(ask(&client, "").await.contains("was not complete within 7s"));
        assert_eq!(began.elapsed().as_secs(), 4 + 7);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_goes_on_as_long_as_it_brings_something() {
        let began = Instant::now();
        let (client, _) = client(SECOND, &[2, 2, 2, 2, 2], timeouts());
        let error = ask(&client, "?allowWatchBookmarks=true&watch=true").await;
        assert!(error.contains("neither an event nor a bookmark for 3s"), "{error}");
        assert_eq!(began.elapsed().as_secs(), 1 + 10 + 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_time_is_no_limit() {
        let longest = Duration::MAX;
        let timeouts = Timeouts::default().connect(longest).response(longest).body(longest).watch(longest);
        let (client, counters) = client(SECOND * 3600, &[3600], timeouts);
        for query in ["", "?watch=true"] {
            let ended = timeout(SECOND * 86_400, ask(&client, query)).await;
            assert!(ended.is_err(), "{ended:?}");
        }
        assert_eq!(counters.timeouts(), 0);
        assert_eq!(
            timeouts.client(kube::Config::new("http://localhost".parse().unwrap())).err().map(|e| e.to_string()),
            None
        );
    }
}
