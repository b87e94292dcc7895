//! `PassCore` and `Pass`: the state of one reconcile pass over one object, which all nodes of its tree share.

use crate::{
    cache::{Header, ObjectKey, ResourceVersion, Uid},
    client::strip_nulls,
    context::UnversionedReads,
    engine::{
        chain::Chain,
        child::ChildrenByNode,
        controller_state::{ControllerState, RemoteCluster},
        identity::{Identity, OwnerNaming},
        output::NodeOutputs,
        owner_state::OwnerStates,
        plan::{Claims, Plan},
        side_effects::{OwnerWrite, SideEffects},
    },
    event::{EventObject, Regarding},
    informer::watch::WatchedKind,
    kind::Kind,
    managed::Managed,
    queue::Trigger,
    scope::KubeconfigSecret,
    shape::Shape,
};
use futures::future::BoxFuture;
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::{
    collections::HashMap,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};
use tokio::time::Instant;

/// A tree whose build functions can run without a call to the API server, to learn which objects its nodes want.
pub(crate) trait Planner: Send + Sync {
    fn shape(&self) -> &'static Shape;
    /// Returns the path of the root of the shape; empty for the whole tree.
    fn path(&self) -> String;
    /// Runs the build functions in a pass that only records claims.
    fn plan<'p>(&'p self, core: PassCore<'p>) -> BoxFuture<'p, Plan>;
}

/// What led to a pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassTrigger {
    /// The event that triggered the pass.
    pub(crate) event: Trigger,
    /// The own writes that led to the pass, each by way of another primary.
    pub(crate) chain: Chain,
    /// The start of the trace of the pass; `None` if the pass is in no trace.
    pub(crate) trace_start: Option<Instant>,
}

impl Default for PassTrigger {
    /// A request by a user.
    fn default() -> Self {
        Self { event: Trigger::Request, chain: Chain::default(), trace_start: None }
    }
}

/// The state of one pass that does not depend on the Rust type of the owner.
pub(crate) struct PassCore<'a> {
    pub(crate) shared: &'a ControllerState,
    /// The object of the pass, which owns the children.
    pub(crate) owner: Identity,
    /// Hash of the owner's resourceVersion; the first part of the inputs of every build function.
    pub(crate) version_digest: u64,
    /// The objects that the owner's spec references.
    pub(crate) spec_references: Vec<(Kind, ObjectKey)>,
    pub(crate) trigger: PassTrigger,
    /// Since when the stored status reports the owner as not available. `None` if it is available, or if that is unknown.
    pub(crate) unavailable_since: Option<Timestamp>,
    /// The claims of the nodes that have run in this pass.
    pub(crate) claims: Mutex<Claims>,
    /// Computes a plan of the tree. `None` in a teardown, where no node wants an object, and in the pass of a plan.
    pub(crate) planner: Option<&'a dyn Planner>,
    /// The plan of this pass, once a node has needed it.
    pub(crate) plan: Mutex<Option<Arc<Plan>>>,
    /// The nodes with unwanted objects that another node may still claim, in the order of their deletion.
    pub(crate) deferred_deletions: Mutex<Vec<(Kind, Arc<str>)>>,
    /// The whole tree, if the pass tears it down. `None` in a pass that removes single nodes.
    pub(crate) torn_down_tree: Option<&'static Shape>,
    /// Whether the pass only computes a plan: it makes no call to the API server and runs no hand-written node.
    pub(crate) is_plan: bool,
    /// Whether children without owner reference are orphans that stay, see [`PassCore::restore_owner_references`].
    pub(crate) keeps_orphans: bool,
    /// Whether the nodes of the pass have spans.
    pub(crate) is_recorded: bool,
    children_by_node: Mutex<HashMap<Kind, ChildrenByNode>>,
    /// Records the unversioned reads of functions that run in every pass; it is never read.
    pub(crate) unversioned: UnversionedReads,
    side_effects: Mutex<SideEffects>,
    pub(crate) outputs: Arc<NodeOutputs>,
    /// Set for the part of a pass in another cluster.
    remote: Option<RemotePart<'a>>,
}

/// The part of a pass in another cluster.
#[derive(Clone)]
struct RemotePart<'a> {
    /// The part in the operator's cluster.
    operator_cluster: &'a PassCore<'a>,
    /// The cluster; `None` in a plan, which is not connected.
    cluster: Option<&'a dyn RemoteCluster>,
    /// The Secrets with the kubeconfigs on the way to the cluster, which identify it.
    identity: String,
    /// The same with the key of the last kubeconfig.
    kubeconfig: String,
}

impl<'a> PassCore<'a> {
    /// Returns the state of a pass over an owner whose object has this resourceVersion. Callers set the fields that differ from the
    /// defaults: the trigger is a request by a user, and nothing can plan the tree.
    pub(crate) fn new(shared: &'a ControllerState, owner: Identity, version: &ResourceVersion) -> Self {
        let mut hasher = DefaultHasher::new();
        version.hash(&mut hasher);
        Self {
            shared,
            owner,
            version_digest: hasher.finish(),
            spec_references: Vec::new(),
            trigger: PassTrigger::default(),
            unavailable_since: None,
            claims: Mutex::default(),
            planner: None,
            plan: Mutex::default(),
            deferred_deletions: Mutex::default(),
            torn_down_tree: None,
            is_plan: false,
            keeps_orphans: false,
            is_recorded: false,
            children_by_node: Mutex::default(),
            unversioned: UnversionedReads::default(),
            side_effects: Mutex::default(),
            outputs: Arc::default(),
            remote: None,
        }
    }

    /// Returns a part of this pass for the nodes in another cluster, with claims and side effects of its own. `secret` has the kubeconfig
    /// of the cluster. The children there name the owner by an owner mark, since an owner reference can't name an object in another
    /// cluster.
    pub(crate) fn for_cluster<'b>(
        &'b self,
        cluster: &'b dyn RemoteCluster,
        secret: &KubeconfigSecret,
        planner: Option<&'b dyn Planner>,
    ) -> PassCore<'b> {
        let owner = self.owner.named_by(OwnerNaming::RemoteMark);
        let remote = RemotePart { cluster: Some(cluster), ..self.remote_part(secret) };
        PassCore { planner, remote: Some(remote), ..self.for_part(cluster.state(), owner) }
    }

    /// Returns a pass that only plans the nodes in another cluster: it runs their build functions to learn which objects they want, and
    /// calls no API server. The objects of registered applications are in the operator's cluster, so their claims are added to the plan
    /// there.
    pub(crate) fn for_cluster_plan(&self, secret: &KubeconfigSecret) -> PassCore<'_> {
        let owner = self.owner.named_by(OwnerNaming::RemoteMark);
        PassCore { owner, remote: Some(self.remote_part(secret)), ..self.for_plan() }
    }

    /// Returns the description of the cluster of a kubeconfig, without a connection. The Secret with the kubeconfig is in the cluster of
    /// this pass, so the new identity is this cluster's identity followed by the Secret.
    fn remote_part(&self, secret: &KubeconfigSecret) -> RemotePart<'_> {
        let identity = format!("{}/{}/{}", self.cluster_identity(), secret.namespace, secret.name);
        let kubeconfig = format!("{}/{}", identity.trim_start_matches('/'), secret.key);
        RemotePart { operator_cluster: self.in_operator_cluster(), cluster: None, identity, kubeconfig }
    }

    /// Returns the identity of the other cluster that this part of the pass is in; empty for the operator's cluster.
    pub(crate) fn cluster_identity(&self) -> &str {
        self.remote.as_ref().map_or("", |remote| &remote.identity)
    }

    /// Returns the path of the kubeconfig of the other cluster that this part of the pass is in: the Secrets on the way to it, and its key.
    /// Empty for the operator's cluster.
    pub(crate) fn kubeconfig_path(&self) -> &str {
        self.remote.as_ref().map_or("", |remote| &remote.kubeconfig)
    }

    /// Returns the part of this pass in the operator's cluster.
    pub(crate) fn in_operator_cluster(&self) -> &PassCore<'a> {
        self.remote.as_ref().map_or(self, |remote| remote.operator_cluster)
    }

    /// Returns the other cluster that this part of the pass is in; `None` for the operator's cluster and in a plan.
    pub(crate) fn remote_cluster(&self) -> Option<&'a dyn RemoteCluster> {
        self.remote.as_ref()?.cluster
    }

    /// Returns a part of this pass for objects that the garbage collector must not delete with the owner: they name the owner by an owner
    /// mark (an annotation) instead of an owner reference.
    pub(crate) fn for_marked_objects(&self) -> PassCore<'_> {
        let naming = if self.owner.is_remote() { OwnerNaming::RemoteMark } else { OwnerNaming::Mark };
        self.for_part(self.shared, self.owner.named_by(naming))
    }

    /// Returns a part of this pass with its own claims and side effects, for another cluster or another naming of the owner.
    fn for_part<'b>(&'b self, shared: &'b ControllerState, owner: Identity) -> PassCore<'b> {
        PassCore {
            shared,
            owner,
            torn_down_tree: self.torn_down_tree,
            is_plan: false,
            unavailable_since: self.unavailable_since,
            is_recorded: self.is_recorded,
            ..self.for_plan()
        }
    }

    /// Adds the side effects of a part of this pass.
    pub(crate) fn add_side_effects(&self, part: PassCore<'_>) {
        self.side_effects().add(part.into_side_effects());
    }

    /// Returns a pass over the same owner that only computes a plan. It reads the outputs that nodes have produced so far.
    pub(crate) fn for_plan(&self) -> PassCore<'_> {
        PassCore {
            shared: self.shared,
            owner: self.owner.clone(),
            version_digest: self.version_digest,
            spec_references: Vec::new(),
            trigger: self.trigger,
            unavailable_since: None,
            claims: Mutex::default(),
            planner: None,
            plan: Mutex::default(),
            deferred_deletions: Mutex::default(),
            torn_down_tree: None,
            is_plan: true,
            keeps_orphans: false,
            is_recorded: false,
            children_by_node: Mutex::default(),
            unversioned: UnversionedReads::default(),
            side_effects: Mutex::default(),
            outputs: self.outputs.clone(),
            remote: None,
        }
    }

    pub(crate) fn owner_states(&self) -> MutexGuard<'_, OwnerStates> {
        self.shared.owner_states()
    }

    /// Returns what an event about the owner regards.
    pub(crate) fn regarding(&self) -> Regarding {
        self.shared.regarding(self.owner.event_object())
    }

    /// Returns what an event about a child of the owner regards: the owner. Kubernetes does not have an owner in a bucket, so there the
    /// event regards the child, if the child is in Kubernetes.
    pub(crate) fn regarding_child(&self, kind: &Kind, key: &ObjectKey, uid: &Uid) -> Regarding {
        let client = &self.shared.client;
        // The client of another cluster has no kinds in buckets, and events never name an object of another cluster.
        if !client.is_in_bucket(&self.owner.kind) || client.is_in_bucket(kind) {
            return self.regarding();
        }
        let child = EventObject { kind: kind.clone(), key: key.clone(), uid: uid.clone() };
        Regarding { object: self.owner.event_object(), child: Some(child) }
    }

    /// Returns whether only changes of the owner's children, or own writes of its nodes, triggered the pass.
    pub(crate) fn is_triggered_by_children(&self) -> bool {
        self.trigger.event <= Trigger::Children
    }

    /// Returns the owner's children by node, as they were in the cache when a node of this pass first read their kind.
    pub(crate) fn children_by_node(&self) -> MutexGuard<'_, HashMap<Kind, ChildrenByNode>> {
        self.children_by_node.lock()
    }

    /// Returns the side effects that the nodes have recorded so far.
    pub(crate) fn side_effects(&self) -> MutexGuard<'_, SideEffects> {
        self.side_effects.lock()
    }

    /// Ends the pass and returns its side effects.
    pub(crate) fn into_side_effects(self) -> SideEffects {
        self.side_effects.into_inner()
    }

    /// Records that a hand-written node wrote the owner itself: the new version counts as an own write, and `status`, from the response of
    /// the API server, becomes a side effect of the pass.
    pub(crate) fn record_owner_write(&self, version: ResourceVersion, status: Value) {
        // An object of the same kind and name in another cluster is not the owner.
        if self.owner.is_remote() {
            return;
        }
        self.shared.record_primary_write(&self.owner.key, &self.owner.uid, &version);
        self.side_effects().owner_write = Some(OwnerWrite { version, status });
    }

    /// Records an own write of a child, so that the next pass waits until the cache has it.
    pub(crate) fn record_child_write<V>(&self, children: &WatchedKind<V>, header: &Header) {
        let (owner, kind) = (&self.owner, children.kind.clone());
        self.shared.own_writes.record(&owner.key, &owner.uid, Some(kind), &header.resource_version);
    }
}

impl fmt::Debug for PassCore<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassCore").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// One pass over one object of type `K`, with the options of the controller.
pub(crate) struct Pass<'a, K: Managed, X> {
    pub(crate) object: &'a K,
    pub(crate) options: &'a X,
    /// The status with the edits of provisioners; the loop writes it once, at the end of the pass. `None` until a provisioner
    /// edits it: most passes don't, and a copy may cost more than the rest of the pass.
    status: Mutex<Option<K::Status>>,
    pub(crate) core: PassCore<'a>,
}

impl<'a, K: Managed, X> Pass<'a, K, X> {
    pub(crate) fn new(object: &'a K, options: &'a X, core: PassCore<'a>) -> Self {
        Self { object, options, status: Mutex::new(None), core }
    }

    /// Edits the status in memory, which begins as a copy of the stored status, and returns the result of `edit`.
    pub(crate) fn edit_status<T>(&self, edit: impl FnOnce(&mut K::Status) -> T) -> T {
        let mut status = self.status.lock();
        edit(status.get_or_insert_with(|| self.object.status().cloned().unwrap_or_default()))
    }

    /// Returns the status with the edits of provisioners; `None` if it equals the stored status. For an object without a stored status it
    /// always returns one.
    pub(crate) fn changed_status(&self) -> Option<Value> {
        let status = self.status.lock();
        let Some(stored) = self.object.status() else {
            // The first status that is written also has the default values of its fields.
            return Some(status_value(status.as_ref().unwrap_or(&K::Status::default())));
        };
        let edited = status.as_ref()?;
        // Compared as text, which is far cheaper than as values.
        let text = |status: &K::Status| serde_json::to_vec(status).ok();
        let (edited_text, stored_text) = (text(edited), text(stored));
        (edited_text.is_none() || edited_text != stored_text).then(|| status_value(edited))
    }
}

impl<K: Managed, X> fmt::Debug for Pass<'_, K, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").field("owner", &self.core.owner).finish_non_exhaustive()
    }
}

/// Returns a status as JSON without nulls, the form in which it is applied and compared.
pub(crate) fn status_value(status: &impl serde::Serialize) -> Value {
    strip_nulls(serde_json::to_value(status).unwrap_or_default())
}
