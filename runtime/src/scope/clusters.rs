//! `ConnectedClusters`: the other clusters to which a controller is connected.

use super::{
    cluster::ConnectedCluster,
    connection::ClusterConnection,
    connector::ClusterConnector,
    events::{ClusterEvents, EventTarget},
    kubeconfig::KubeconfigSecret,
    registration_watch,
};
use crate::{
    cache::{ObjectKey, ResourceVersion, Uid},
    client::Client,
    counters::Counters,
    engine::controller_state::{ControllerFacts, ControllerState, RemoteCluster, RemoteClusters, RemoteNode},
    error::Result,
    informer::{child_store::ChildStores, namespaces::Namespaces, watch::WatchedRevisions},
    metrics::clusters::ClusterValues,
    shape::{Shape, without_keys},
    tasks::Tasks,
};
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, Weak},
};
use tokio::sync::OwnedMutexGuard;

/// The clusters to which a controller is connected.
pub(crate) struct ConnectedClusters {
    facts: ControllerFacts,
    connector: ClusterConnector,
    events: EventTarget,
    /// The name of the cluster that has the Secrets; `None` for the operator's cluster.
    outer: Option<String>,
    clusters: Mutex<BTreeMap<ClusterKey, Arc<ConnectedCluster>>>,
    /// The locks that are held while connections are opened, by their cluster.
    opening: Mutex<BTreeMap<ClusterKey, Weak<tokio::sync::Mutex<()>>>>,
    /// The watches of registrations with CD systems. Their Secrets are in the operator's cluster, so nested clusters have none.
    registrations: Option<RegistrationWatches>,
}

/// The watches of registrations with CD systems.
struct RegistrationWatches {
    tree: &'static Shape,
    namespaces: Namespaces,
    clusters: Weak<ConnectedClusters>,
    /// Ends the watches when it is dropped; unset until a cluster is connected.
    running: OnceLock<Tasks>,
}

impl RegistrationWatches {
    /// Starts the watches of the Secrets, unless they run already. `client` is the client of the operator's cluster.
    fn start(&self, client: &Client, counters: &Counters) {
        self.running.get_or_init(|| {
            let clusters = self.clusters.clone();
            let on_change = move |secret: &ObjectKey, version: Option<&ResourceVersion>| {
                if let Some(clusters) = clusters.upgrade() {
                    clusters.on_registration_change(secret, version);
                }
            };
            registration_watch::start(self.tree, client, &self.namespaces, &(Arc::new(on_change) as _), counters)
        });
    }
}

/// A cluster, and whether the node that uses it did not use it before.
type ClusterUse = (Arc<ConnectedCluster>, bool);

/// The connection of a remote node: all items of a keyed node use the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ClusterKey {
    /// The path of the node, without keys.
    node_path: String,
    secret: KubeconfigSecret,
}

impl ClusterKey {
    fn of(node: RemoteNode<'_>) -> Self {
        Self { node_path: without_keys(node.path), secret: node.kubeconfig.clone() }
    }
}

impl ConnectedClusters {
    /// Returns the other clusters of a controller. None is connected yet. `None` if the tree of the controller has no remote nodes.
    pub(crate) fn of_tree(
        tree: &'static Shape,
        facts: &ControllerFacts,
        connector: &ClusterConnector,
        namespaces: &Namespaces,
    ) -> Option<Arc<Self>> {
        tree.has_remote_nodes().then(|| {
            Arc::new_cyclic(|clusters| {
                let (namespaces, clusters) = (namespaces.clone(), clusters.clone());
                let watches = RegistrationWatches { tree, namespaces, clusters, running: OnceLock::new() };
                let registrations = Some(watches).filter(|_| !tree.remote_applications().is_empty());
                Self { registrations, ..Self::within(None, facts, connector, EventTarget::default()) }
            })
        })
    }

    /// Returns an empty set of connections. It is for remote nodes whose kubeconfig Secrets are in the cluster `outer`; `None` for the
    /// operator's cluster.
    fn within(
        outer: Option<String>,
        facts: &ControllerFacts,
        connector: &ClusterConnector,
        events: EventTarget,
    ) -> Self {
        Self {
            facts: facts.clone(),
            connector: connector.clone(),
            events,
            outer,
            clusters: Mutex::default(),
            opening: Mutex::default(),
            registrations: None,
        }
    }

    /// Sets the controller that gets the events of the clusters. It exists only after the clusters.
    pub(crate) fn set_events(&self, events: Weak<dyn ClusterEvents>) {
        self.events.set(events);
    }

    /// Returns the name of a cluster in metrics: its Secret as `namespace/name`, for a nested cluster after the name of the outer cluster.
    fn name_of(&self, KubeconfigSecret { namespace, name, .. }: &KubeconfigSecret) -> String {
        match &self.outer {
            Some(outer) => format!("{outer} > {namespace}/{name}"),
            None => format!("{namespace}/{name}"),
        }
    }

    /// Returns the state of the controller in the cluster `name`: the client, and empty caches for the child objects of `tree`. If the tree
    /// has nested remote nodes, the state also has an empty set of connections to their clusters.
    fn state_in(&self, name: String, client: Client, tree: &'static Shape) -> ControllerState {
        let children = ChildStores::in_remote_cluster(tree).of_tree(tree);
        let watches: Vec<_> = children.values().map(|children| children.clone() as Arc<dyn WatchedRevisions>).collect();
        let nested = || Arc::new(Self::within(Some(name), &self.facts, &self.connector, self.events.clone()));
        ControllerState {
            children,
            watches: OnceLock::from(watches),
            remote_clusters: tree.has_remote_nodes().then(|| nested() as Arc<dyn RemoteClusters>),
            ..ControllerState::new(client, self.facts.clone())
        }
    }

    /// Returns the connected cluster of a key; `None` if there is none, or if its Secret names another cluster by now.
    fn connected(&self, key: &ClusterKey) -> Option<Arc<ConnectedCluster>> {
        let clusters = self.clusters.lock();
        clusters.get(key).filter(|cluster| !cluster.connection.is_replaced()).cloned()
    }

    /// Returns the connected cluster of a node, and records the node as its user, so that another pass does not drop the cluster. Also
    /// returns whether this use is new. `None` if the cluster is not connected.
    fn use_connected(&self, node: RemoteNode<'_>) -> Option<ClusterUse> {
        let clusters = self.clusters.lock();
        let cluster = clusters.get(&ClusterKey::of(node)).filter(|cluster| !cluster.connection.is_replaced())?;
        Some((cluster.clone(), cluster.add_user(&node.owner.uid, &node.owner.key, node.path)))
    }

    /// Locks the opening of connections to one cluster: passes that need the same cluster wait until the guard is dropped. Each cluster has
    /// a lock of its own, since opening a connection may run a slow program for the credentials, or read from a slow outer cluster.
    async fn lock_opening(&self, key: &ClusterKey) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.opening.lock();
            // Locks that nobody holds or waits for are removed.
            locks.retain(|_, lock| lock.strong_count() > 0);
            let lock = locks.get(key).and_then(Weak::upgrade).unwrap_or_default();
            locks.insert(key.clone(), Arc::downgrade(&lock));
            lock
        };
        lock.lock_owned().await
    }

    /// Returns the cluster of a remote node, and connects to it first if necessary. `None` if the Secret with the kubeconfig does not
    /// exist.
    ///
    /// # Errors
    /// A yield if the Secret has no usable kubeconfig. The error of the call that reads the Secret.
    async fn find_or_connect(&self, node: RemoteNode<'_>, client: &Client) -> Result<Option<ClusterUse>> {
        // A node that is removed first has to know whether its cluster still exists.
        if !node.is_removed
            && let Some(used) = self.use_connected(node)
        {
            return Ok(Some(used));
        }
        let key = ClusterKey::of(node);
        let _opening = self.lock_opening(&key).await;
        if let Some(cluster) = self.connected(&key) {
            // Another pass may have connected meanwhile. For a node that is removed, the cluster exists if its Secret exists or if it
            // answers.
            let exists = !node.is_removed || cluster.connection.refresh().await? || cluster.has_answered();
            if exists && let Some(used) = self.use_connected(node) {
                return Ok(Some(used));
            }
        }
        let opened = ClusterConnection::open(node.kubeconfig, client, &self.connector).await?;
        let Some(connection) = opened else { return Ok(None) };
        let name = self.name_of(node.kubeconfig);
        let series = self.connector.series(&name);
        let state = Arc::new(self.state_in(name, connection.client(&series), node.tree));
        let secret = node.kubeconfig.clone();
        let mut clusters = self.clusters.lock();
        let users = clusters.get(&key).map(|cluster| cluster.users()).unwrap_or_default();
        let cluster = Arc::new(ConnectedCluster::new(secret, connection, series, state, users, &self.events));
        let is_new = cluster.add_user(&node.owner.uid, &node.owner.key, node.path);
        clusters.insert(key, cluster.clone());
        drop(clusters);
        if let Some(registrations) = &self.registrations {
            registrations.start(client, &self.facts.counters);
        }
        Ok(Some((cluster, is_new)))
    }

    /// Removes the users that `is_removed` accepts from all clusters, and drops the connections to clusters that have no users left.
    fn remove_users(&self, is_removed: impl Fn(&ClusterKey, &Uid, &str, &ObjectKey) -> bool) {
        // The clusters are dropped at the end of the function, when the lock is released.
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

impl RemoteClusters for ConnectedClusters {
    fn states(&self) -> Vec<Arc<ControllerState>> {
        self.clusters.lock().values().map(|cluster| cluster.state.clone()).collect()
    }

    /// Returns the metrics of all connected clusters, with those of nested clusters.
    fn values(&self) -> Vec<ClusterValues> {
        let clusters: Vec<_> = self.clusters.lock().values().cloned().collect();
        let mut values: Vec<_> = clusters.iter().map(|cluster| cluster.values()).collect();
        let nested = clusters.iter().filter_map(|cluster| cluster.state.remote_clusters.as_ref());
        values.extend(nested.flat_map(|nested| nested.values()));
        values
    }

    /// Returns the cluster of a remote node, and connects to it if necessary; `None` if the Secret with the kubeconfig does not exist. A
    /// new user of this connection no longer counts as a user of an earlier connection with the same Secret.
    fn connect<'a>(
        &'a self,
        node: RemoteNode<'a>,
        client: &'a Client,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn RemoteCluster>>>> {
        async move {
            let Some((cluster, is_new)) = self.find_or_connect(node, client).await? else { return Ok(None) };
            if is_new {
                // If the node now names another key in the Secret or another URL, it is still a user of the connection with the earlier
                // ones.
                let current = ClusterKey::of(node);
                self.remove_users(|key, uid, path, _| {
                    let is_earlier = *key != current && key.secret.is_of_same_cluster(&current.secret);
                    is_earlier && *uid == node.owner.uid && path == node.path
                });
            }
            Ok(Some(cluster as Arc<dyn RemoteCluster>))
        }
        .boxed()
    }

    /// Reports the changed Secret to all connected clusters, since it may register any of them, and to nested clusters.
    fn on_registration_change(&self, secret: &ObjectKey, version: Option<&ResourceVersion>) {
        let clusters: Vec<_> = self.clusters.lock().values().cloned().collect();
        for cluster in clusters {
            cluster.on_registration_change(secret, version, &self.events);
            if let Some(nested) = &cluster.state.remote_clusters {
                nested.on_registration_change(secret, version);
            }
        }
    }

    /// Removes a node of an owner from the users of its cluster.
    fn release(&self, node: RemoteNode<'_>) {
        let current = ClusterKey::of(node);
        self.remove_users(|key, uid, path, _| *key == current && *uid == node.owner.uid && path == node.path);
    }

    /// Drops the state of an owner that is gone, and its use of clusters, also of nested ones.
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
