//! Tests operators whose kinds are stored in key-value buckets in memory, with a simulated API server (the sandbox) and without Kubernetes.

#![allow(clippy::unwrap_used, dead_code)]

mod events;
mod named;
mod running;
mod unopened;

use crate::{
    Managed, Operator, Provisioner, RunOptions,
    bucket::{Bucket, MemoryBuckets},
    client::Client,
    foreign::Foreign,
};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{
    Api, CustomResource,
    api::{Patch, PatchParams},
};
use opgen_sandbox::Sandbox;
use running::Running;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, interval_at};

/// A pump, which is in a bucket.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Pump", namespaced, status = "crate::Status")]
#[managed(crate = "crate", nats(bucket = "pumps"))]
pub(crate) struct PumpSpec {
    rate: String,
}

/// A tree whose child is in Kubernetes.
#[derive(Provisioner)]
#[provisioner(serial, owner = Pump, crate = "crate")]
pub(crate) struct PumpTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl PumpTree {
    fn config(pump: &Pump) -> ConfigMap {
        ConfigMap { data: Some([("rate".to_owned(), pump.spec.rate.clone())].into()), ..ConfigMap::default() }
    }
}

/// A tree that needs a kind which only Kubernetes has.
#[derive(Provisioner)]
#[provisioner(serial, owner = Pump, crate = "crate")]
struct WorkloadTree {
    #[provisioner(resource)]
    workload: Deployment,
}

impl WorkloadTree {
    fn workload(_: &Pump) -> Deployment {
        Deployment::default()
    }
}

/// Longer than all that is waited for, in the time of the test.
const DEADLINE: Duration = Duration::from_secs(300);

/// Waits until `look` finds something. The clock of the tests advances only while all tasks are idle.
async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    let mut moments = interval_at(begin, Duration::from_millis(10));
    while begin.elapsed() < DEADLINE {
        moments.tick().await;
        if let Some(found) = look().await {
            return found;
        }
    }
    panic!("{what} did not come to be");
}

/// Waits until the operator had the time for all that it does by itself.
async fn rest() {
    interval_at(Instant::now() + Duration::from_secs(90), DEADLINE).tick().await;
}

/// A sandbox, buckets, and an operator of pumps.
struct Scene {
    sandbox: Sandbox,
    buckets: MemoryBuckets,
    operator: Operator,
}

impl Scene {
    fn new() -> Self {
        let buckets = MemoryBuckets::default();
        let operator = Operator::new("pumps").buckets(buckets.clone()).controls::<Pump, PumpTree>();
        Self { sandbox: Sandbox::builder().start(), buckets, operator }
    }

    /// Starts an operator with the pump `slow`, which is available.
    async fn available() -> (Self, Running) {
        let scene = Self::new();
        let running = scene.start();
        scene.put("slow");
        scene.has_rate("slow").await;
        scene.is_available().await;
        (scene, running)
    }

    fn start(&self) -> Running {
        Running::start(&self.operator, self.sandbox.client())
    }

    /// Writes the pump as another client of the bucket.
    fn put(&self, rate: &str) {
        let pump = json!({"spec": {"rate": rate}});
        self.buckets.bucket("pumps").put_raw("default.web", pump.to_string());
    }

    /// The pump in the bucket; `None` if it is gone.
    async fn pump(&self) -> Option<Value> {
        let entry = self.buckets.bucket("pumps").get("default.web").await.unwrap()?;
        Some(serde_json::from_slice(&entry.value).unwrap())
    }

    fn configs(&self) -> Api<ConfigMap> {
        Api::namespaced(self.sandbox.client(), "default")
    }

    async fn config(&self) -> Option<ConfigMap> {
        self.configs().get_opt("web").await.unwrap()
    }

    async fn rate(&self) -> Option<String> {
        self.config().await?.data?.remove("rate")
    }

    async fn has_rate(&self, rate: &str) {
        until(&format!("rate {rate}"), async || self.rate().await.filter(|found| found == rate)).await;
    }

    async fn is_available(&self) {
        until("an available pump", async || {
            let pump = self.pump().await?;
            let conditions = pump["status"]["conditions"].as_array()?.clone();
            conditions.into_iter().find(|condition| condition["type"] == "Available" && condition["status"] == "True")
        })
        .await;
    }

    async fn has_no_child(&self) {
        until("no config", async || self.config().await.is_none().then_some(())).await;
    }

    /// The bucket has no entry, not even one of the operator's own.
    async fn has_no_entry(&self) {
        let bucket = self.buckets.bucket("pumps");
        until("an empty bucket", async || bucket.list().await.unwrap().is_empty().then_some(())).await;
    }

    /// The revisions of all entries and the version of the child, which each write changes.
    async fn versions(&self) -> (Vec<(String, u64)>, Option<String>) {
        let entries = self.buckets.bucket("pumps").list().await.unwrap();
        let revisions = entries.into_iter().map(|entry| (entry.key, entry.revision)).collect();
        (revisions, self.config().await.and_then(|config| config.metadata.resource_version))
    }
}

#[tokio::test(start_paused = true)]
async fn nats_u10_a_child_in_kubernetes_follows_its_owner_in_a_bucket() {
    let (scene, running) = Scene::available().await;

    let edit = json!({"data": {"rate": "broken"}});
    scene.configs().patch("web", &PatchParams::default(), &Patch::Merge(&edit)).await.unwrap();
    scene.has_rate("slow").await;
    // The value of another client has no metadata.
    scene.put("fast");
    scene.has_rate("fast").await;

    scene.buckets.bucket("pumps").delete_raw("default.web");
    scene.has_no_child().await;
    scene.has_no_entry().await;
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nats_u6_a_child_names_its_owner_in_a_bucket_by_a_mark_and_not_by_a_reference() {
    let (scene, running) = Scene::available().await;
    let (config, pump) = (scene.config().await.unwrap(), scene.pump().await.unwrap());
    let uid = pump["metadata"]["uid"].as_str().unwrap();
    assert_eq!(config.metadata.owner_references, None);
    let owner = config.metadata.annotations.unwrap().remove("opgen.dev/owner");
    assert_eq!(owner, Some(format!("pumps.demo.example.com/default/web/{uid}")));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_writes_nothing_if_nothing_has_changed() {
    let (scene, running) = Scene::available().await;
    rest().await;
    running.stop().await;
    let before = scene.versions().await;

    let running = scene.start();
    rest().await;
    assert_eq!(scene.versions().await, before);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nats_u12_an_entry_that_is_deleted_while_no_operator_runs_is_torn_down_by_the_next() {
    for forgets_deletions in [false, true] {
        let (scene, running) = Scene::available().await;
        running.stop().await;

        let bucket = scene.buckets.bucket("pumps");
        bucket.purge_raw("default.web");
        if forgets_deletions {
            bucket.compact();
        }
        assert!(scene.config().await.is_some());
        let running = scene.start();
        scene.has_no_child().await;
        scene.has_no_entry().await;
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn nats_u12_a_child_whose_owner_left_no_trace_is_an_orphan() {
    let (scene, running) = Scene::available().await;
    running.stop().await;

    let bucket = scene.buckets.bucket("pumps");
    for entry in bucket.list().await.unwrap() {
        bucket.purge_raw(&entry.key);
    }
    let running = scene.start();
    scene.has_no_child().await;
    let counters = scene.operator.counters();
    let is_counted = || counters.orphans().values().any(|orphans| orphans.deleted == 1);
    until("a counted orphan", async || is_counted().then_some(())).await;
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_operator_without_kubernetes_keeps_all_objects_in_buckets() {
    let buckets = MemoryBuckets::default();
    let operator = Operator::new("alone").buckets(buckets.clone()).without_kubernetes().controls::<Pump, PumpTree>();
    // Each request to Kubernetes would fail.
    let running = Running::start(&operator, Client::disconnected().kube());
    let pumps = buckets.bucket("pumps");
    pumps.put_raw("default.web", json!({"spec": {"rate": "slow"}}).to_string());
    let configs = buckets.bucket("alone-configmaps");
    until("the config", async || configs.get("default.web").await.unwrap()).await;
    pumps.delete_raw("default.web");
    until("an empty bucket", async || pumps.list().await.unwrap().is_empty().then_some(())).await;
    assert_eq!(configs.get("default.web").await.unwrap(), None);
    running.stop().await;
}

#[tokio::test]
async fn an_operator_with_kinds_in_buckets_needs_buckets() {
    let operator = Operator::new("pumps").controls::<Pump, PumpTree>();
    let client = Client::disconnected().kube();
    let refused = operator.run_with(client, RunOptions::default(), std::future::pending()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the objects of Pump are in bucket \"pumps\", but the operator has no connection to buckets"
    );
}

/// A kind in a bucket whose name is that of a bucket of the operator `alone`.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Valve", namespaced, status = "crate::Status")]
#[managed(crate = "crate", nats(bucket = "alone-configmaps"))]
pub(crate) struct ValveSpec {
    rate: String,
}

#[tokio::test]
async fn two_kinds_in_one_bucket_are_an_error() {
    let operator = Operator::new("alone").buckets(MemoryBuckets::default()).without_kubernetes();
    let operator = operator.controls::<Pump, PumpTree>().defines::<Valve>();
    let client = Client::disconnected().kube();
    let refused = operator.run_with(client, RunOptions::default(), std::future::pending()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the objects of ConfigMap and those of Valve are in one bucket, \"alone-configmaps\""
    );
}

#[tokio::test]
async fn a_node_that_needs_kubernetes_is_an_error_without_it() {
    let operator = Operator::new("pumps").buckets(MemoryBuckets::default()).without_kubernetes();
    let operator = operator.controls::<Pump, WorkloadTree>();
    let client = Client::disconnected().kube();
    let refused = operator.run_with(client, RunOptions::default(), std::future::pending()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "operator pumps runs without Kubernetes, but node workload of the tree of Pump needs Deployment, which is in no bucket"
    );
}

#[tokio::test]
async fn a_webhook_is_an_error_without_kubernetes() {
    let operator = Operator::new("pumps").buckets(MemoryBuckets::default()).without_kubernetes();
    let operator = operator.controls::<Pump, PumpTree>().validates::<Pump>(|_| Ok(()));
    let client = Client::disconnected().kube();
    let refused = operator.run_with(client, RunOptions::default(), std::future::pending()).await.unwrap_err();
    assert!(refused.to_string().ends_with("so no API server calls its webhook for Pump"), "{refused}");
}

/// A tree whose child is in the bucket of another operator.
#[derive(Provisioner)]
#[provisioner(serial, owner = Foreign<ConfigMap>, crate = "crate")]
struct PumpOfConfig {
    #[provisioner(resource)]
    pump: Pump,
}

impl PumpOfConfig {
    fn pump(config: &ConfigMap) -> Pump {
        let rate = config.data.as_ref().and_then(|data| data.get("rate")).cloned();
        Pump::new("", PumpSpec { rate: rate.unwrap_or_default() })
    }
}

#[tokio::test(start_paused = true)]
async fn nats_u2_a_child_in_the_bucket_of_another_operator_is_written_there() {
    let sandbox = Sandbox::builder().start();
    let buckets = MemoryBuckets::default();
    let operator = Operator::new("configs").buckets(buckets.clone());
    let running = Running::start(&operator.controls::<Foreign<ConfigMap>, PumpOfConfig>(), sandbox.client());
    let mut config = ConfigMap { data: Some([("rate".to_owned(), "slow".to_owned())].into()), ..ConfigMap::default() };
    config.metadata.name = Some("web".to_owned());
    Api::<ConfigMap>::namespaced(sandbox.client(), "default").create(&Default::default(), &config).await.unwrap();
    let pumps = buckets.bucket("pumps");
    let found = until("the pump", async || pumps.get("default.web").await.unwrap()).await;
    let pump: Value = serde_json::from_slice(&found.value).unwrap();
    assert_eq!(pump["spec"]["rate"], "slow");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_verbs_of_an_operator_read_objects_in_buckets() {
    let scene = Scene::new();
    let running = scene.start();
    scene.put("slow");
    scene.is_available().await;
    running.stop().await;
    let why = async |name| scene.operator.why(scene.sandbox.client(), "pump", name, Some("default")).await;
    assert_eq!(why("web").await.unwrap().object, "Pump default/web");
    let absent = why("other").await.unwrap_err();
    assert_eq!(absent.to_string(), "Pump default/other not found");
    let hint = absent.hint().unwrap();
    assert!(hint.starts_with("`nats kv ls pumps` lists all keys"), "{hint}");

    let unconnected = Operator::new("pumps").controls::<Pump, PumpTree>();
    let refused = unconnected.why(scene.sandbox.client(), "pump", "web", Some("default")).await.unwrap_err();
    assert!(refused.hint().unwrap().starts_with("set NATS_URL"), "{refused}");
}

#[test]
fn nats_u5_an_operator_has_the_buckets_of_its_kinds_and_no_others() {
    let names = |operator: &Operator| {
        let buckets = operator.buckets_of_kinds();
        buckets.into_values().map(|of_kind| of_kind.bucket.name.into_owned()).collect::<Vec<_>>()
    };
    let operator = Operator::new("pumps");
    assert!(names(&operator).is_empty());
    assert_eq!(names(&operator.clone().uses::<Pump>()), ["pumps"]);
    let operator = operator.controls::<Pump, PumpTree>().controls::<Foreign<ConfigMap>, PumpOfConfig>();
    assert_eq!(names(&operator), ["pumps"]);
}
