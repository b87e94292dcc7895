//! `RemoteClusters`: simulates the clusters of the remote nodes of a program. When the program writes the record of a cluster, a
//! sandbox is started, and a second later the Secret with its kubeconfig is created.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use opgen_sandbox::{Sandbox, User, fault::Faults};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{observer::record_nodes, write_log::WriteLog};
use crate::{
    admin,
    object::{CLUSTER_RECORD, cluster_of, set_cluster},
};

/// The label of the Secrets that this simulation creates.
const LABEL: &str = "testing.opgen.dev/kubeconfig";

/// The end of the host names of all clusters.
const DOMAIN: &str = "clusters.test";

/// The time until a new cluster can be used.
const START: Duration = Duration::from_secs(1);

/// The time until the creation of a Secret is repeated.
const RETRY: Duration = Duration::from_secs(5);

/// How often the creation of a Secret is repeated, such as while its namespace does not exist.
const MAX_RETRIES: u32 = 1_000;

/// The clusters that a program has named in its records, by host name.
#[derive(Clone)]
pub(super) struct RemoteClusters {
    seed: u64,
    log: WriteLog,
    clusters: Arc<Mutex<BTreeMap<String, RemoteCluster>>>,
}

struct RemoteCluster {
    sandbox: Sandbox,
    /// The version before the program could write.
    base_version: u64,
    /// The keys of its Secret.
    keys: BTreeSet<String>,
}

/// The Secret that a record names.
#[derive(Clone, Deserialize)]
struct KubeconfigSecret {
    namespace: String,
    name: String,
    key: String,
}

impl RemoteClusters {
    pub(super) fn new(seed: u64, log: WriteLog) -> Self {
        Self { seed, log, clusters: Arc::default() }
    }

    /// Returns a client that starts a cluster for each record that it writes. `enclosing` is the host name of the cluster that it
    /// writes to; `None` for that of the program.
    pub(super) fn observe(&self, client: kube::Client, sandbox: &Sandbox, enclosing: Option<&str>) -> kube::Client {
        let (clusters, sandbox, enclosing) = (self.clone(), sandbox.clone(), enclosing.map(str::to_owned));
        record_nodes(client, self.log.clone(), move |body| {
            if let Some(secret) = secret_of_record(body) {
                let (clusters, sandbox, enclosing) = (clusters.clone(), sandbox.clone(), enclosing.clone());
                tokio::spawn(async move { clusters.start(&sandbox, enclosing.as_deref(), secret).await });
            }
        })
    }

    /// Starts the cluster of a Secret unless it runs, and creates the Secret next to the record.
    async fn start(self, enclosing: &Sandbox, enclosing_host: Option<&str>, secret: KubeconfigSecret) {
        let KubeconfigSecret { namespace, name, key } = secret;
        let host = format!("{name}.{namespace}.{}", enclosing_host.unwrap_or(DOMAIN));
        let is_new = !self.lock().contains_key(&host);
        if is_new {
            let log = self.log.clone();
            // With the same seed, objects of two clusters would have the same UID.
            let mut hasher = DefaultHasher::new();
            host.hash(&mut hasher);
            let sandbox = Sandbox::builder().seed(self.seed ^ hasher.finish()).workloads(true).cd_systems(true);
            let sandbox = sandbox.audit(move |record| log.record(record)).start();
            let cluster = RemoteCluster { base_version: u64::MAX, sandbox, keys: BTreeSet::new() };
            self.lock().insert(host.clone(), cluster);
        }
        sleep(START).await;
        let keys = {
            let mut clusters = self.lock();
            let Some(cluster) = clusters.get_mut(&host) else { return };
            if is_new {
                cluster.base_version = cluster.sandbox.version();
            }
            cluster.keys.insert(key);
            cluster.keys.clone()
        };
        let kubeconfig = kubeconfig(&host);
        let data: BTreeMap<String, String> = keys.into_iter().map(|key| (key, kubeconfig.clone())).collect();
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "stringData": data,
            "metadata": {"name": name, "namespace": namespace, "labels": {LABEL: "true"}},
        });
        let path = format!("/api/v1/namespaces/{namespace}/secrets/{name}");
        for _ in 0..MAX_RETRIES {
            // The program may create the Secret itself, or what it creates does.
            if admin::get(enclosing, &path).await.is_ok_and(|other| !is_kubeconfig(&other)) {
                return;
            }
            if admin::apply(enclosing, &object, &[]).await.is_ok() {
                return;
            }
            sleep(RETRY).await;
        }
    }

    /// Returns a client for the cluster of a kubeconfig, whose calls pass through the faults; `None` for a cluster that is none of
    /// these.
    pub(super) fn client(&self, config: &kube::Config, faults: &Faults) -> Option<kube::Client> {
        let host = config.cluster_url.host()?;
        let sandbox = self.lock().get(host)?.sandbox.clone();
        // The rights of the program are those of the kubeconfig.
        let client = sandbox.client_in_same_life(User::admin("program"), faults);
        Some(self.observe(client, &sandbox, Some(host)))
    }

    /// Returns the objects in all clusters that were created after the start of their cluster, each with the name of its cluster.
    pub(super) fn objects(&self) -> Vec<Value> {
        let clusters = self.lock();
        let objects = clusters.iter().flat_map(|(host, cluster)| {
            let objects = cluster.sandbox.objects(cluster.base_version);
            objects.into_iter().map(move |mut object| {
                set_cluster(&mut object, host);
                object
            })
        });
        objects.collect()
    }

    /// Returns the sandbox that an object of a snapshot is in; `None` if it is in the cluster of the program.
    pub(super) fn sandbox_of(&self, object: &Value) -> Option<Sandbox> {
        self.lock().get(cluster_of(object)?).map(|cluster| cluster.sandbox.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, RemoteCluster>> {
        self.clusters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether an object is a Secret with a kubeconfig of such a cluster.
pub(super) fn is_kubeconfig(object: &Value) -> bool {
    object["kind"] == "Secret" && object["metadata"]["labels"].get(LABEL).is_some()
}

/// Returns the Secret that a record names; `None` for another object.
fn secret_of_record(body: &[u8]) -> Option<KubeconfigSecret> {
    let object: Value = serde_json::from_slice(body).ok()?;
    serde_json::from_str(object["metadata"]["annotations"][CLUSTER_RECORD].as_str()?).ok()
}

fn kubeconfig(host: &str) -> String {
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "trial",
        "clusters": [{"name": "trial", "cluster": {"server": format!("https://{host}")}}],
        "users": [{"name": "trial", "user": {"token": "trial"}}],
        "contexts": [{"name": "trial", "context": {"cluster": "trial", "user": "trial"}}],
    });
    kubeconfig.to_string()
}
