//! The kind `Siphon`: its passes are recorded, and succeed, fail or wait as its spec says.

use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::{Controller, For, prelude::*};
use opgen_tests::{
    Plane,
    wait::{PATIENCE, until},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::Instant,
};

use super::{
    super::site::{Running, Site},
    store::{CaseBucket, CaseBuckets},
    stored::{condition, is_empty, until_stored},
};

/// A siphon, whose passes are recorded.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Siphon", namespaced, status = "Status")]
#[managed(nats(bucket = "siphons"))]
pub(crate) struct SiphonSpec {
    #[serde(default)]
    text: String,
    #[serde(default)]
    ending: Ending,
}

/// How a pass over a siphon ends.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    #[default]
    Success,
    Failure,
    // It succeeds once the gate lets it through.
    Gate,
}

/// The passes over siphons, and the gate at which some wait.
#[derive(Clone, Debug)]
pub(crate) struct Visits {
    list: Arc<Mutex<Vec<Visit>>>,
    pub(super) gate: Arc<Semaphore>,
}

#[derive(Clone, Debug)]
struct Visit {
    name: String,
    text: String,
    at: Instant,
}

impl Default for Visits {
    fn default() -> Self {
        Self { list: Arc::default(), gate: Arc::new(Semaphore::new(0)) }
    }
}

impl Visits {
    fn add(&self, siphon: &Siphon) {
        let visit = Visit { name: siphon.name_any(), text: siphon.spec.text.clone(), at: Instant::now() };
        self.list.lock().unwrap_or_else(PoisonError::into_inner).push(visit);
    }

    fn of(&self, name: &str) -> Vec<Visit> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().filter(|visit| visit.name == name).cloned().collect()
    }

    pub(super) fn count(&self, name: &str) -> usize {
        self.of(name).len()
    }

    /// The texts of a siphon in its passes.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        self.of(name).into_iter().map(|visit| visit.text).collect()
    }

    /// The times of the passes over a siphon.
    pub(super) fn times(&self, name: &str) -> Vec<Instant> {
        self.of(name).into_iter().map(|visit| visit.at).collect()
    }

    /// Waits until there were so many passes over a siphon.
    pub(super) async fn reach(&self, name: &str, count: usize) {
        until(format!("{count} passes over {name}"), PATIENCE, async || match self.count(name) {
            passes if passes >= count => Ok(()),
            passes => Err(format!("{passes} passes")),
        })
        .await;
    }

    /// Waits until there was no pass for a while.
    pub(super) async fn rest(&self) {
        let (mut seen, mut same) = (0, 0);
        until("no more passes", PATIENCE, async || {
            let all = self.list.lock().unwrap_or_else(PoisonError::into_inner).len();
            same = if all == seen { same + 1 } else { 0 };
            seen = all;
            if same == 40 { Ok(()) } else { Err(format!("{seen} passes")) }
        })
        .await;
    }
}

pub(crate) type VisitedSiphon = For<Siphon, Visits>;

/// A node that records its passes, and a child in Kubernetes.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = VisitedSiphon)]
pub(crate) struct SiphonTree {
    record: RecordVisit,
    #[provisioner(resource)]
    config: ConfigMap,
}

impl SiphonTree {
    fn config(siphon: &Siphon) -> ConfigMap {
        ConfigMap { data: Some([("text".to_owned(), siphon.spec.text.clone())].into()), ..ConfigMap::default() }
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub(crate) struct RecordVisit;

impl Provision<VisitedSiphon> for RecordVisit {
    async fn provision(cx: &Context<'_, VisitedSiphon, Self>) -> Result<()> {
        let (siphon, visits) = (cx.object(), cx.options());
        visits.add(siphon);
        match siphon.spec.ending {
            Ending::Success => Ok(()),
            Ending::Failure => Err(std::io::Error::other("the siphon is broken").into()),
            Ending::Gate => {
                visits.gate.acquire().await.map(SemaphorePermit::forget)?;
                Ok(())
            }
        }
    }

    async fn deprovision(_: &Teardown<'_, VisitedSiphon, Self>) -> Result<()> {
        Ok(())
    }
}

/// An operator of siphons with its bucket.
pub(super) struct SiphonScene {
    pub(super) site: Site,
    pub(super) buckets: CaseBuckets,
    pub(super) visits: Visits,
    pub(super) operator: Operator,
    pub(super) running: Running,
}

impl SiphonScene {
    pub(super) async fn started(plane: &Arc<Plane>) -> Self {
        Self::started_with(plane, |controller| controller).await
    }

    pub(super) async fn started_with(
        plane: &Arc<Plane>,
        options: impl FnOnce(Controller<VisitedSiphon>) -> Controller<VisitedSiphon>,
    ) -> Self {
        let (site, buckets, visits) = (Site::new(plane).await, CaseBuckets::new(plane).await, Visits::default());
        let of_visits = visits.clone();
        let operator = site
            .operator()
            .buckets(buckets.link())
            .controls_with::<VisitedSiphon, SiphonTree>(|controller| options(controller.options(of_visits)));
        let running = site.start(&operator).await;
        Self { site, buckets, visits, operator, running }
    }

    pub(super) fn siphons(&self) -> CaseBucket {
        self.buckets.bucket("siphons")
    }

    pub(super) fn key(&self, name: &str) -> String {
        self.site.bucket_key(name)
    }

    /// Writes a siphon as a client that knows nothing but its spec.
    pub(super) async fn put(&self, name: &str, text: &str, ending: Ending) {
        let value = json!({"spec": {"text": text, "ending": ending}});
        self.siphons().put_raw(&self.key(name), value.to_string()).await;
    }

    /// Waits until the condition `Available` of a siphon has this status, and returns the condition.
    pub(super) async fn is_available(&self, name: &str, status: &str) -> Value {
        let has_status =
            |siphon: &Value| condition(siphon, "Available").is_some_and(|condition| condition["status"] == status);
        let what = format!("is available: {status}");
        let siphon = until_stored(&self.siphons(), &self.key(name), &what, has_status).await;
        condition(&siphon, "Available").cloned().unwrap_or_default()
    }

    /// Waits until the bucket has no entry, and so no claim of the operator either.
    pub(super) async fn is_empty(&self) {
        is_empty(&self.siphons()).await;
    }
}
