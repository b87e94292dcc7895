//! Simulates the network: delays, loses and answers the requests of candidates.

use super::{
    oracle::Oracle,
    schedule::{CandidateFaults, Dice, Schedule, end_of_window, overlaps},
};
use http::{Method, Request, Response};
use http_body::{Body as HttpBody, Frame};
use kube::client::Body;
use parking_lot::Mutex;
use serde_json::Value;
use std::{
    future::pending,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{Instant, Sleep, sleep_until},
};

/// The longest time after which a request still reaches the server although its sender has given it up, was stopped, or is dead.
/// The server does not know who leads, so the election relies on such a limit.
pub(super) const LONGEST_TRANSIT: Duration = Duration::from_secs(1);

/// The network between the candidates and the server.
#[derive(Clone)]
pub(super) struct Network {
    server: kube::Client,
    schedule: Arc<Schedule>,
    oracle: Oracle,
    dice: Arc<Dice>,
    /// Requests on their way, which outlive their senders.
    in_transit: Arc<Mutex<JoinSet<()>>>,
    /// One request is executed after the other.
    execution: Arc<tokio::sync::Mutex<()>>,
}

/// The sender of a request.
#[derive(Clone)]
struct Sender {
    index: usize,
    identity: Arc<str>,
}

/// The sender of a response. If it is dropped, the candidate waits forever.
type Answer = oneshot::Sender<kube::Result<Response<DelayedBody>>>;

impl Network {
    /// Returns a network in front of `server`, with the faults of a schedule.
    pub(super) fn new(server: kube::Client, schedule: Arc<Schedule>, oracle: Oracle, seed: u64) -> Self {
        Self {
            server,
            schedule,
            oracle,
            dice: Arc::new(Dice::new(seed, 1)),
            in_transit: Arc::default(),
            execution: Arc::default(),
        }
    }

    /// Returns the client of a candidate, which sends its requests through this network. A request that is lost, or whose response is lost,
    /// never completes.
    pub(super) fn client(&self, index: usize, identity: &str) -> kube::Client {
        let (network, sender) = (self.clone(), Sender { index, identity: identity.into() });
        let service = tower::service_fn(move |request: Request<Body>| {
            let (network, sender) = (network.clone(), sender.clone());
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect_bytes().await?.to_vec();
                let (answer, answered) = oneshot::channel();
                let delivery = network.clone().deliver(sender, Request::from_parts(parts, body), answer);
                network.in_transit.lock().spawn(delivery);
                match answered.await {
                    Ok(response) => response,
                    // The request or its response was lost.
                    Err(_) => pending().await,
                }
            }
        });
        kube::Client::new(service, "default")
    }

    /// Delivers a request to the server and its response back, unless the network loses one of them, and reports accepted writes to the
    /// oracle. A write of a worker that would arrive later than [`LONGEST_TRANSIT`] is lost, if its sender has given it up, is dead, or was
    /// frozen meanwhile.
    async fn deliver(self, sender: Sender, request: Request<Vec<u8>>, mut answer: Answer) {
        let faults = &self.schedule.candidates[sender.index];
        let (sent, delay) = (Instant::now(), self.delay());
        let arrival = sent + delay;
        if self.dice.percent(self.schedule.lost) || end_of_window(&faults.cut_requests, sent).is_some() {
            // The candidate notices some of the losses at once.
            if self.dice.percent(30) {
                let _ = answer.send(Err(kube::Error::Service("connection refused".into())));
            }
            return;
        }
        sleep_until(arrival).await;
        let is_lease = request.uri().path().contains("/leases");
        let is_given_up = answer.is_closed() || overlaps(&faults.frozen, sent, arrival);
        // Writes of the Lease may arrive at any time: they name the version that they replace.
        if !is_lease && delay > LONGEST_TRANSIT && is_given_up {
            return;
        }
        let guard = self.execution.lock().await;
        let holder = holder_of(&request);
        let response = if is_lease {
            self.server.send(request.map(Body::from)).await
        } else {
            self.oracle.on_write(&sender.identity);
            Ok(Response::new(Body::from(b"{}".to_vec())))
        };
        if let (Ok(response), Some(holder)) = (&response, holder)
            && response.status().is_success()
        {
            self.oracle.on_lease(holder.as_deref());
        }
        drop(guard);
        if self.dice.percent(self.schedule.lost) {
            return;
        }
        let response_at = Instant::now() + self.delay();
        tokio::select! {
            () = sleep_until(end_of_window(&faults.cut_responses, response_at).unwrap_or(response_at)) => {}
            () = answer.closed() => return,
        }
        let delayed = |body| DelayedBody { body, faults: faults.clone(), held: None };
        let _ = answer.send(response.map(|response| response.map(delayed)));
    }

    /// Draws the time that a request or a response takes: some milliseconds, or with the chance `delayed` of the schedule up to 2 s or 14
    /// s.
    fn delay(&self) -> Duration {
        if !self.dice.percent(self.schedule.delayed) {
            return self.dice.millis(1..40);
        }
        self.dice.millis(if self.dice.percent(50) { 40..2_000 } else { 2_000..14_000 })
    }
}

/// Returns the holder in a request that writes the Lease: `Some(None)` if the write names no holder and so releases the Lease, and `None`
/// if the request is no write of the Lease.
fn holder_of(request: &Request<Vec<u8>>) -> Option<Option<String>> {
    let is_write = matches!(*request.method(), Method::POST | Method::PUT);
    if !is_write || !request.uri().path().contains("/leases") {
        return None;
    }
    let lease: Value = serde_json::from_slice(request.body()).ok()?;
    let holder = lease["spec"]["holderIdentity"].as_str().filter(|holder| !holder.is_empty());
    Some(holder.map(str::to_owned))
}

/// A frame, and the time at which it arrives.
type HeldFrame = (Pin<Box<Sleep>>, Frame<<Body as HttpBody>::Data>);

/// A body whose frames, such as the events of a watch, arrive only when responses do.
struct DelayedBody {
    body: Body,
    faults: CandidateFaults,
    held: Option<HeldFrame>,
}

impl HttpBody for DelayedBody {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    /// Returns the next frame of the response. Holds a frame back while the candidate receives no responses, until the end of this window.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = &mut *self;
        if this.held.is_none() {
            let frame = match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            let now = Instant::now();
            let Some(until) = end_of_window(&this.faults.cut_responses, now) else {
                return Poll::Ready(Some(Ok(frame)));
            };
            this.held = Some((Box::pin(sleep_until(until)), frame));
        }
        if let Some((sleep, _)) = &mut this.held {
            ready!(sleep.as_mut().poll(context));
        }
        Poll::Ready(this.held.take().map(|(_, frame)| Ok(frame)))
    }
}
