//! `ConnectedClusters`: the other clusters to which a controller is connected.

use super::{
    cluster::{ClusterEvents, ConnectedCluster, EventTarget},
    connection::ClusterConnection,
    connector::ClusterConnector,
};
use crate::{
    cache::{ObjectKey, Uid},
    client::Client,
    counters::Counters,
    engine::controller_state::{ControllerState, RemoteCluster, RemoteClusters, RemoteNode},
    environment::Environment,
    error::Result,
    event::EventRecorder,
    informer::{child_store::ChildStores, watch::WatchedRevisions},
    metrics::controller::ControllerMetrics,
    shape::{Shape, without_keys},
};
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, Weak},
};

/// What the states of a controller in all clusters have in common.
#[derive(Clone)]
struct ClusterFacts {
    operator: String,
    namespace: String,
    environment: Environment,
    recorder: EventRecorder,
    counters: Counters,
    metrics: Arc<ControllerMetrics>,
    connector: ClusterConnector,
}

/// The clusters to which a controller is connected.
pub(crate) struct ConnectedClusters {
    facts: ClusterFacts,
    events: EventTarget,
    clusters: Mutex<BTreeMap<ClusterKey, Arc<ConnectedCluster>>>,
    /// Held while a connection is opened.
    opening: tokio::sync::Mutex<()>,
}

impl ClusterConnector {
    /// Adds the other clusters of a tree to the state of its controller, if it has nodes in such; none is connected yet.
    pub(crate) fn add_clusters(
        &self,
        state: &mut ControllerState,
        tree: &'static Shape,
    ) -> Option<Arc<ConnectedClusters>> {
        let clusters = tree.has_remote_nodes().then(|| {
            Arc::new(ConnectedClusters::new(ClusterFacts {
                operator: state.operator.clone(),
                namespace: state.namespace.clone(),
                environment: state.environment.clone(),
                recorder: state.recorder.clone(),
                counters: state.counters.clone(),
                metrics: state.metrics.clone(),
                connector: self.clone(),
            }))
        });
        state.remote_clusters = clusters.clone().map(|clusters| clusters as Arc<dyn RemoteClusters>);
        clusters
    }
}

impl ConnectedClusters {
    /// Returns the clusters of a controller, none of which is connected.
    fn new(facts: ClusterFacts) -> Self {
        Self::with_events(facts, EventTarget::default())
    }

    fn with_events(facts: ClusterFacts, events: EventTarget) -> Self {
        Self { facts, events, clusters: Mutex::default(), opening: tokio::sync::Mutex::default() }
    }

    /// Sets the controller, which handles the changes in the clusters.
    pub(crate) fn set_events(&self, events: Weak<dyn ClusterEvents>) {
        self.events.set(events);
    }

    /// Returns the state of the controller in a cluster.
    fn state_in(&self, client: Client, tree: &'static Shape) -> ControllerState {
        let children = ChildStores::new(&[tree]).of_tree(tree);
        let watches: Vec<_> = children.values().map(|children| children.clone() as Arc<dyn WatchedRevisions>).collect();
        let nested = || Arc::new(Self::with_events(self.facts.clone(), self.events.clone())) as Arc<dyn RemoteClusters>;
        let ClusterFacts { operator, namespace, environment, recorder, counters, metrics, .. } = self.facts.clone();
        ControllerState {
            client,
            operator,
            namespace,
            namespaces: Default::default(),
            environment,
            recorder,
            children,
            targets: Default::default(),
            graph: Default::default(),
            referrers: Default::default(),
            own_writes: Default::default(),
            own_write_events: Default::default(),
            chains: Default::default(),
            owner_states: Default::default(),
            counters,
            metrics,
            watches: OnceLock::from(watches),
            shards: None,
            remote_clusters: tree.has_remote_nodes().then(nested),
            tree_harness: None,
        }
    }

    async fn connect(&self, node: RemoteNode<'_>, client: &Client) -> Result<Option<Arc<ConnectedCluster>>> {
        let key = key_of(node);
        let is_current = |cluster: &Arc<ConnectedCluster>| {
            cluster.connection.is_of(node.kubeconfig) && !cluster.connection.is_replaced()
        };
        let connected = || self.clusters.lock().get(&key).filter(|cluster| is_current(cluster)).cloned();
        if let Some(cluster) = connected().filter(|_| !node.is_removed) {
            return Ok(Some(cluster));
        }
        let _opening = self.opening.lock().await;
        if let Some(cluster) = connected() {
            // Whether a cluster still exists is decided by its Secret, unless it has just answered.
            let exists = !node.is_removed || cluster.connection.refresh().await? || cluster.is_proven();
            if exists && is_current(&cluster) {
                return Ok(Some(cluster));
            }
        }
        let users = self.clusters.lock().remove(&key).map(|cluster| cluster.users()).unwrap_or_default();
        let Some(connection) = ClusterConnection::open(node.kubeconfig, client, &self.facts.connector).await? else {
            return Ok(None);
        };
        let state = Arc::new(self.state_in(connection.client(), node.tree));
        let secret = node.kubeconfig.clone();
        let cluster = Arc::new(ConnectedCluster::new(secret, connection, state, users, &self.events));
        self.clusters.lock().insert(key, cluster.clone());
        Ok(Some(cluster))
    }

    /// Removes users of clusters, and the clusters without any.
    fn remove_users(&self, is_removed: impl Fn(&ClusterKey, &Uid, &str, &ObjectKey) -> bool) {
        let mut dropped = Vec::new();
        self.clusters.lock().retain(|key, cluster| {
            let is_used = cluster.remove_users(|uid, node, owner| is_removed(key, uid, node, owner));
            if !is_used {
                dropped.push(cluster.clone());
            }
            is_used
        });
    }
}

/// The path of a remote node without keys, and namespace and name of the Secret.
type ClusterKey = (String, (String, String));

fn key_of(node: RemoteNode<'_>) -> ClusterKey {
    (without_keys(node.path), (node.kubeconfig.namespace.clone(), node.kubeconfig.name.clone()))
}

impl RemoteClusters for ConnectedClusters {
    fn states(&self) -> Vec<Arc<ControllerState>> {
        self.clusters.lock().values().map(|cluster| cluster.state.clone()).collect()
    }

    fn connect<'a>(
        &'a self,
        node: RemoteNode<'a>,
        client: &'a Client,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn RemoteCluster>>>> {
        async move {
            let cluster = Self::connect(self, node, client).await?;
            Ok(cluster.map(|cluster| {
                cluster.add_user((&node.owner.uid, &node.owner.key), node.path);
                cluster as Arc<dyn RemoteCluster>
            }))
        }
        .boxed()
    }

    fn release(&self, node: RemoteNode<'_>) {
        let of_node = key_of(node);
        self.remove_users(|key, uid, path, _| *key == of_node && *uid == node.owner.uid && path == node.path);
    }

    fn forget(&self, owner: &ObjectKey) {
        for state in self.states() {
            state.forget_owner(owner);
            if let Some(nested) = &state.remote_clusters {
                nested.forget(owner);
            }
        }
        self.remove_users(|_, _, _, user| user == owner);
    }
}
