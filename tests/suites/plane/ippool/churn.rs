//! Pods come and go, a CNI plugin allocates all the while, and every state of every pool is held against who lives.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use futures::{StreamExt as _, stream};
use ippool_api::{IPPool, IPPoolSpec, IpAllocation};
use k8s_openapi::{api::core::v1::Pod, jiff::Timestamp};
use kube::{
    Api, Client, Error, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt as _, watcher},
};
use serde_json::json;
use tokio::{task::JoinHandle, time::Instant};

/// How much there is of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) pools: usize,
    /// Addresses of each pool that Pods have which stay.
    pub(crate) settled: usize,
    /// Pods that come and go, each with an address.
    pub(crate) pods: usize,
    /// How many of these are replaced.
    pub(crate) replaced: usize,
}

/// How many requests are under way at a time.
const AT_ONCE: usize = 8;

/// The cluster beside the operator.
pub(crate) struct Churn {
    client: Client,
    namespace: String,
    size: Size,
    ledger: Arc<Mutex<Ledger>>,
    watch: Option<JoinHandle<()>>,
}

/// Who is known to be gone, and what the watch has shown.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Pods by reference, with the time of their end.
    ended: HashMap<String, Instant>,
    /// By pool: distance and Pod.
    shown: HashMap<String, BTreeMap<String, String>>,
    /// Allocations that were freed although their Pods live.
    pub(crate) freed_alive: Vec<String>,
    /// How long each orphan stayed.
    pub(crate) stayed: Vec<Duration>,
    /// The pools that said at some time that something was wrong, and what.
    pub(crate) complaints: Vec<String>,
    /// The pools that are ready.
    ready: HashSet<String>,
}

impl Ledger {
    fn see(&mut self, pool: &IPPool) {
        let now: BTreeMap<_, _> =
            pool.spec.allocations.iter().map(|(key, held)| (key.clone(), held.podref.clone())).collect();
        for ready in
            pool.status.iter().flat_map(|status| &status.standard.conditions).filter(|one| one.type_ == "Ready")
        {
            match ready.status.as_str() {
                "True" => _ = self.ready.insert(pool.name_any()),
                "False" => self.complaints.push(format!("{}: {} {}", pool.name_any(), ready.reason, ready.message)),
                _ => _ = self.ready.remove(&pool.name_any()),
            }
        }
        let before = self.shown.insert(pool.name_any(), now.clone()).unwrap_or_default();
        for (key, pod) in before.into_iter().filter(|(key, pod)| now.get(key) != Some(pod)) {
            match self.ended.get(&pod) {
                Some(end) => self.stayed.push(end.elapsed()),
                None => self.freed_alive.push(format!("{} {key} of {pod}", pool.name_any())),
            }
        }
    }

    /// The orphans that are still there.
    pub(crate) fn orphans(&self) -> usize {
        self.shown.values().flat_map(BTreeMap::values).filter(|pod| self.ended.contains_key(*pod)).count()
    }

    /// How many pools are ready.
    pub(crate) fn ready(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn longest(&self) -> Duration {
        self.stayed.iter().max().copied().unwrap_or_default()
    }
}

impl Churn {
    pub(crate) fn new(client: Client, namespace: &str, size: Size) -> Self {
        Self { client, namespace: namespace.to_owned(), size, ledger: Arc::default(), watch: None }
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap()
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn podref(&self, name: &str) -> String {
        format!("{}/{name}", self.namespace)
    }

    fn pool_of(&self, number: usize) -> String {
        format!("pool-{:03}", number % self.size.pools)
    }

    /// Makes all Pods, and the pools with their allocations; then watches.
    pub(crate) async fn begin(&mut self) {
        let stay = (0..self.size.pools).map(|number| format!("stays-{number}"));
        let names: Vec<_> = stay.chain((0..self.size.pods).map(|number| format!("pod-{number}"))).collect();
        stream::iter(&names).for_each_concurrent(AT_ONCE, |name| self.pod(name)).await;
        let pools = stream::iter(0..self.size.pools).map(|number| self.pool(number));
        let api = self.api::<IPPool>();
        pools
            .for_each_concurrent(AT_ONCE, async |pool| drop(api.create(&PostParams::default(), &pool).await.unwrap()))
            .await;
        let (ledger, api) = (self.ledger.clone(), self.api::<IPPool>());
        self.watch = Some(tokio::spawn(async move {
            // Without pauses a watch whose client has ended would spin, and its runtime could not end.
            let mut states = watcher(api, watcher::Config::default()).default_backoff().applied_objects().boxed();
            while let Some(state) = states.next().await {
                if let Ok(pool) = state {
                    ledger.lock().unwrap().see(&pool);
                }
            }
        }));
    }

    /// A Pod that runs, and has never been asked for its network.
    async fn pod(&self, name: &str) {
        let pod = json!({
            "metadata": {"name": name, "annotations": {"opgen.test/pod": "pending"}},
            "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
        });
        let pod: Pod = serde_json::from_value(pod).unwrap();
        self.api::<Pod>().create(&PostParams::default(), &pod).await.unwrap();
        let running = Patch::Merge(json!({"status": {"phase": "Running"}}));
        self.api::<Pod>().patch_status(name, &PatchParams::default(), &running).await.unwrap();
    }

    fn pool(&self, number: usize) -> IPPool {
        let held =
            |name: &str| IpAllocation { id: name.to_owned(), podref: self.podref(name), ifname: "net1".to_owned() };
        let settled = (1..=self.size.settled).map(|at| (at.to_string(), held(&format!("stays-{number}"))));
        let pods = (number..self.size.pods).step_by(self.size.pools).map(|pod| held(&format!("pod-{pod}")));
        let pods = pods.enumerate().map(|(at, held)| ((self.size.settled + 1 + at).to_string(), held));
        let spec = IPPoolSpec { range: format!("10.{number}.0.0/24"), allocations: settled.chain(pods).collect() };
        IPPool::new(&self.pool_of(number), spec)
    }

    /// Replaces Pods one after the other, some at a time: the old one is gone without a word to anybody, the new one gets an
    /// address as soon as there is one.
    pub(crate) async fn replace(&self) {
        let numbers = stream::iter(0..self.size.replaced);
        numbers.for_each_concurrent(AT_ONCE, |number| self.replace_one(number)).await;
    }

    async fn replace_one(&self, number: usize) {
        let (old, new) = (format!("pod-{number}"), format!("next-{number}"));
        self.ledger().ended.insert(self.podref(&old), Instant::now());
        self.api::<Pod>().delete(&old, &DeleteParams::default().grace_period(0)).await.unwrap();
        self.ledger().ended.insert(self.podref(&old), Instant::now());
        // The plugin asks for an address before the Pod runs, and before a watch may have shown it.
        self.pod(&new).await;
        while !self.allocate(&self.pool_of(number), &new).await {
            tokio::task::yield_now().await;
        }
    }

    /// All Pods that are there say once that they are well.
    pub(crate) async fn beat(&self) {
        let names = (0..self.size.replaced).map(|number| format!("next-{number}"));
        let names: Vec<_> = names.chain((0..self.size.pools).map(|number| format!("stays-{number}"))).collect();
        let condition = json!({"type": "Ready", "status": "True", "lastProbeTime": Timestamp::now()});
        let well = Patch::Merge(json!({"status": {"conditions": [condition]}}));
        let (api, params) = (self.api::<Pod>(), PatchParams::default());
        let beats = stream::iter(&names);
        beats
            .for_each_concurrent(AT_ONCE, async |name| drop(api.patch_status(name, &params, &well).await.unwrap()))
            .await;
    }

    /// As the plugin does it: reads the pool, takes the first free address, and writes if nobody else has written.
    async fn allocate(&self, pool: &str, pod: &str) -> bool {
        let api = self.api::<IPPool>();
        let read = api.get(pool).await.unwrap();
        let held = &read.spec.allocations;
        let Some(free) = (1..255).map(|at| at.to_string()).find(|at| !held.contains_key(at)) else { return false };
        let version = read.resource_version();
        let entry = json!({"id": pod, "podref": self.podref(pod), "ifname": "net1"});
        let operations = json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": version},
            {"op": "add", "path": format!("/spec/allocations/{free}"), "value": entry},
        ]);
        let patch = Patch::<()>::Json(serde_json::from_value(operations).unwrap());
        match api.patch(pool, &PatchParams::default(), &patch).await {
            Ok(_) => true,
            Err(Error::Api(status)) if [409, 422].contains(&status.code) => false,
            Err(error) => panic!("{error}"),
        }
    }
}

impl Drop for Churn {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.abort();
        }
    }
}
