//! A namespace with pools and Pods, and an operator for it alone.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt as _;
use ippool_api::{IPPool, IPPoolSpec, IpAllocation, OverlappingRangeIPReservation, OverlappingRangeIPReservationSpec};
use ippool_controller::{Options, World, operator_for};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt as _, watcher},
};
use opgen::{Managed, RunOptions};
use opgen_tests::{Access, Entries, Plane, wait};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::operator::{
    event::until_event_about,
    example::Example,
    install::apply_quietly,
    log,
    mirror::Namespaced,
    rest,
    site::{Running, Site},
};

pub(crate) const IPPOOL: Example = Example { name: "ippool", definition: "ippools.whereabouts.cni.cncf.io" };
const DEFINITIONS: [&str; 3] = [
    "nodeslicepools.whereabouts.cni.cncf.io",
    "overlappingrangeipreservations.whereabouts.cni.cncf.io",
    "network-attachment-definitions.k8s.cni.cncf.io",
];

/// The annotation that Multus writes.
const NETWORK_STATUS: &str = "k8s.v1.cni.cncf.io/network-status";

/// Far away in the time of a test.
pub(super) const NEVER: Duration = Duration::from_secs(3_600);

pub(super) struct Scene {
    pub(super) plane: Arc<Plane>,
    pub(super) namespace: String,
    pub(super) world: World,
    _running: Running,
}

impl Scene {
    pub(super) async fn new(plane: &Arc<Plane>, options: Options) -> Self {
        Self::with(plane, options, |client| client).await
    }

    /// Looks at everything so often.
    pub(super) async fn every(plane: &Arc<Plane>, interval: Duration) -> Self {
        Self::new(plane, Options { interval, ..Options::default() }).await
    }

    /// With an operator whose client is wrapped into another one.
    pub(super) async fn with(plane: &Arc<Plane>, options: Options, wrap: impl FnOnce(Client) -> Client) -> Self {
        let access = installed(plane).await;
        let (namespace, world) = (plane.namespace("pools").await, World::new(options));
        let limits = RunOptions::default().namespace(&namespace);
        let running = Site::run_with(&operator_for(&world), wrap(access.client()), limits);
        Self { plane: plane.clone(), namespace, world, _running: running }
    }

    /// With an operator for all namespaces, on a plane that is not shared.
    pub(super) async fn everywhere(plane: &Arc<Plane>) -> Self {
        let access = installed(plane).await;
        let world = World::new(Options { interval: NEVER, ..Options::default() });
        let running = Site::run_with(&operator_for(&world), access.client(), RunOptions::default());
        Self { plane: plane.clone(), namespace: plane.namespace("pools").await, world, _running: running }
    }

    pub(super) fn api<K: Namespaced>(&self) -> Api<K> {
        Api::namespaced(self.plane.client(), &self.namespace)
    }

    pub(super) async fn create<K: Namespaced>(&self, object: &K) -> K {
        self.api::<K>().create(&PostParams::default(), object).await.unwrap()
    }

    pub(super) async fn delete<K: Namespaced>(&self, name: &str) {
        self.api::<K>().delete(name, &DeleteParams::default().grace_period(0)).await.unwrap();
    }

    /// A Pod of the namespace, as allocations name it.
    pub(super) fn podref(&self, name: &str) -> String {
        format!("{}/{name}", self.namespace)
    }

    /// Makes a Pod that nobody starts.
    pub(super) async fn pod(&self, name: &str) {
        let pod = json!({
            "metadata": {"name": name, "annotations": {"opgen.test/pod": "pending"}},
            "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
        });
        self.create::<Pod>(&serde_json::from_value(pod).unwrap()).await;
    }

    /// Has a Pod run with addresses, as Multus would say it.
    pub(super) async fn runs(&self, name: &str, ips: &[&str]) {
        let network = json!([{"interface": "net1", "ips": ips}]).to_string();
        self.merge::<Pod>(name, &json!({"metadata": {"annotations": {NETWORK_STATUS: network}}})).await;
        self.pod_is(name, json!({"phase": "Running"})).await;
    }

    pub(super) async fn pod_is(&self, name: &str, status: Value) {
        let patch = Patch::Merge(json!({"status": status}));
        self.api::<Pod>().patch_status(name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub(super) async fn merge<K: Namespaced>(&self, name: &str, patch: &Value) {
        self.api::<K>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    /// Makes a pool with these allocations: distance and Pod.
    pub(super) async fn pool(&self, name: &str, allocations: &[(&str, String)]) -> IPPool {
        self.create(&pool(name, allocations)).await
    }

    /// Makes a reservation of an address for a Pod.
    pub(super) async fn reservation(&self, name: &str, podref: &str) {
        let spec = OverlappingRangeIPReservationSpec {
            containerid: String::new(),
            podref: podref.to_owned(),
            ifname: "net1".to_owned(),
        };
        self.create(&OverlappingRangeIPReservation::new(name, spec)).await;
    }

    /// Waits until a pool is Ready with this sentence.
    #[track_caller]
    pub(super) fn says(&self, pool: &str, message: &str) -> impl Future<Output = IPPool> {
        let (api, pool, message) = (self.api::<IPPool>(), pool.to_owned(), message.to_owned());
        async move {
            let what = format!("says: {message}");
            wait::until_object(&api, &pool, &what, |pool| {
                let generation = pool.metadata.generation;
                condition(pool, "Ready").is_some_and(|(_, _, said)| said == message)
                    && pool.status.as_ref().is_some_and(|status| status.standard.observed_generation == generation)
            })
            .await
        }
    }

    /// Waits until exactly these distances are allocated.
    #[track_caller]
    pub(super) fn holds(&self, pool: &str, keys: &[&str]) -> impl Future<Output = IPPool> {
        let (api, pool) = (self.api::<IPPool>(), pool.to_owned());
        let keys: Vec<_> = keys.iter().map(|key| (*key).to_owned()).collect();
        async move {
            let what = format!("holds {keys:?}");
            wait::until_object(&api, &pool, &what, |pool| pool.spec.allocations.keys().eq(&keys)).await
        }
    }

    /// Waits for an event about an object; gives its note.
    pub(super) async fn told(&self, name: &str, reason: &str) -> String {
        until_event_about(&self.api(), name, reason).await.note.unwrap_or_default()
    }

    /// What the operator has asked for in the namespace.
    pub(super) async fn asked(&self) -> Entries {
        self.plane.audit().await.by_account("ippool-system", "ippool").namespace(&self.namespace)
    }

    pub(super) async fn settled(&self) -> Entries {
        rest::settled(async || self.asked().await).await
    }

    /// The figures that Prometheus would see of the namespace or of all.
    pub(super) fn figure(&self, name: &str) -> Vec<String> {
        let text = self.world.metrics.text().unwrap();
        text.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect()
    }
}

/// Has all kinds there; gives the access of the operator.
pub(crate) async fn installed(plane: &Plane) -> Access {
    log::keep();
    let access = IPPOOL.install(plane).await;
    networks_are_defined(plane).await;
    for definition in DEFINITIONS {
        plane.until_established(definition).await;
    }
    access
}

/// The foreign kind is there, as who owns it would have made it.
pub(crate) async fn networks_are_defined(plane: &Plane) {
    apply_quietly(plane, &network_definition()).await;
}

/// A pool as a CNI plugin would write it.
pub(crate) fn pool(name: &str, allocations: &[(&str, String)]) -> IPPool {
    let allocation = |podref: &String| IpAllocation {
        id: format!("of-{podref}"),
        podref: podref.clone(),
        ifname: "net1".to_owned(),
    };
    let allocations: BTreeMap<_, _> =
        allocations.iter().map(|(key, podref)| ((*key).to_owned(), allocation(podref))).collect();
    IPPool::new(name, IPPoolSpec { range: "10.0.0.0/24".to_owned(), allocations })
}

/// Truth, reason and message of a condition.
pub(super) fn condition(pool: &IPPool, type_: &str) -> Option<(String, String, String)> {
    let conditions = &pool.status()?.standard.conditions;
    let held = conditions.iter().find(|condition| condition.type_ == type_)?;
    Some((held.status.clone(), held.reason.clone(), held.message.clone()))
}

/// All states of objects of a kind that a watch has shown, in their order.
pub(super) struct History<K> {
    states: Arc<Mutex<Vec<K>>>,
    task: JoinHandle<()>,
}

impl<K: Namespaced> History<K> {
    pub(super) fn follow(scene: &Scene) -> Self {
        let states = Arc::<Mutex<Vec<K>>>::default();
        let (api, seen) = (scene.api::<K>(), states.clone());
        let task = tokio::spawn(async move {
            let mut changes = watcher(api, watcher::Config::default()).default_backoff().applied_objects().boxed();
            while let Some(change) = changes.next().await {
                seen.lock().unwrap().extend(change.ok());
            }
        });
        Self { states, task }
    }

    /// What was shown of one object so far.
    pub(super) fn of(&self, name: &str) -> Vec<K> {
        self.states.lock().unwrap().iter().filter(|state| state.name_any() == name).cloned().collect()
    }
}

impl<K> Drop for History<K> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The definition of networks, as Multus installs it.
fn network_definition() -> String {
    let schema = json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"config": {"type": "string"}}}},
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "network-attachment-definitions.k8s.cni.cncf.io"},
        "spec": {
            "group": "k8s.cni.cncf.io", "scope": "Namespaced",
            "names": {
                "plural": "network-attachment-definitions", "singular": "network-attachment-definition",
                "kind": "NetworkAttachmentDefinition", "shortNames": ["net-attach-def"],
            },
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    })
    .to_string()
}
