//! Implements remote nodes, whose children are in another cluster.
//!
//! # Flow
//! 1. The build function returns where the kubeconfig of the cluster is.
//! 2. The children are removed from all other clusters of which the node has a record, and then these records.
//! 3. The record of the cluster is written, before anything is made there.
//! 4. The children are provisioned with a client and caches of the cluster.
//!
//! The teardown does the second step for all records. A cluster whose Secret is gone counts as gone.

mod record;

use crate::{
    client::Target,
    context::{Context, Teardown},
    engine::{
        child::child_header,
        controller_state::{RemoteCluster, RemoteNode},
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
    shape::{Edge, Provisioner, Shape},
    spans::node::in_span,
};
use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;
use std::sync::Arc;

/// Returns the edge to a child in another cluster; `line` is the line of its field.
#[track_caller]
pub const fn remote_edge<P: Provisioner>(name: &'static str, line: u32) -> Edge {
    edge::<P>(name, line).in_remote_cluster()
}

/// Returns the kubeconfig that a build function returned.
///
/// # Errors
/// Fails with the error of the build function.
pub fn kubeconfig_of(built: impl BuildResult<Kubeconfig>) -> Result<Kubeconfig> {
    built.into_result()
}

/// Provisions a child in the cluster whose kubeconfig the build function returns.
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
        // A test of the tree has one fake cluster for all nodes. A plan of this cluster has no objects of another one.
        if core.shared.tree_harness.is_some() {
            return C::provision(&cx.for_child(name, &inputs, inputs_digest)).await;
        }
        if core.is_plan {
            return Ok(());
        }
        let node: Arc<str> = cx.path().child(name).to_string().into();
        let record = kubeconfig.record(core.owner.default_namespace())?;
        core.check_record_namespace()?;
        let teardown = not_wanted(cx);
        for other in core.records(&node)? {
            // A damaged record is written again.
            let Some(other) = ClusterRecord::of(&other) else { continue };
            if !other.secret.is_of_same_cluster(&record.secret) {
                let abandon_after = record.abandon_after.or(other.abandon_after);
                remove_from::<C, O, P>(&teardown, name, (&node, &ClusterRecord { abandon_after, ..other })).await?;
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
        let Some(cluster) = core.connect(remote).await? else { return Err(missing(&record.secret)) };
        let _permit = cluster.begin().await?;
        let planner = RemotePlanner::<C, O, P> { cx, name, inputs: &inputs, inputs_digest };
        let inside = core.for_cluster(cluster.state(), Some(&planner));
        let outcome = {
            let child = cx.for_child_in(&inside, name, &inputs, inputs_digest);
            let run = report_panics(&inside, child.path(), C::provision(&child));
            in_span(core.is_recorded, child.path(), run).await
        };
        let deferred = inside.delete_deferred(&outcome).await;
        let restored = inside.restore_labels().await;
        core.add_side_effects(inside);
        cluster.convert_outcome(worst_outcome([outcome, deferred, restored]))
    }
    .boxed()
}

/// Deprovisions a child in all clusters of which its node has a record.
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
        for header in core.records(&node)? {
            let Some(record) = ClusterRecord::of(&header) else {
                let sentence = format!(
                    "ConfigMap {}, the record of the cluster of node {node}, is damaged; without it, the objects there remain",
                    header.key
                );
                return Err(Error::blocked("DamagedRecord", sentence));
            };
            remove_from::<C, O, P>(cx, name, (&node, &record)).await?;
        }
        core.converge_records(&node, None).await
    }
    .boxed()
}

/// Deprovisions a child in the cluster of a record, unless the cluster is gone or given up.
async fn remove_from<C: Provision<O>, O: Owner, P>(
    cx: &Teardown<'_, O, P>,
    name: &'static str,
    (node, record): (&Arc<str>, &ClusterRecord),
) -> Result<()> {
    let core = cx.core();
    let kubeconfig = &record.secret;
    let remote = RemoteNode { owner: &core.owner, path: node, tree: &C::SHAPE, kubeconfig, is_removed: true };
    if let Some(cluster) = core.connect(remote).await? {
        let outcome = match cluster.begin().await {
            Ok(_permit) => deprovision_in::<C, O, P>(cx, name, (node, &*cluster)).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => {}
            Err(_) if is_abandoned(&*cluster, record) => {
                let note = format!("gave up the objects in the cluster of {kubeconfig}, which can't be reached");
                tracing::warn!(owner = %core.owner.key, %kubeconfig, "the objects in a cluster are given up");
                let owner = core.owner.regarding();
                core.shared.recorder.record(&owner, EventType::Warning, "Abandoned", "Delete", &note);
            }
            Err(error) => return Err(error),
        }
    }
    if let Some(clusters) = &core.shared.remote_clusters {
        clusters.release(remote);
    }
    Ok(())
}

/// Returns whether a cluster can't be reached for longer than its record allows.
fn is_abandoned(cluster: &dyn RemoteCluster, record: &ClusterRecord) -> bool {
    let limit = record.abandon_after;
    limit.is_some_and(|limit| cluster.unreachable_for().is_some_and(|duration| duration >= limit))
}

/// Deprovisions a child in a cluster that can be used.
async fn deprovision_in<C: Provision<O>, O: Owner, P>(
    cx: &Teardown<'_, O, P>,
    name: &'static str,
    (node, cluster): (&str, &dyn RemoteCluster),
) -> Result<()> {
    let core = cx.core();
    let mut inside = core.for_cluster(cluster.state(), None);
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
    cluster.convert_outcome(outcome)
}

/// Runs the build functions of a child in another cluster.
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

    fn plan<'p>(&'p self, core: PassCore<'p>) -> BoxFuture<'p, Plan> {
        async move {
            let outcome = {
                let child = self.cx.for_child_in(&core, self.name, self.inputs, self.inputs_digest);
                catch_panic(C::provision(&child)).await
            };
            let claims = std::mem::take(&mut *core.claims.lock());
            Plan { claims, complete: outcome.is_ok() }
        }
        .boxed()
    }
}

/// Returns the yield of a cluster whose Secret does not exist.
fn missing(secret: &KubeconfigSecret) -> Error {
    Error::yielding("KubeconfigMissing", format!("waiting for {secret} with the kubeconfig of a cluster"))
}

impl PassCore<'_> {
    async fn connect(&self, node: RemoteNode<'_>) -> Result<Option<Arc<dyn RemoteCluster>>> {
        let Some(clusters) = &self.shared.remote_clusters else {
            return Err(Error::terminal("NotConnected", "the operator does not connect to other clusters"));
        };
        clusters.connect(node, &self.shared.client).await
    }

    /// Confirms with live lists that a node and all nodes below it have no object left in this cluster: the cache may lack one whose
    /// creation got no answer.
    ///
    /// # Errors
    /// A yield if there is an object. The error of a failed call.
    async fn confirm_absence(&self, node: &str) -> Result<()> {
        let client = self.shared.client.metadata_client();
        let labels = format!("{MANAGED_BY_LABEL}={}", self.shared.operator);
        let below = format!("{node}/");
        for (kind, children) in &self.shared.children {
            if children.health.state() == WatchState::Missing {
                continue;
            }
            for object in client.list::<Value>(Target { kind, namespace: None, name: "" }, Some(&labels)).await? {
                let Ok(header) = child_header(object.to_string().as_bytes()) else { continue };
                let path = header.annotations.get(NODE_ANNOTATION).unwrap_or_default();
                if self.has_been_owner_of(&header) && (path == node || path.starts_with(&below)) {
                    let message = format!("{kind} {} is still in the cluster", header.key);
                    return Err(Error::yielding("WaitingFor", message));
                }
            }
        }
        Ok(())
    }
}
