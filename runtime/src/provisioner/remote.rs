//! Implements remote nodes: tree nodes whose children have their objects in another cluster.
//!
//! # Flow
//! 1. The build function returns where the kubeconfig of the cluster is.
//! 2. The children are removed from all other clusters of which the node has a record, and then these records.
//! 3. The record of the cluster is written, before the first object is created there.
//! 4. The cluster is registered with the CD systems that deploy applications of the node, see [`registration`].
//! 5. The children are provisioned with a client and caches of the cluster.
//!
//! The teardown does the second step for all records. A cluster whose Secret is gone counts as gone.

mod operator_cluster_error;
mod record;
mod registration;

use crate::{
    client::Target,
    context::{Cause, Context, Teardown},
    engine::{
        child::child_header,
        controller_state::{RemoteCluster, RemoteNode},
        deletion::delete_params,
        desired::{MANAGED_BY_LABEL, NODE_ANNOTATION},
        pass::{PassCore, Planner},
        plan::Plan,
    },
    error::{Error, Result},
    event::EventType,
    informer::watch::WatchState,
    managed::Owner,
    provisioner::{
        Provision,
        build::BuildResult,
        group::{IntoInputs, edge, not_wanted, report_panics},
        schedule::{catch_panic, worst_outcome},
    },
    scope::{ClusterRecord, Kubeconfig, KubeconfigSecret},
    shape::{Edge, Provisioner, Shape, is_below},
    spans::node::in_span,
};
use futures::{FutureExt, future::BoxFuture};
use operator_cluster_error::OperatorClusterError;
use registration::Verification;
pub(crate) use registration::deploying_kind;
use serde_json::Value;
use std::sync::Arc;

/// Returns the edge to a child in another cluster; `line` is the line of its field. With `background`, the objects in the cluster are left
/// there if the owner is deleted.
///
/// # Panics
/// At compile time if there is an external node below it. The external resource of such a node may exist longer than the cluster, with
/// which all nodes in it end.
#[track_caller]
pub const fn remote_edge<P: Provisioner>(name: &'static str, line: u32, background: bool) -> Edge {
    assert!(
        !P::SHAPE.has_external_nodes(),
        "an external node can't be below a remote node; move it beside the remote node"
    );
    edge::<P>(name, line).in_remote_cluster(background)
}

/// Returns the kubeconfig that a build function returned.
///
/// # Errors
/// Fails with the error of the build function.
pub fn kubeconfig_of(built: impl BuildResult<Kubeconfig>) -> Result<Kubeconfig> {
    built.into_result()
}

/// Provisions a remote node: a child whose objects are in the cluster of the kubeconfig that the build function returns. If the node has
/// been in another cluster before, the child is first removed from that one. The module describes the steps.
pub fn up_remote<'c, C: Provision<O>, O: Owner, P: Provisioner, H: IntoInputs<C::Inputs>>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    inputs: H,
    inputs_digest: Option<u64>,
    build: impl FnOnce() -> Result<Kubeconfig> + Send + 'c,
) -> BoxFuture<'c, Result<()>> {
    let inputs = inputs.into_inputs();
    async move {
        let core = cx.core();
        let kubeconfig = build()?;
        // In a unit test of the tree, all nodes are in one fake cluster.
        if core.shared.tree_harness.is_some() {
            return C::provision(&cx.for_child(name, &inputs, inputs_digest)).await;
        }
        // A plan computes which objects the nodes want in the operator's cluster. Of the nodes in another cluster, only applications that a
        // CD system in the operator's cluster deploys have objects here.
        if core.is_plan {
            let record = kubeconfig.record(core.owner.default_namespace())?;
            return plan_applications::<C, O, P>(cx, name, &inputs, &record.secret).await;
        }
        let node: Arc<str> = cx.path().child(name).to_string().into();
        let background = P::SHAPE.children.iter().any(|edge| edge.name == name && edge.background);
        let record = ClusterRecord { background, ..kubeconfig.record(core.owner.default_namespace())? };
        core.check_record_namespace()?;
        core.adopt_records(&node).await?;
        let teardown = not_wanted(cx);
        for header in core.records(&node)? {
            // A damaged record is skipped: `converge_records` writes or deletes it below.
            let Some(other) = ClusterRecord::of(&header) else { continue };
            if !other.secret.is_of_same_cluster(&record.secret) {
                let abandon_after = record.abandon_after.or(other.abandon_after);
                let other = ClusterRecord { abandon_after, ..other };
                remove_from_cluster::<C, O, P>(&teardown, name, &node, &other).await?;
            }
        }
        core.converge_records(&node, Some(&record)).await?;
        let remote = RemoteNode {
            owner: &core.owner,
            path: &node,
            tree: &C::SHAPE,
            kubeconfig: &record.secret,
            is_removed: false,
        };
        let Some(cluster) = core.connect(remote).await? else { return Err(kubeconfig_missing(&record.secret)) };
        // Limits the number of passes that use the cluster at a time.
        let _permit = cluster.begin().await?;
        let planner = RemotePlanner::<C, O, P> { cx, name, inputs: &inputs, inputs_digest };
        let inside = core.for_cluster(&*cluster, &record.secret, Some(&planner));
        core.mark_operator_cluster_error(inside.register_cluster(&C::SHAPE, Verification::IfDue).await)?;
        let outcome = {
            let child = cx.for_child_in(&inside, name, &inputs, inputs_digest);
            let run = report_panics(&inside, child.path(), C::provision(&child));
            in_span(core.is_recorded, child.path(), run).await
        };
        let deferred = inside.delete_deferred(&outcome).await;
        let restored = inside.restore_labels().await;
        core.add_side_effects(inside);
        core.convert_outcome(&*cluster, worst_outcome([outcome, deferred, restored]))
    }
    .boxed()
}

/// Runs the build functions below a remote node in a plan of the operator's cluster, so that the plan knows which objects of applications
/// the nodes want here. Does nothing without applications that a CD system in the operator's cluster deploys.
async fn plan_applications<C: Provision<O>, O: Owner, P: Provisioner>(
    cx: &Context<'_, O, P>,
    name: &'static str,
    inputs: &C::Inputs,
    secret: &KubeconfigSecret,
) -> Result<()> {
    if C::SHAPE.applications_to_register().is_empty() {
        return Ok(());
    }
    let inside = cx.core().for_cluster_plan(secret);
    C::provision(&cx.for_child_in(&inside, name, inputs, None)).await
}

/// Deprovisions a remote node in all clusters of which it has a record, and then deletes the records. If the whole tree is torn down, the
/// objects in the cluster of a record with `background` are left there; only the objects of applications in the operator's cluster are
/// deleted.
pub fn down_remote<'c, C: Provision<O>, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    async move {
        let core = cx.core();
        if core.shared.tree_harness.is_some() {
            return C::deprovision(&cx.for_child(name)).await;
        }
        if core.is_plan {
            return Ok(());
        }
        let node: Arc<str> = cx.path().child(name).to_string().into();
        core.adopt_records(&node).await?;
        let records = core.records(&node)?;
        if records.is_empty() {
            remove_without_record::<C, O, P>(cx, &node).await?;
        }
        for header in records {
            let Some(record) = ClusterRecord::of(&header) else {
                let sentence = format!(
                    "ConfigMap {}, the record of the cluster of node {node}, is damaged; without it, the objects there remain",
                    header.key
                );
                return Err(Error::blocked("DamagedRecord", sentence));
            };
            if record.background && cx.cause() == Cause::Deleting {
                leave_in_cluster::<C, O, P>(cx, &node, &record).await?;
                continue;
            }
            remove_from_cluster::<C, O, P>(cx, name, &node, &record).await?;
        }
        core.converge_records(&node, None).await
    }
    .boxed()
}

/// Deprovisions a child in the cluster of a record, and ends the use of the cluster. If its Secret is gone, or if it has been unreachable
/// for longer than the record allows, the objects in the cluster are given up, and the objects of applications in the operator's cluster
/// are deleted without their finalizers.
async fn remove_from_cluster<C: Provision<O>, O: Owner, P>(
    cx: &Teardown<'_, O, P>,
    name: &'static str,
    node: &Arc<str>,
    record: &ClusterRecord,
) -> Result<()> {
    let core = cx.core();
    let kubeconfig = &record.secret;
    let remote = RemoteNode { owner: &core.owner, path: node, tree: &C::SHAPE, kubeconfig, is_removed: true };
    let connected = core.connect(remote).await?;
    // Without the Secret with its kubeconfig, the cluster counts as gone.
    let mut has_cluster = connected.is_some();
    if let Some(cluster) = connected {
        let outcome = match cluster.begin().await {
            Ok(_permit) => deprovision_in_cluster::<C, O, P>(cx, name, node, &*cluster, kubeconfig).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => {}
            Err(_) if is_abandoned(&*cluster, record) => {
                has_cluster = false;
                let note = format!("gave up the objects in the cluster of {kubeconfig}, which can't be reached");
                tracing::warn!(owner = %core.owner.key, %kubeconfig, "the objects in a cluster are given up");
                let regarding = core.regarding();
                core.shared.recorder.record(&regarding, EventType::Warning, "Abandoned", "Delete", &note);
            }
            Err(error) => return Err(error),
        }
    }
    let outcome = match has_cluster {
        true => core.collect_registrations(node, &C::SHAPE).await,
        false => core.give_up_applications(node, &C::SHAPE).await,
    };
    core.mark_operator_cluster_error(outcome)?;
    if let Some(clusters) = &core.shared.remote_clusters {
        clusters.release(remote);
    }
    Ok(())
}

/// Ends the use of a cluster by a node with `background`, and leaves the objects in the cluster: the cluster itself ends with the owner.
/// Deletes only the objects of applications in the operator's cluster, without their finalizers.
async fn leave_in_cluster<C: Provision<O>, O: Owner, P>(
    cx: &Teardown<'_, O, P>,
    node: &Arc<str>,
    record: &ClusterRecord,
) -> Result<()> {
    let core = cx.core();
    core.mark_operator_cluster_error(core.give_up_applications(node, &C::SHAPE).await)?;
    if let Some(clusters) = &core.shared.remote_clusters {
        let kubeconfig = &record.secret;
        clusters.release(RemoteNode { owner: &core.owner, path: node, tree: &C::SHAPE, kubeconfig, is_removed: true });
    }
    Ok(())
}

/// Tears down a remote node that has no record of a cluster: deletes the objects of its applications in the operator's cluster without
/// their finalizers, and the unused registrations of clusters. The records of a nested remote node are in the outer cluster, and are lost
/// if the outer cluster is emptied.
async fn remove_without_record<C: Provision<O>, O: Owner, P>(cx: &Teardown<'_, O, P>, node: &str) -> Result<()> {
    let core = cx.core();
    // In a teardown of the whole tree, unused registrations are searched in any case: an earlier process may have removed the applications
    // and not their registrations.
    if core.has_applications(node, &C::SHAPE)? || cx.cause() == Cause::Deleting {
        core.mark_operator_cluster_error(core.give_up_applications(node, &C::SHAPE).await)?;
    }
    Ok(())
}

/// Returns whether a cluster has been unreachable for at least the time after which its record gives it up. A record without this time
/// never gives it up.
fn is_abandoned(cluster: &dyn RemoteCluster, record: &ClusterRecord) -> bool {
    let limit = record.abandon_after;
    limit.is_some_and(|limit| cluster.unreachable_for().is_some_and(|duration| duration >= limit))
}

/// Deprovisions a child in a connected cluster: deletes its objects there, and then confirms with live lists that none is left.
async fn deprovision_in_cluster<C: Provision<O>, O: Owner, P>(
    cx: &Teardown<'_, O, P>,
    name: &'static str,
    node: &str,
    cluster: &dyn RemoteCluster,
    secret: &KubeconfigSecret,
) -> Result<()> {
    let core = cx.core();
    let mut inside = core.for_cluster(cluster, secret, None);
    // Without a valid registration of the cluster, a CD system can't remove what it has deployed there.
    if core.has_applications(node, &C::SHAPE)? {
        core.mark_operator_cluster_error(inside.register_cluster(&C::SHAPE, Verification::Always).await)?;
    }
    let outcome = match inside.restore_owner_references(false).await {
        Ok(()) => {
            let child = cx.for_child_in(&inside, name);
            let run = report_panics(&inside, child.path(), C::deprovision(&child));
            in_span(core.is_recorded, child.path(), run).await
        }
        failed => failed,
    };
    let restored = inside.restore_labels().await;
    let outcome = match worst_outcome([outcome, restored]) {
        Ok(()) => inside.confirm_absence(node).await,
        outcome => outcome,
    };
    core.add_side_effects(inside);
    core.convert_outcome(cluster, outcome)
}

/// Computes a plan of a remote node: runs the build functions of its child in the other cluster, without a call, to learn which objects
/// they want.
struct RemotePlanner<'c, 'x, C: Provisioner, O: Owner, P: Provisioner> {
    cx: &'c Context<'x, O, P>,
    name: &'static str,
    inputs: &'c C::Inputs,
    inputs_digest: Option<u64>,
}

impl<C: Provision<O>, O: Owner, P: Provisioner> Planner for RemotePlanner<'_, '_, C, O, P> {
    fn shape(&self) -> &'static Shape {
        &C::SHAPE
    }

    fn path(&self) -> String {
        self.cx.path().child(self.name).to_string()
    }

    /// Runs the build functions of the child with `core`, the state of a pass that only computes a plan, and returns the objects they want.
    fn plan<'p>(&'p self, core: PassCore<'p>) -> BoxFuture<'p, Plan> {
        async move {
            let outcome = {
                let child = self.cx.for_child_in(&core, self.name, self.inputs, self.inputs_digest);
                catch_panic(C::provision(&child)).await
            };
            let claims = std::mem::take(&mut *core.claims.lock());
            Plan { claims, complete: outcome.is_ok(), reads_listers: false }
        }
        .boxed()
    }
}

/// Returns the yield of a cluster whose Secret does not exist.
fn kubeconfig_missing(secret: &KubeconfigSecret) -> Error {
    Error::yielding("KubeconfigMissing", format!("waiting for {secret} with the kubeconfig of a cluster"))
}

impl PassCore<'_> {
    /// Connects a remote node to its cluster; `None` if the Secret with the kubeconfig does not exist.
    ///
    /// # Errors
    /// A terminal error in a program that does not connect to other clusters. Otherwise as
    /// [`RemoteClusters::connect`](crate::engine::controller_state::RemoteClusters::connect).
    async fn connect(&self, node: RemoteNode<'_>) -> Result<Option<Arc<dyn RemoteCluster>>> {
        let Some(clusters) = &self.shared.remote_clusters else {
            return Err(Error::terminal("NotConnected", "the operator does not connect to other clusters"));
        };
        clusters.connect(node, &self.shared.client).await
    }

    /// Converts the outcome of nodes in another cluster: a call that the cluster did not answer becomes a yield. Errors of calls to the
    /// operator's cluster, which are marked as [`OperatorClusterError`], are not converted.
    fn convert_outcome(&self, cluster: &dyn RemoteCluster, outcome: Result<()>) -> Result<()> {
        let outcome = cluster.convert_outcome(outcome);
        // The mark is removed at the outermost remote node only, since each cluster around a nested one converts the outcome, too.
        if self.owner.is_remote() { outcome } else { outcome.map_err(OperatorClusterError::unwrap) }
    }

    /// Confirms with live lists that a node and all nodes below it have no object left in this cluster. The cache is not enough: it may
    /// lack an object whose creation got no response. Deletes objects of a former owner of the same name, which was deleted by force.
    ///
    /// # Errors
    /// A yield if there is an object. The error of a failed call.
    async fn confirm_absence(&self, node: &str) -> Result<()> {
        let client = self.shared.client.metadata_client();
        let labels = format!("{MANAGED_BY_LABEL}={}", self.shared.operator);
        for (kind, children) in &self.shared.children {
            // The cluster does not serve the kind, so there is no object of it.
            if children.health.state() == WatchState::Missing {
                continue;
            }
            for object in client.list::<Value>(Target { kind, namespace: None, name: "" }, Some(&labels)).await? {
                let Ok(header) = child_header(object.to_string().as_bytes()) else { continue };
                let path = header.annotations.get(NODE_ANNOTATION).unwrap_or_default();
                let is_former = self.is_of_former_owner(&header);
                if (is_former || self.has_been_owner_of(&header)) && (path == node || is_below(path, node)) {
                    if is_former && !header.deleting {
                        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
                        self.shared.client.delete(target, &delete_params(kind, &header.uid, None)).await?;
                    }
                    let message = format!("{kind} {} is still in the cluster", header.key);
                    return Err(Error::yielding("WaitingFor", message));
                }
            }
        }
        Ok(())
    }
}
