//! `Gate`: stops an operator at a chosen step, so that a test can end it there.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use http::Request;
use kube::{Client, client::Body};
use opgen_tests::wait::{PATIENCE, until};

use super::site::Running;

/// Lets a number of steps through. The next step never ends.
#[derive(Debug)]
pub(super) struct Gate {
    limit: usize,
    steps: AtomicUsize,
}

/// Whether a gate may stop an operator before a request, and after its response.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GateStops {
    pub(super) before: bool,
    pub(super) after: bool,
}

impl Default for Gate {
    /// A gate that is always open.
    fn default() -> Self {
        Self { limit: usize::MAX, steps: AtomicUsize::new(0) }
    }
}

impl Gate {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, steps: AtomicUsize::new(0) })
    }

    pub(super) async fn pass(&self) {
        if self.steps.fetch_add(1, Ordering::Relaxed) >= self.limit {
            std::future::pending::<()>().await;
        }
    }

    /// Returns a client whose requests pass the gate where `stops` says so. `sent` is called with each request that is let through.
    pub(super) fn client(
        self: &Arc<Self>,
        client: Client,
        stops: impl Fn(&Request<Body>) -> GateStops + Send + Sync + 'static,
        sent: impl Fn(&Request<Body>) + Send + Sync + 'static,
    ) -> Client {
        let namespace = client.default_namespace().to_owned();
        let (gate, stops, sent) = (self.clone(), Arc::new(stops), Arc::new(sent));
        let service = tower::service_fn(move |request: Request<Body>| {
            let (gate, client, sent) = (gate.clone(), client.clone(), sent.clone());
            let GateStops { before, after } = stops(&request);
            async move {
                if before {
                    gate.pass().await;
                }
                sent(&request);
                let response = client.send(request).await;
                if after {
                    gate.pass().await;
                }
                response
            }
        });
        Client::new(service, namespace)
    }

    /// Waits until the operator behind the gate has stopped there or is `done`, and ends it at once. Whatever still runs of it stays before
    /// the gate.
    pub(super) async fn kill_at_last_step(
        &self,
        running: Running,
        mut done: impl AsyncFnMut() -> Result<bool, kube::Error>,
    ) {
        until("the operator has come to its last step, or to its end", PATIENCE, async || {
            let is_done = done().await.map_err(|error| error.to_string())?;
            if is_done || self.has_stopped() { Ok(()) } else { Err(format!("{} steps", self.steps())) }
        })
        .await;
        drop(running);
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.steps() > self.limit
    }

    fn steps(&self) -> usize {
        self.steps.load(Ordering::Relaxed)
    }
}
