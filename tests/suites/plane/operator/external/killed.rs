//! An operator that ends at each step: before and after each call of the service and each write to the API server.

use std::sync::Arc;

use http::{Method, Request};
use kube::{Api, client::Body};
use opgen_tests::{Plane, wait::until_gone};

use super::{Note, Running, Service, Site, note, note_says, operator, records, trees::CalmTree};
use crate::operator::{
    gate::{Gate, GateStops},
    kinds::is_provisioned,
};

/// The gate may stop before and after each write, and before each read of a record. Lists, watches and most reads always pass.
fn stops(request: &Request<Body>) -> GateStops {
    let is_write = request.method() != Method::GET;
    GateStops { before: is_write || request.uri().path().contains("/opgen-external-"), after: is_write }
}

/// Runs the operator behind a gate.
async fn run(site: &Site, service: &Service, gate: &Arc<Gate>) -> Running {
    let operator = operator::<CalmTree>(site, &service.behind(gate));
    Site::run_with(&operator, gate.client(site.client().await, stops, |_| ()), Default::default())
}

/// Runs an operator until it stops at its gate or is `done`, and ends it at once.
async fn run_and_kill(
    (site, service): (&Site, &Service),
    limit: usize,
    done: impl AsyncFnMut() -> Result<bool, kube::Error>,
) -> Arc<Gate> {
    let gate = Gate::new(limit);
    gate.kill_at_last_step(run(site, service, &gate).await, done).await;
    gate
}

pub(super) async fn at_each_step(plane: Arc<Plane>) {
    let (site, service) = (Site::new(&plane).await, Service::default());
    site.install(&operator::<CalmTree>(&site, &service)).await;
    let notes: Api<Note> = site.api();
    let mut limit = 0;
    loop {
        site.create(&note("a")).await;
        let creation = run_and_kill((&site, &service), limit, async || Ok(is_provisioned(&notes.get("one").await?)));
        let creation = creation.await;
        let running = run(&site, &service, &Gate::new(usize::MAX)).await;
        note_says(&site, "Provisioned").await;
        site.settled().await;
        running.end_now().await;
        assert_eq!(service.only_text().as_deref(), Ok("a"), "a creation after {limit} steps");
        assert_eq!(records(&site).await.len(), 1, "a creation after {limit} steps");

        site.delete::<Note>("one").await;
        let deletion = run_and_kill((&site, &service), limit, async || Ok(notes.get_opt("one").await?.is_none()));
        let deletion = deletion.await;
        let running = run(&site, &service, &Gate::new(usize::MAX)).await;
        until_gone(&notes, "one").await;
        running.end_now().await;
        assert!(service.entries().is_empty(), "a deletion after {limit} steps");
        assert!(records(&site).await.is_empty(), "a deletion after {limit} steps");
        if !creation.has_stopped() && !deletion.has_stopped() {
            break;
        }
        limit += 1;
    }
    // The finalizer, the record, the creation, the id, the status: each before and after it.
    assert!(limit >= 10, "{limit} steps");
}
