//! `Candidate`: takes part in a leader election by reads, watches and writes of a Lease, and publishes whether this process leads.

use super::{
    elector::{Elector, LeadLoss, RequestFailure, Step},
    lead::{Lead, LeadState},
};
use crate::{environment::Environment, error::ErrorChain};
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api,
    api::{PostParams, WatchEvent, WatchParams},
};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// A candidate for the lead of an operator.
pub(super) struct Candidate {
    pub(super) elector: Elector,
    pub(super) leases: Api<Lease>,
    /// The name of the Lease.
    pub(super) name: String,
    /// The name of the operator, as the field manager of the Lease.
    pub(super) operator: String,
    pub(super) lead: Lead,
    pub(super) environment: Environment,
    /// The watch of a candidate that waits. The holder has none.
    pub(super) watch: Option<LeaseWatch>,
    /// The time before which no watch is opened, because the last one failed.
    pub(super) reopen_at: Option<Instant>,
    /// The text of the last failure, which is logged once.
    pub(super) last_failure: Option<String>,
}

/// A watch of the Lease.
pub(super) struct LeaseWatch {
    events: BoxStream<'static, kube::Result<WatchEvent<Lease>>>,
    opened_at: Instant,
    /// The time of the last event, or of the start.
    last_event_at: Instant,
    /// Whether there was an event.
    is_live: bool,
}

/// An event during a wait.
enum CandidateEvent {
    TimeReached,
    StopRequested,
    /// An event of the watch, or `None` at its end.
    Watch(Box<Option<kube::Result<WatchEvent<Lease>>>>),
}

impl Candidate {
    /// Takes part in the election until `stop` completes, then releases the Lease if this candidate holds it. Performs one step of the
    /// elector after the other, and publishes the state of the leadership before each.
    ///
    /// # Errors
    /// Fails when the leadership is lost.
    pub(super) async fn run(mut self, stop: impl Future<Output = ()> + Send) -> Result<(), LeadLoss> {
        let mut stop = std::pin::pin!(stop);
        loop {
            self.publish();
            match self.elector.next(Instant::now()) {
                Step::Lost(loss) => return Err(loss),
                Step::Read => self.read().await,
                Step::Write => self.write().await,
                Step::Wait(until) => {
                    let until = self.poll_at().map_or(until, |poll_at| poll_at.min(until));
                    match self.wait(until, stop.as_mut()).await {
                        CandidateEvent::StopRequested => return self.release().await,
                        CandidateEvent::TimeReached => self.poll(),
                        CandidateEvent::Watch(event) => self.on_watch_event(*event),
                    }
                }
            }
        }
    }

    /// Publishes the state of the leadership to the other tasks, and logs when this candidate begins to lead or to wait for another holder.
    fn publish(&self) {
        let (published, state) = (self.lead.state(), self.elector.state());
        if published == state {
            return;
        }
        match (&published, &state) {
            // A renewal extends the deadline.
            (LeadState::Held(_), LeadState::Held(_)) => {}
            (_, LeadState::Held(_)) => tracing::info!(lease = self.name, identity = self.elector.identity(), "leading"),
            (_, LeadState::Waiting { holder: Some(holder) }) => {
                tracing::info!(lease = self.name, %holder, "waiting for the lead");
            }
            (_, LeadState::Waiting { holder: None } | LeadState::Ended) => {}
        }
        self.lead.set(state);
    }

    /// Waits until the time `until`, until `stop` completes, or until the watch of the Lease has an event, and returns which came first.
    /// Opens the watch if this candidate does not lead, and closes it if it leads. The wait may end early when a failed watch can be opened
    /// again.
    async fn wait(
        &mut self,
        until: Instant,
        stop: std::pin::Pin<&mut (impl Future<Output = ()> + Send)>,
    ) -> CandidateEvent {
        let reopen_at = self.reopen_at.filter(|reopen_at| *reopen_at > Instant::now());
        if self.elector.is_leading() {
            self.watch = None;
        } else if self.watch.is_none() && reopen_at.is_none() {
            self.watch = Some(self.open_watch());
        }
        let until = reopen_at.filter(|_| self.watch.is_none()).map_or(until, |reopen_at| reopen_at.min(until));
        let events = self.watch.as_mut().map(|watch| &mut watch.events);
        let event = async {
            match events {
                Some(events) => events.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stop => CandidateEvent::StopRequested,
            () = sleep_until(until) => CandidateEvent::TimeReached,
            event = event => CandidateEvent::Watch(Box::new(event)),
        }
    }

    /// Opens a watch of the Lease of this election. The first event shows the stored Lease. An error when opening is the first event, too.
    fn open_watch(&self) -> LeaseWatch {
        let params = WatchParams::default().fields(&format!("metadata.name={}", self.name)).disable_bookmarks();
        let leases = self.leases.clone();
        let open = async move { leases.watch(&params, "").await };
        let events = stream::once(open).flat_map(|opened| match opened {
            Ok(events) => events.boxed(),
            Err(error) => stream::once(std::future::ready(Err(error))).boxed(),
        });
        let now = Instant::now();
        LeaseWatch { events: events.boxed(), opened_at: now, last_event_at: now, is_live: false }
    }

    /// Returns the time at which a waiting candidate reads the Lease although the watch had no event; `None` without a watch. It is a retry
    /// period after the start of the watch or the last such read, and once the watch had an event, a lease duration after the last event.
    fn poll_at(&self) -> Option<Instant> {
        let watch = self.watch.as_ref()?;
        let max_silence = if watch.is_live {
            self.elector.lease_duration()
        } else {
            self.elector.retry_period(self.environment.random())
        };
        Some(watch.last_event_at + max_silence)
    }

    /// Requires a read of the Lease if the watch had no event until the time of `poll_at`. A watch that had events before is closed.
    fn poll(&mut self) {
        let now = Instant::now();
        let Some(poll_at) = self.poll_at() else { return };
        let Some(watch) = self.watch.as_mut() else { return };
        if now < poll_at {
            return;
        }
        if watch.is_live {
            // The holder renews the Lease more often than once in a lease duration, so the connection of the watch is probably dead.
            self.watch = None;
        } else {
            watch.last_event_at = now;
        }
        self.elector.require_read();
    }

    /// Passes the Lease in an event of the watch to the elector; after a deletion there is none. An error or the end of the watch leads to
    /// a read of the Lease.
    fn on_watch_event(&mut self, event: Option<kube::Result<WatchEvent<Lease>>>) {
        let now = Instant::now();
        let lease = match event {
            Some(Ok(WatchEvent::Added(lease) | WatchEvent::Modified(lease))) => Some(lease),
            Some(Ok(WatchEvent::Deleted(_))) => None,
            Some(Ok(WatchEvent::Bookmark(_))) => return,
            Some(Ok(WatchEvent::Error(_)) | Err(_)) | None => return self.on_watch_end(now),
        };
        if let Some(watch) = &mut self.watch {
            (watch.last_event_at, watch.is_live) = (now, true);
        }
        self.elector.observe(lease, now);
    }

    /// Schedules a read of the Lease and a new watch: at once if the watch had events and stayed open for longer than a retry period, else
    /// after a retry period, so that a failing watch is not opened in a hot loop.
    fn on_watch_end(&mut self, now: Instant) {
        let random = self.environment.random();
        let retry_period = self.elector.retry_period(random);
        let was_useful = |watch: LeaseWatch| watch.is_live && now.duration_since(watch.opened_at) > retry_period;
        if self.watch.take().is_some_and(was_useful) {
            self.elector.require_read();
        } else {
            self.reopen_at = Some(now + retry_period);
            self.elector.record_failure(RequestFailure::Unknown, random, now);
        }
    }

    /// Reads the Lease and passes it to the elector. Reports a failure or a timeout.
    async fn read(&mut self) {
        let limit = self.elector.request_timeout(Instant::now());
        let result = timeout(limit, self.leases.get_opt(&self.name)).await;
        let now = Instant::now();
        match result {
            Ok(Ok(lease)) => {
                self.last_failure = None;
                self.elector.observe(lease, now);
            }
            Ok(Err(error)) => self.on_failure("read", &error),
            Err(_) => self.on_timeout("read", limit),
        }
    }

    /// Writes the Lease with this candidate as its holder, and confirms the write to the elector. Reports a failure or a timeout.
    async fn write(&mut self) {
        let sent_at = Instant::now();
        let limit = self.elector.request_timeout(sent_at);
        let (lease, is_new) = self.elector.lease_to_write(self.environment.now());
        match timeout(limit, self.send(lease, is_new)).await {
            Ok(Ok(lease)) => {
                self.last_failure = None;
                self.elector.confirm(lease, sent_at, Instant::now());
            }
            Ok(Err(error)) => self.on_failure("write", &error),
            Err(_) => self.on_timeout("write", limit),
        }
    }

    /// Returns a future that creates or replaces the Lease. A replacement has the `resourceVersion` that it replaces, so that only one of
    /// several candidates succeeds.
    fn send(&self, mut lease: Lease, is_new: bool) -> impl Future<Output = kube::Result<Lease>> + Send + use<> {
        let params = PostParams { field_manager: Some(self.operator.clone()), ..PostParams::default() };
        let (leases, name) = (self.leases.clone(), self.name.clone());
        async move {
            if is_new {
                lease.metadata.name = Some(name);
                leases.create(&params, &lease).await
            } else {
                leases.replace(&name, &params, &lease).await
            }
        }
    }

    /// Records and logs a failed request. A conflict (409) and a Lease that disappeared (404) are not logged: they are usual, and the
    /// elector reads the Lease again.
    fn on_failure(&mut self, action: &str, error: &kube::Error) {
        // An error without a response of the API server has the code 0.
        let code = match error {
            kube::Error::Api(status) => status.code,
            _ => 0,
        };
        let failure = if matches!(code, 404 | 409) { RequestFailure::Conflict } else { RequestFailure::Unknown };
        if failure == RequestFailure::Unknown {
            let hint = if matches!(code, 401 | 403) {
                "; the generated Role grants get, watch, update and create of leases"
            } else {
                ""
            };
            self.log_once(format!("failed to {action} the Lease: {}{hint}", ErrorChain(error)));
        }
        self.elector.record_failure(failure, self.environment.random(), Instant::now());
    }

    /// Records and logs a request without a response in time.
    fn on_timeout(&mut self, action: &str, limit: Duration) {
        self.log_once(format!("failed to {action} the Lease: the API server did not answer within {limit:?}"));
        self.elector.record_failure(RequestFailure::Unknown, self.environment.random(), Instant::now());
    }

    /// Logs a failure, unless the previous attempt failed with the same text.
    fn log_once(&mut self, failure: String) {
        if self.last_failure.as_ref() != Some(&failure) {
            tracing::warn!(lease = self.name, "{failure}");
            self.last_failure = Some(failure);
        }
    }

    /// Ends the leadership, and releases the Lease by a write without a holder. A failure is logged and is no error: the next candidate
    /// then waits until the Lease expires.
    async fn release(&mut self) -> Result<(), LeadLoss> {
        // After the release another candidate may write, so this replica must not write any more.
        self.lead.set(LeadState::Ended);
        let limit = self.elector.request_timeout(Instant::now());
        let deadline = Instant::now() + limit;
        while let Some(lease) = self.elector.release(self.environment.now()) {
            let (sent, leases, name) = (self.send(lease, false), self.leases.clone(), self.name.clone());
            let attempt = async move {
                match sent.await {
                    // The stored Lease has another `resourceVersion`: the response to an earlier renewal was lost. Reads it and tries
                    // again.
                    Err(kube::Error::Api(status)) if status.code == 409 => Ok(Some(leases.get_opt(&name).await?)),
                    Err(error) => Err(error),
                    Ok(_) => Ok(None),
                }
            };
            match tokio::time::timeout_at(deadline, attempt).await {
                Ok(Ok(Some(lease))) => self.elector.observe(lease, Instant::now()),
                Ok(Ok(None)) => {
                    tracing::info!(lease = self.name, "released the lead");
                    break;
                }
                Ok(Err(error)) => {
                    tracing::warn!(lease = self.name, "failed to release the Lease: {}", ErrorChain(&error));
                    break;
                }
                Err(_) => {
                    tracing::warn!(lease = self.name, "failed to release the Lease within {limit:?}");
                    break;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::{
        election::{Election, Lock},
        options::LeaderElection,
    };
    use http::{Request, Response};
    use kube::client::Body;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    #[tokio::test(start_paused = true)]
    async fn a_candidate_that_reaches_no_server_tries_again_after_the_retry_period() {
        let requests = Arc::new(AtomicUsize::new(0));
        let request_counter = requests.clone();
        let service = tower::service_fn(move |_: Request<Body>| {
            request_counter.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Err::<Response<Body>, _>(std::io::Error::other("refused")))
        });
        let lock = Lock {
            options: &LeaderElection::default(),
            client: kube::Client::new(service, "default"),
            operator: "shop",
            namespace: "default",
            environment: &Environment::system(),
        };
        let election = Election::start(lock, Lead::new());
        sleep_until(Instant::now() + Duration::from_secs(60)).await;
        drop(election);
        // A read and a watch in each retry period of at least two seconds.
        let requests = requests.load(Ordering::Relaxed);
        assert!((20..=62).contains(&requests), "{requests}");
    }
}
