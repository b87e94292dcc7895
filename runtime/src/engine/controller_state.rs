//! `ControllerState`: the state of one controller in one cluster, which all its passes share.

use crate::{
    cache::{Header, ObjectKey, OwnWriteEvents, OwnWrites, ResourceVersion, Revision, Uid, WatchProgress},
    client::Client,
    counters::Counters,
    engine::{
        causal_chain::CausalChains, child::Child, identity::Identity, owner_state::OwnerStates,
        tree_harness::FakeCluster,
    },
    environment::Environment,
    error::{Error, Result},
    event::{EventObject, EventRecorder, Regarding},
    informer::{
        namespaces::Namespaces,
        watch::{WatchedKind, WatchedRevisions},
    },
    kind::Kind,
    metrics::{clusters::ClusterValues, controller::ControllerMetrics},
    panic::Closure,
    predicate::Significance,
    reference::{Graph, Referrers, Targets},
    scope::KubeconfigSecret,
    shape::{ClusterCredentials, Shape},
    shard::gate::Shards,
};
use futures::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::sync::OwnedSemaphorePermit;

/// The facts of a controller that are the same in all clusters.
#[derive(Clone)]
pub(crate) struct ControllerFacts {
    /// Name of the operator.
    pub(crate) operator: String,
    /// The namespace the operator runs in.
    pub(crate) namespace: String,
    pub(crate) environment: Environment,
    pub(crate) recorder: EventRecorder,
    pub(crate) counters: Counters,
    pub(crate) metrics: Arc<ControllerMetrics>,
}

/// The state of one controller that all its passes share: client, caches and own writes.
pub(crate) struct ControllerState {
    pub(crate) client: Client,
    /// Name of the operator: its field manager, and the value of its `managed-by` label.
    pub(crate) operator: String,
    /// The namespace the operator runs in.
    pub(crate) namespace: String,
    /// The namespaces whose objects the caches have.
    pub(crate) namespaces: Namespaces,
    pub(crate) environment: Environment,
    pub(crate) recorder: EventRecorder,
    /// The caches of the kinds that resource nodes of the tree apply.
    pub(crate) children: BTreeMap<Kind, Arc<WatchedKind<Child>>>,
    /// The caches of the kinds that specs and nodes of this controller reference.
    pub(crate) targets: BTreeMap<Kind, Arc<Targets>>,
    /// The references between the kinds of all controllers of the operator.
    pub(crate) graph: Graph,
    /// The objects that each primary references.
    pub(crate) referrers: Mutex<Referrers>,
    /// The newest own write of each primary and child kind. The key is `None` for writes of primaries: they have a store of
    /// their own, also where a child has the same kind.
    pub(crate) own_writes: OwnWrites<Option<Kind>>,
    /// Tells the changes of primaries that are own writes from those of other clients.
    pub(crate) own_write_events: OwnWriteEvents<Significance>,
    /// The chains of own writes of all controllers of the operator.
    pub(crate) chains: Arc<CausalChains>,
    pub(crate) owner_states: Mutex<OwnerStates>,
    pub(crate) counters: Counters,
    pub(crate) metrics: Arc<ControllerMetrics>,
    /// All watches of the controller; unset until the watches start.
    pub(crate) watches: OnceLock<Vec<Arc<dyn WatchedRevisions>>>,
    /// The shards of this replica; `None` if it reconciles all objects.
    pub(crate) shards: Option<Shards>,
    /// The other clusters in which the tree has nodes. They have a state of their own, of this type. `None` if there are none.
    pub(crate) remote_clusters: Option<Arc<dyn RemoteClusters>>,
    /// Replaces the cluster in a test of the tree (`opgen::testing::TreeHarness`).
    pub(crate) tree_harness: Option<Arc<FakeCluster>>,
}

/// The other clusters in which a tree has nodes.
pub(crate) trait RemoteClusters: Send + Sync {
    /// Returns the state in each cluster to which it is connected.
    fn states(&self) -> Vec<Arc<ControllerState>>;
    /// Returns the values of the metrics of each cluster to which it is connected, also of those in these clusters.
    fn values(&self) -> Vec<ClusterValues>;
    /// Connects a remote node of an owner to its cluster, unless it is connected. `client` is that of the cluster with the kubeconfig.
    /// Returns `None` if the Secret with the kubeconfig does not exist.
    ///
    /// # Errors
    /// A yield if the Secret has no usable kubeconfig. The error of the call that reads the Secret.
    fn connect<'a>(
        &'a self,
        node: RemoteNode<'a>,
        client: &'a Client,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn RemoteCluster>>>>;
    /// Handles a change of the Secret that registers a cluster with a CD system, with its version; `None` if it was deleted.
    fn on_registration_change(&self, secret: &ObjectKey, version: Option<&ResourceVersion>);
    /// Ends the use of a cluster by a node of an owner. The connection ends with its last use.
    fn release(&self, node: RemoteNode<'_>);
    /// Ends the use of all clusters by an owner that is gone.
    fn forget(&self, owner: &ObjectKey);
}

/// A remote node of an owner, in one cluster.
#[derive(Clone, Copy)]
pub(crate) struct RemoteNode<'a> {
    pub(crate) owner: &'a Identity,
    /// The path of the node.
    pub(crate) path: &'a str,
    /// The nodes in the cluster.
    pub(crate) tree: &'static Shape,
    /// Where the kubeconfig of the cluster is.
    pub(crate) kubeconfig: &'a KubeconfigSecret,
    /// Whether the node is removed from the cluster.
    pub(crate) is_removed: bool,
}

/// A cluster to which a remote node is connected.
pub(crate) trait RemoteCluster: Send + Sync {
    fn state(&self) -> &ControllerState;
    /// Begins a part of a pass in the cluster: its caches are filled, it could be reached lately, and not too many passes wait for it.
    /// The part ends when the result is dropped.
    ///
    /// # Errors
    /// A yield that names the cluster, or a conflict if the pass shall be tried again soon.
    fn begin(&self) -> BoxFuture<'_, Result<OwnedSemaphorePermit>>;
    /// Converts the outcome of the nodes in the cluster. A call without an answer becomes a yield that names the cluster, and further
    /// passes make no call for a while.
    fn convert_outcome(&self, outcome: Result<()>) -> Result<()>;
    /// Returns how long the cluster has been unreachable; `None` if it can be reached, or if no pass has tried.
    fn unreachable_for(&self) -> Option<Duration>;
    /// Returns the credentials in the kubeconfig.
    ///
    /// # Errors
    /// A yield if a CD system can't use them.
    fn credentials(&self) -> Result<Arc<ClusterCredentials>>;
    /// Reads the kubeconfig again, and checks that the cluster answers.
    ///
    /// # Errors
    /// A yield if the kubeconfig can't be used. The error of a failed call.
    fn verify_connection(&self) -> BoxFuture<'_, Result<()>>;
    /// Returns whether a registration of the cluster was verified lately, with these credentials.
    fn is_registration_verified(&self, secret: &ObjectKey, credentials: &Arc<ClusterCredentials>) -> bool;
    /// Records that a registration has been verified with these credentials, at this version.
    fn record_verified_registration(
        &self,
        secret: ObjectKey,
        credentials: Arc<ClusterCredentials>,
        version: ResourceVersion,
    );
}

impl ControllerState {
    /// Returns the state of a controller without caches, watches and shards.
    pub(crate) fn new(client: Client, facts: ControllerFacts) -> Self {
        let ControllerFacts { operator, namespace, environment, recorder, counters, metrics } = facts;
        Self {
            client,
            operator,
            namespace,
            namespaces: Default::default(),
            environment,
            recorder,
            children: Default::default(),
            targets: Default::default(),
            graph: Default::default(),
            referrers: Default::default(),
            own_writes: Default::default(),
            own_write_events: Default::default(),
            chains: Default::default(),
            owner_states: Default::default(),
            counters,
            metrics,
            watches: OnceLock::new(),
            shards: None,
            remote_clusters: None,
            tree_harness: None,
        }
    }

    /// Returns the states of this controller in all connected other clusters, including clusters that are reached through another cluster.
    pub(crate) fn remote_states(&self) -> Vec<Arc<Self>> {
        let Some(clusters) = &self.remote_clusters else { return Vec::new() };
        let mut states = clusters.states();
        let nested: Vec<_> = states.iter().flat_map(|state| state.remote_states()).collect();
        states.extend(nested);
        states
    }

    /// Returns the cache of a kind of children.
    pub(crate) fn children(&self, kind: &Kind) -> Result<&WatchedKind<Child>> {
        let children = self.children.get(kind).map(Arc::as_ref);
        children.ok_or_else(|| Error::terminal("NotWatched", format!("{kind} is not in a tree of this controller")))
    }

    pub(crate) fn owner_states(&self) -> MutexGuard<'_, OwnerStates> {
        self.owner_states.lock()
    }

    /// Counts a panic in a pass of the controller.
    pub(crate) fn count_pass_panic(&self, closure: Closure) {
        self.counters.count_panic(closure);
        self.metrics.panics.increment();
    }

    /// Returns whether a cache of children in this cluster, another one than the operator's, does not show an own write for an owner yet.
    /// A cache whose watch has failed does not count as behind, since no pass shall wait for it.
    pub(crate) fn is_behind(&self, owner: &ObjectKey) -> bool {
        // The kind is `None` for writes of primaries, which are not in another cluster.
        let children = |kind: &Option<Kind>| kind.as_ref().and_then(|kind| self.children.get(kind));
        let progress = |kind: &Option<Kind>| match children(kind) {
            Some(children) => children.health.watch_progress(children.store.watch_progress()),
            None => WatchProgress::Incomparable,
        };
        // A write stays recorded until the cache shows it, also after an outage.
        let behind = self.own_writes.behind(owner, progress);
        behind.is_some_and(|kind| children(&kind).is_some_and(|children| !children.health.has_failed()))
    }

    /// Returns the object of an event together with the child that the event names instead, if the object is in a bucket: Kubernetes does
    /// not have it, so the event regards its first child in Kubernetes.
    pub(crate) fn regarding(&self, object: EventObject) -> Regarding {
        let is_in_bucket = self.client.is_in_bucket(&object.kind);
        let child = if is_in_bucket { self.first_child_in_kubernetes(&object.uid) } else { None };
        Regarding { object, child }
    }

    /// Returns the first child of an owner by kind and key that is in Kubernetes and is not being deleted, from the caches.
    fn first_child_in_kubernetes(&self, owner: &Uid) -> Option<EventObject> {
        let mut in_kubernetes = self.children.iter().filter(|(kind, _)| !self.client.is_in_bucket(kind));
        in_kubernetes.find_map(|(kind, children)| {
            let mut first = None;
            children.store.visit_owned(owner, |entry| {
                let Header { key, uid, deleting, .. } = &entry.header;
                if first.is_none() && !deleting {
                    first = Some(EventObject { kind: kind.clone(), key: key.clone(), uid: uid.clone() });
                }
            });
            first
        })
    }

    /// Drops the state of an owner whose children are gone.
    pub(crate) fn forget_owner(&self, owner: &ObjectKey) {
        self.owner_states().forget(owner);
        self.own_writes.forget(owner);
    }

    /// Returns whether a watch of the controller shows objects of this kind.
    pub(crate) fn watches_kind(&self, kind: &Kind) -> bool {
        self.watches.get().is_some_and(|watches| watches.iter().any(|watch| watch.kind() == kind))
    }

    /// Returns the revision of an object in the caches of the controller's watches; `None` if none of them has it.
    pub(crate) fn watched_revision(&self, kind: &Kind, key: &ObjectKey) -> Option<Revision> {
        let mut watches = self.watches.get()?.iter().filter(|watch| watch.kind() == kind);
        watches.find_map(|watch| watch.revision(key))
    }

    /// Records an own write of a primary, so that the watch event of this version triggers no pass.
    pub(crate) fn record_primary_write(&self, key: &ObjectKey, uid: &Uid, version: &ResourceVersion) {
        self.own_writes.record(key, uid, None, version);
        self.own_write_events.record_write(key, uid, version);
    }
}

impl fmt::Debug for ControllerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerState").field("operator", &self.operator).finish_non_exhaustive()
    }
}
