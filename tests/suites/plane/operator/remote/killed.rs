//! An operator that ends at each call of the teardown of nested clusters.

use std::sync::{Arc, Mutex, PoisonError};

use http::{Method, Request};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, client::Body};
use opgen_tests::{Plane, wait::until_gone};

use super::{Note, SecondCluster, Site, is_gone, nested::NestedTree, note, note_says, records};
use crate::operator::gate::{Gate, GateStops};

/// The calls of a teardown behind a gate. Lists and watches always pass.
struct GatedCalls {
    gate: Arc<Gate>,
    /// The deletions, each with its cluster.
    deletions: Mutex<Vec<&'static str>>,
}

impl GatedCalls {
    /// Lets a number of calls through.
    fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { gate: Gate::new(limit), deletions: Mutex::default() })
    }

    fn wrap(self: &Arc<Self>, cluster: &'static str, client: Client) -> Client {
        let calls = self.clone();
        let stops = |request: &Request<Body>| GateStops {
            before: request.method() != Method::GET || request.uri().path().contains("/secrets/"),
            after: false,
        };
        let record = move |request: &Request<Body>| {
            if request.method() == Method::DELETE {
                calls.deletions.lock().unwrap_or_else(PoisonError::into_inner).push(cluster);
            }
        };
        self.gate.client(client, stops, record)
    }

    fn deletions(&self) -> Vec<&'static str> {
        self.deletions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Three clusters.
struct Clusters {
    site: Site,
    outer: Arc<SecondCluster>,
    inner: Arc<SecondCluster>,
}

impl Clusters {
    /// Runs the operator with a gate.
    async fn run(&self, calls: &Arc<GatedCalls>) -> super::Running {
        let through = calls.clone();
        let environment = self.site.environment();
        let environment = SecondCluster::wrapped(environment, &[&self.outer, &self.inner], move |name, client| {
            through.wrap(name, client)
        });
        let operator = self.site.operator().environment(environment).controls::<Note, NestedTree>();
        Site::run_with(&operator, calls.wrap("home", self.site.client().await), Default::default())
    }

    /// Provisions the note, and returns it deleted, without an operator.
    async fn deleted(&self) {
        let running = self.run(&GatedCalls::new(usize::MAX)).await;
        self.site.create(&note("nested/both")).await;
        note_says(&self.site, "Provisioned").await;
        running.end_now().await;
        self.site.delete::<Note>("one").await;
    }

    /// Checks that nothing is left anywhere.
    async fn are_clean(&self) {
        is_gone(&self.site.api::<ConfigMap>(), "local").await;
        for cluster in [&self.outer, &self.inner] {
            cluster.is_empty().await;
        }
        assert_eq!(records(&self.site).await, Vec::<String>::new());
    }
}

pub(super) async fn at_each_call(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (outer, inner) = (SecondCluster::start(&plane, "blue").await, SecondCluster::start(&plane, "green").await);
    outer.publish(&site).await;
    inner.publish_in(&outer).await;
    let clusters = Clusters { site, outer, inner };
    let notes: Api<Note> = clusters.site.api();
    clusters.site.install(&clusters.site.operator().controls::<Note, NestedTree>()).await;
    let mut limit = 0;
    loop {
        clusters.deleted().await;
        let first = GatedCalls::new(limit);
        let running = clusters.run(&first).await;
        first.gate.kill_at_last_step(running, async || Ok(notes.get_opt("one").await?.is_none())).await;
        let second = GatedCalls::new(usize::MAX);
        let running = clusters.run(&second).await;
        until_gone(&notes, "one").await;
        running.end_now().await;
        clusters.are_clean().await;
        let deletions: Vec<_> = first.deletions().into_iter().chain(second.deletions()).collect();
        let order = ["green", "blue", "home"].map(|name| deletions.iter().filter(|cluster| **cluster == name).count());
        let sorted: Vec<_> =
            ["green", "blue", "home"].iter().zip(order).flat_map(|(name, count)| vec![*name; count]).collect();
        assert_eq!(deletions, sorted, "after {limit} calls");
        if !first.gate.has_stopped() {
            break;
        }
        limit += 1;
    }
    // Each object, and each record.
    assert!(limit >= 6, "{limit} calls");
}
