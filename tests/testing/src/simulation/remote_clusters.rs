//! `RemoteClusters`: simulates other clusters for an operator. When the operator writes the record of a cluster (an object that names the
//! Secret with its kubeconfig), a sandbox is started, and a second later that Secret is created.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::Method;
use opgen_sandbox::{Builder, Sandbox};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    observer::record_nodes,
    remote_connection::{Connections, Credentials},
    write_log::WriteLog,
};
use crate::{
    admin,
    object::{BACKGROUND, CLUSTER_RECORD, cluster_of, set_cluster, text},
    path::object_path,
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
pub(crate) struct RemoteClusters {
    seed: u64,
    log: WriteLog,
    /// Whether a cluster ends with its last record, if the record says so.
    may_end: bool,
    clusters: Arc<Mutex<BTreeMap<String, RemoteCluster>>>,
    /// The connections to all clusters.
    pub(super) connections: Connections,
}

/// A running cluster.
pub(super) struct RemoteCluster {
    pub(super) sandbox: Sandbox,
    /// What distinguishes its credentials from all others.
    pub(super) credentials: Credentials,
    /// The cluster with the record, and the Secret that the record names.
    pub(super) enclosing: Sandbox,
    pub(super) secret: KubeconfigSecret,
    /// Whether the cluster ends when the program deletes its last record, together with the objects that the program has left there.
    ends_with_record: bool,
    /// Whether the program has deleted a record.
    is_record_deleted: bool,
    /// The version before the program could write.
    pub(super) base_version: u64,
    /// The keys of its Secret.
    keys: BTreeSet<String>,
}

/// The Secret that a record names.
#[derive(Clone, Deserialize)]
pub(super) struct KubeconfigSecret {
    pub(super) namespace: String,
    pub(super) name: String,
    key: String,
}

impl KubeconfigSecret {
    /// Returns whether both Secrets, which may have different keys, are for one cluster: they have the same namespace and name.
    fn is_same_cluster(&self, other: &Self) -> bool {
        (&self.namespace, &self.name) == (&other.namespace, &other.name)
    }
}

impl RemoteCluster {
    /// Returns the Secret with the kubeconfig of the cluster at `host`, under each key that a record has named.
    pub(super) fn secret_object(&self, host: &str) -> Value {
        let kubeconfig = self.credentials.kubeconfig(host);
        let data: BTreeMap<&String, &String> = self.keys.iter().map(|key| (key, &kubeconfig)).collect();
        json!({
            "apiVersion": "v1", "kind": "Secret", "stringData": data,
            "metadata": {
                "name": self.secret.name, "namespace": self.secret.namespace, "labels": {LABEL: "true"},
            },
        })
    }
}

impl RemoteClusters {
    pub(super) fn new(seed: u64, log: WriteLog, may_end: bool) -> Self {
        Self { seed, log, may_end, clusters: Arc::default(), connections: Connections::default() }
    }

    /// Returns a client that watches for records of clusters: objects by which the operator names the Secret with the kubeconfig of another
    /// cluster. It starts a sandbox for each record that it writes, and notes the deletion of records. `sandbox` is the cluster that it
    /// calls, and `enclosing` the host name of that; `None` for the cluster of the program.
    pub(super) fn observe(&self, client: kube::Client, sandbox: &Sandbox, enclosing: Option<&str>) -> kube::Client {
        let (clusters, sandbox, enclosing) = (self.clone(), sandbox.clone(), enclosing.map(str::to_owned));
        record_nodes(client, self.log.clone(), move |method, path, body| {
            if *method == Method::DELETE {
                clusters.note_deletion(path);
            } else if let Some((secret, ends_with_record)) = secret_of_record(body) {
                clusters.end_unused();
                let (clusters, sandbox, enclosing) = (clusters.clone(), sandbox.clone(), enclosing.clone());
                tokio::spawn(
                    async move { clusters.start(&sandbox, enclosing.as_deref(), secret, ends_with_record).await },
                );
            }
        })
    }

    /// Returns the builder of a sandbox for a further cluster. Its seed derives from `key`, which must differ for each sandbox: objects in
    /// sandboxes with equal seeds would have equal UIDs.
    pub(super) fn builder(&self, key: impl Hash) -> Builder {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let (log, seed) = (self.log.clone(), self.seed ^ hasher.finish());
        let builder = Sandbox::builder().seed(seed).workloads(true).cd_systems(true);
        builder.audit(move |record| log.record(record))
    }

    /// Starts a sandbox as the cluster whose kubeconfig a record expects in a Secret, unless it runs, and creates the Secret a second later
    /// in the cluster with the record, `enclosing`. `enclosing_host` is the host name of that; `None` for the cluster of the program.
    async fn start(
        self,
        enclosing: &Sandbox,
        enclosing_host: Option<&str>,
        secret: KubeconfigSecret,
        ends_with_record: bool,
    ) {
        let KubeconfigSecret { namespace, name, key } = secret.clone();
        let host = format!("{name}.{namespace}.{}", enclosing_host.unwrap_or(DOMAIN));
        let is_new = !self.lock().contains_key(&host);
        if is_new {
            let credentials = self.connections.new_cluster(&host);
            let sandbox = self.builder((&host, credentials)).start();
            let cluster = RemoteCluster {
                sandbox,
                credentials,
                enclosing: enclosing.clone(),
                secret,
                ends_with_record,
                is_record_deleted: false,
                // A snapshot has no objects of the cluster until it is ready.
                base_version: u64::MAX,
                keys: BTreeSet::new(),
            };
            self.lock().insert(host.clone(), cluster);
        }
        sleep(START).await;
        {
            let mut clusters = self.lock();
            let Some(cluster) = clusters.get_mut(&host) else { return };
            if is_new {
                cluster.base_version = cluster.sandbox.version();
            }
            cluster.keys.insert(key);
            cluster.ends_with_record |= ends_with_record;
        }
        if enclosing_host.is_some() {
            create_namespace(enclosing, &namespace).await;
        }
        self.publish(&host).await;
    }

    /// Writes the Secret with the kubeconfig of a cluster, with its current credentials, and repeats this some time until it succeeds. Does
    /// nothing if the cluster has ended, or if a Secret of another client has the name.
    pub(super) async fn publish(&self, host: &str) {
        for _ in 0..MAX_RETRIES {
            let (enclosing, object) = {
                let clusters = self.lock();
                let Some(cluster) = clusters.get(host) else { return };
                (cluster.enclosing.clone(), cluster.secret_object(host))
            };
            let path = object_path(&object, &[]);
            // The program, or a controller of what it creates, may have created the Secret itself.
            if admin::get(&enclosing, &path).await.is_ok_and(|other| !is_kubeconfig(&other)) {
                return;
            }
            if admin::apply(&enclosing, &object, &[]).await.is_ok() {
                return;
            }
            sleep(RETRY).await;
        }
    }

    /// Starts an empty cluster in place of one that has ended, with the same host name, if a record still names its Secret.
    pub(super) async fn start_again(&self, host: &str, ended: &RemoteCluster) {
        let objects = ended.enclosing.objects(0);
        let record = objects.iter().filter_map(secret_of_object);
        let record = record.into_iter().find(|(secret, _)| secret.is_same_cluster(&ended.secret));
        let Some((secret, ends_with_record)) = record else { return };
        let prefix = format!("{}.{}.", secret.name, secret.namespace);
        let enclosing_host = host.strip_prefix(&prefix).filter(|enclosing| *enclosing != DOMAIN);
        self.clone().start(&ended.enclosing, enclosing_host, secret, ends_with_record).await;
    }

    /// Returns whether a path is that of the Secret with the kubeconfig of a cluster.
    pub(crate) fn has_secret(&self, path: &str) -> bool {
        self.lock().iter().any(|(host, cluster)| object_path(&cluster.secret_object(host), &[]) == path)
    }

    /// Notes for each cluster whether the object at `path`, which the program deletes now, is a record (a ConfigMap) that names its Secret.
    fn note_deletion(&self, path: &str) {
        for cluster in self.lock().values_mut() {
            let objects = cluster.enclosing.objects(0);
            cluster.is_record_deleted |= objects.iter().any(|object| {
                path.ends_with(&format!("/configmaps/{}", text(object, "/metadata/name")))
                    && secret_of_object(object).is_some_and(|(secret, _)| secret.is_same_cluster(&cluster.secret))
            });
        }
    }

    /// Ends the clusters whose last record the program has deleted, if the record says that its cluster ends with it, and the clusters
    /// nested in them. Does nothing in a run whose clusters must not end.
    fn end_unused(&self) {
        if !self.may_end {
            return;
        }
        let mut clusters = self.lock();
        let is_used = |cluster: &RemoteCluster| {
            let objects = cluster.enclosing.objects(0);
            objects.iter().filter_map(secret_of_object).any(|(secret, _)| secret.is_same_cluster(&cluster.secret))
        };
        let ended = clusters
            .iter()
            .filter(|(_, cluster)| cluster.ends_with_record && cluster.is_record_deleted && !is_used(cluster));
        let ended: Vec<_> = ended.map(|(host, _)| host.clone()).collect();
        clusters.retain(|host, _| !ended.iter().any(|ended| host == ended || is_inside(host, ended)));
    }

    /// Returns the objects in all running clusters that were written after the start of their cluster, each with the host name of its
    /// cluster.
    pub(super) fn objects(&self) -> Vec<Value> {
        self.end_unused();
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

    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, RemoteCluster>> {
        self.clusters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates the namespace for the Secret of a nested cluster, as the system that makes the nested cluster would. Ignores that it may exist.
pub(super) async fn create_namespace(enclosing: &Sandbox, name: &str) {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let _ = admin::create(enclosing, &namespace, &[]).await;
}

/// Returns whether the cluster with the host name `host` is nested in the one with the host name `other`.
pub(super) fn is_inside(host: &str, other: &str) -> bool {
    host.ends_with(&format!(".{other}"))
}

/// Returns whether an object is a Secret with a kubeconfig that this simulation has created.
pub(super) fn is_kubeconfig(object: &Value) -> bool {
    object["kind"] == "Secret" && object["metadata"]["labels"].get(LABEL).is_some()
}

/// Returns the Secret that a record, in the body of a request, names, and whether the cluster ends with the record; `None` for another
/// object.
fn secret_of_record(body: &[u8]) -> Option<(KubeconfigSecret, bool)> {
    secret_of_object(&serde_json::from_slice(body).ok()?)
}

/// Returns the same as [`secret_of_record`] for an object.
fn secret_of_object(object: &Value) -> Option<(KubeconfigSecret, bool)> {
    let annotations = &object["metadata"]["annotations"];
    let secret = serde_json::from_str(annotations.get(CLUSTER_RECORD)?.as_str()?).ok()?;
    Some((secret, annotations.get(BACKGROUND).is_some()))
}
