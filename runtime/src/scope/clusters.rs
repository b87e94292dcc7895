//! `ConnectedClusters`: the other clusters to which a controller is connected.

use super::{
    cluster::{ClusterEvents, ConnectedCluster, EventTarget},
    connection::ClusterConnection,
    connector::ClusterConnector,
    kubeconfig::KubeconfigSecret,
};
use crate::{
    cache::{ObjectKey, Uid},
    client::Client,
    engine::controller_state::{ControllerFacts, ControllerState, RemoteCluster, RemoteClusters, RemoteNode},
    error::Result,
    informer::{child_store::ChildStores, watch::WatchedRevisions},
    shape::{Shape, without_keys},
};
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, Weak},
};

/// The clusters to which a controller is connected.
pub(crate) struct ConnectedClusters {
    facts: ControllerFacts,
    connector: ClusterConnector,
    events: EventTarget,
    clusters: Mutex<BTreeMap<ClusterKey, Arc<ConnectedCluster>>>,
    /// Held while a connection is opened.
    opening: tokio::sync::Mutex<()>,
}

/// The path of a remote node without keys, and the Secret with the kubeconfig.
type ClusterKey = (String, KubeconfigSecret);

impl ConnectedClusters {
    /// Returns the clusters of a controller, none of which is connected; `None` if its tree has no nodes in other clusters.
    pub(crate) fn of_tree(
        tree: &'static Shape,
        facts: &ControllerFacts,
        connector: &ClusterConnector,
    ) -> Option<Arc<Self>> {
        Self::with_events(tree, (facts, connector), EventTarget::default())
    }

    fn with_events(
        tree: &'static Shape,
        (facts, connector): (&ControllerFacts, &ClusterConnector),
        events: EventTarget,
    ) -> Option<Arc<Self>> {
        tree.has_remote_nodes().then(|| {
            Arc::new(Self {
                facts: facts.clone(),
                connector: connector.clone(),
                events,
                clusters: Mutex::default(),
                opening: tokio::sync::Mutex::default(),
            })
        })
    }

    /// Sets the controller, which handles the changes in the clusters.
    pub(crate) fn set_events(&self, events: Weak<dyn ClusterEvents>) {
        self.events.set(events);
    }

    /// Returns the state of the controller in a cluster.
    fn state_in(&self, client: Client, tree: &'static Shape) -> ControllerState {
        let children = ChildStores::new(&[tree]).of_tree(tree);
        let watches: Vec<_> = children.values().map(|children| children.clone() as Arc<dyn WatchedRevisions>).collect();
        let nested = Self::with_events(tree, (&self.facts, &self.connector), self.events.clone());
        ControllerState {
            children,
            watches: OnceLock::from(watches),
            remote_clusters: nested.map(|nested| nested as Arc<dyn RemoteClusters>),
            ..ControllerState::new(client, self.facts.clone())
        }
    }

    async fn connect(&self, node: RemoteNode<'_>, client: &Client) -> Result<Option<Arc<ConnectedCluster>>> {
        let key = key_of(node);
        let connected = || {
            let clusters = self.clusters.lock();
            clusters.get(&key).filter(|cluster| !cluster.connection.is_replaced()).cloned()
        };
        if let Some(cluster) = connected().filter(|_| !node.is_removed) {
            return Ok(Some(cluster));
        }
        let _opening = self.opening.lock().await;
        if let Some(cluster) = connected() {
            // Whether a cluster still exists is decided by its Secret, unless it has just answered.
            let exists = !node.is_removed || cluster.connection.refresh().await? || cluster.has_answered();
            if exists && !cluster.connection.is_replaced() {
                return Ok(Some(cluster));
            }
        }
        let opened = ClusterConnection::open(node.kubeconfig, client, &self.connector).await?;
        let Some(connection) = opened else { return Ok(None) };
        let state = Arc::new(self.state_in(connection.client(), node.tree));
        let users = self.clusters.lock().get(&key).map(|cluster| cluster.users()).unwrap_or_default();
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

fn key_of(node: RemoteNode<'_>) -> ClusterKey {
    (without_keys(node.path), node.kubeconfig.clone())
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
            let Some(cluster) = Self::connect(self, node, client).await? else { return Ok(None) };
            if cluster.add_user((&node.owner.uid, &node.owner.key), node.path) {
                // Before, the node may have used the same cluster by another key or URL.
                let of_node = key_of(node);
                self.remove_users(|key, uid, path, _| {
                    let is_earlier = *key != of_node && key.1.is_of_same_cluster(&of_node.1);
                    is_earlier && *uid == node.owner.uid && path == node.path
                });
            }
            Ok(Some(cluster as Arc<dyn RemoteCluster>))
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
