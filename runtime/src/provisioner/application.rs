//! Implements application nodes: tree nodes that deploy an application through a continuous delivery (CD) system such as Flux.
//!
//! # Flow
//! 1. The build function returns the application, and the driver its objects.
//! 2. If the application was renamed, the old object that deploys it is deleted first, and confirmed to be gone: else the CD system
//!    would remove what the new object deploys. The object that deploys has the last kind of the driver.
//! 3. The objects are applied in the order of the driver's kinds; a kind starts when the objects before it are ready.
//! 4. Objects of the node that are no longer wanted are deleted in the reverse order. This needs neither the build function nor the
//!    driver, so an application that can't be built any more can be removed.
//!
//! # Below a remote node
//! If the driver has a registration, the objects are in the operator's cluster, and the CD system there deploys into the cluster of the
//! remote node, which has registered it before. Else the objects are in that cluster, for a CD system there.
//!
//! # Guarantees
//! As for a resource node: no write without a difference, edits of other clients are repaired, and objects of other owners are
//! not touched.

use crate::{
    cd::{Application, ApplicationOwner, Driver, InvalidApplication},
    context::{Context, Teardown},
    engine::{pass::PassCore, staged::StagedObjects},
    error::{Error, Result},
    kind::Kind,
    managed::Owner,
    provisioner::{
        build::BuildResult,
        group::{declared_at, report_build_panics},
        remote::deploying_kind,
    },
    shape::{Access, Edge, Node, Provisioner, Registration, Shape},
};
use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;
use std::{marker::PhantomData, sync::Arc};

/// Provides the constant shape of an application node.
struct ApplicationNode<D>(PhantomData<fn() -> D>);

impl<D: Driver> ApplicationNode<D> {
    const SHAPE: Shape = Shape { node: Node::Application(D::NAME), access: D::ACCESS, children: &[] };
}

/// Returns the edge to an application child that a driver deploys.
#[track_caller]
pub const fn application_edge<D: Driver>(name: &'static str, line: u32) -> Edge {
    Edge { registration: D::REGISTRATION, ..Edge::plain(name, &ApplicationNode::<D>::SHAPE, declared_at(line)) }
}

/// Provisions an application node: applies the objects of the application that its build function returns, and deletes all others of
/// the node.
pub fn apply_application<'c, D: Driver, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    build: impl FnOnce() -> Result<Application> + Send + 'c,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    let core = core_of_application(cx.core(), D::REGISTRATION);
    // `build` runs inside the future: after the nodes that this node depends on, and where a panic is caught as an error of this node
    // alone.
    async move {
        let objects = report_build_panics(cx.core(), &node, || application_objects::<D>(cx.core(), &node, build))?;
        let outcome = core.converge_application(&node, D::ACCESS, objects).await;
        // With a registration, the calls went to the operator's cluster: their failure is no failure of the cluster of the node.
        if D::REGISTRATION.is_some() { cx.core().mark_operator_cluster_error(outcome) } else { outcome }
    }
    .boxed()
}

/// Runs the build function of an application node, and returns the objects with which the driver `D` makes the CD system deploy the
/// application. Some drivers register the cluster of a remote node with the CD system; then each object gets a label with the name of the
/// registration.
///
/// # Errors
/// Fails with the error of the build function, of the credentials of the cluster, or of the driver.
fn application_objects<'a, D: Driver>(
    core: &'a PassCore<'a>,
    node: &str,
    build: impl FnOnce() -> Result<Application>,
) -> Result<Vec<Value>> {
    let (owner, core_of_cd_system) = (&core.owner, core_of_application(core, D::REGISTRATION));
    let application_owner = ApplicationOwner {
        operator: &core_of_cd_system.shared.operator,
        kind: owner.kind.full_name(),
        name: owner.name(),
        namespace: owner.default_namespace(),
        object_namespace: core_of_cd_system.owner.default_namespace(),
        node,
        cluster: core.cluster_identity(),
    };
    // The cluster of the remote node as the CD system knows it; `None` if the driver has no registration, and for a node in the operator's
    // cluster.
    let registered_cluster = match D::REGISTRATION.zip(deploying_kind(&ApplicationNode::<D>::SHAPE)) {
        Some((registration, deploying)) => core.registered_cluster(registration, &deploying)?,
        None => None,
    };
    let application = build()?.resolve(&application_owner, registered_cluster.as_ref());
    let objects = application.and_then(|application| D::objects(&application));
    let mut objects = objects.map_err(|error| error.into_error(node))?;
    // The Secret of the registration is kept as long as an object has its name in this label.
    if let Some(cluster) = &registered_cluster {
        objects.iter_mut().for_each(|object| cluster.mark_user(object));
    }
    Ok(objects)
}

/// Returns the state of the pass for the cluster in which the objects of an application are: the operator's cluster if the driver has a
/// registration, and else the cluster of the node.
fn core_of_application<'a>(core: &'a PassCore<'a>, registration: Option<Registration>) -> &'a PassCore<'a> {
    if registration.is_some() { core.in_operator_cluster() } else { core }
}

/// Deprovisions an application node: deletes all its objects.
pub fn remove_application<'c, O: Owner, P: Provisioner>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    async move {
        let group: &'static Shape = &P::SHAPE;
        let Edge { shape, registration, .. } = group.edge(name).ok_or_else(|| unknown_application(name))?;
        let core = core_of_application(cx.core(), *registration);
        let outcome = core.converge_application(&node, shape.access, Vec::new()).await;
        if registration.is_some() { cx.core().mark_operator_cluster_error(outcome) } else { outcome }
    }
    .boxed()
}

/// Returns the application that a build function returned.
///
/// # Errors
/// Fails with the error of the build function.
pub fn application_of(built: impl BuildResult<Application>) -> Result<Application> {
    built.into_result()
}

fn unknown_application(name: &str) -> Error {
    Error::terminal("InvalidApplication", format!("the tree has no application {name}"))
}

impl PassCore<'_> {
    /// Applies `objects` and deletes all other objects of the node. `access` has the kinds of the driver in the order in which they are
    /// applied.
    ///
    /// # Errors
    /// Fails if an object has another kind, or is in a namespace that the operator does not watch. A yield while objects are not ready.
    async fn converge_application(
        &self,
        node: &Arc<str>,
        access: &'static [Access],
        objects: Vec<Value>,
    ) -> Result<()> {
        let kinds: Vec<Kind> = access.iter().filter_map(Access::kind).collect();
        let mut wanted = Vec::with_capacity(objects.len());
        for object in objects {
            let is_kind_of_object =
                |kind: &&Kind| object["apiVersion"] == kind.api_version() && object["kind"] == *kind.kind;
            let Some(kind) = kinds.iter().find(is_kind_of_object) else {
                let (kind, version) = (&object["kind"], &object["apiVersion"]);
                let problem = format!("the driver has no access to {kind} of {version}");
                return Err(InvalidApplication::new(problem).into_error(node));
            };
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
            if kind.namespaced && !namespace.is_empty() && !self.shared.namespaces.contains(namespace) {
                let problem = format!("the operator does not watch namespace {namespace}, where its {} is", kind.kind);
                return Err(InvalidApplication::new(problem).into_error(node));
            }
            wanted.push((kind.clone(), object));
        }
        let stage = |kind: &Kind| kinds.iter().position(|other| other == kind).unwrap_or_default();
        // The last kind deploys the application. Its old object is gone before a renamed application is applied: else the CD system would
        // remove what the new object deploys.
        let removed_first = kinds.last().map(std::slice::from_ref).unwrap_or_default();
        self.converge_stages(node, StagedObjects { kinds: &kinds, wanted, stage: &stage, removed_first }).await
    }
}
