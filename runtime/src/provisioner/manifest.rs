//! Implements manifest nodes: tree nodes that apply objects of several kinds from YAML text.
//!
//! # Flow
//! 1. The objects are applied in order of their [`rank`]: Namespaces, definitions and classes, ServiceAccounts, roles,
//!    configuration, volumes, Services, workloads, custom resources, and last webhooks and API services. A rank starts when all
//!    objects of the previous one are ready.
//! 2. Objects of the node that are no longer wanted are deleted in reverse order; a rank starts when the objects of the
//!    previous one are confirmed to be gone. Objects that another node of the tree claims stay: see
//!    [`claim`](crate::engine::claim).
//!
//! # Guarantees
//! As for a resource node: no write without a difference, edits of other clients are repaired, and objects of other owners are
//! not touched.

use crate::{
    context::{Context, Teardown},
    engine::{pass::PassCore, staged::StagedObjects},
    error::{Error, Result},
    kind::{Kind, Typed, kind_of},
    managed::Owner,
    provisioner::{
        build::BuildResult,
        group::{declared_at, report_build_panics},
    },
    shape::{Access, Edge, EmbeddedManifest, InvalidManifest, Node, Provisioner, Shape, documents, rank},
};
use futures::{FutureExt, future::BoxFuture};
use std::{borrow::Cow, fmt, sync::Arc};

/// Objects as YAML: the type of a field with `#[provisioner(manifest)]`, and the return type of its function.
///
/// `#[provisioner(manifest = "manifests/agent.yaml")] agent: Manifest` applies a file of the source tree; the path is relative to
/// the root of the crate. `#[provisioner(manifest(ConfigMap, Deployment))] agent: Manifest` applies the text that
/// `fn agent(app: &App) -> Manifest` (or a `Result` of it) returns, which may have objects of these kinds only.
///
/// The role of the operator gets the rights for the kinds in the file and for the named kinds. Kinds of Kubernetes itself are
/// known by their names; a custom kind in a file needs its type: `manifest("manifests/agent.yaml", Gauge)`. If a kind leaves
/// the file, name it for one more release, so that the operator can remove its objects; keep a removed manifest for a release
/// with `when = |_| false`.
///
/// Objects without a namespace are created in the namespace of their owner. Their names are fixed, so a cluster-scoped object can
/// have one owner only.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
/// # use opgen::prelude::*;
/// #[derive(Provisioner)]
/// #[provisioner(serial, owner = Foreign<Namespace>)]
/// struct Tree {
///     #[provisioner(manifest(ConfigMap))]
///     settings: Manifest,
/// }
///
/// impl Tree {
///     fn settings(namespace: &Namespace) -> Manifest {
///         let name = namespace.name_any();
///         format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings}}\ndata: {{namespace: {name}}}\n").into()
///     }
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Manifest(Cow<'static, str>);

impl fmt::Debug for Manifest {
    /// Omits the text, which may contain a Secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Manifest")
    }
}

impl From<&'static str> for Manifest {
    fn from(text: &'static str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Manifest {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

/// Returns the edge to a manifest child.
#[track_caller]
pub const fn manifest_edge(name: &'static str, shape: &'static Shape, line: u32) -> Edge {
    Edge::plain(name, shape, declared_at(line))
}

/// Returns the access of a manifest node to a kind that its attribute names.
pub const fn applied<K: Typed>() -> Access {
    Access::applied(kind_of::<K>)
}

/// Provisions a manifest node with a build function: applies the objects in the YAML text that the function returns, and deletes all other
/// objects of the node.
pub fn apply_manifest<'c, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    build: impl FnOnce() -> Result<Manifest> + Send + 'c,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    // `build` runs inside the future: after the nodes that this node depends on, and where a panic is caught as an error of this node
    // alone.
    async move {
        let manifest = report_build_panics(cx.core(), &node, build)?;
        cx.core().converge_manifest(&node, shape_of::<P>(name)?, Some(&manifest.0)).await
    }
    .boxed()
}

/// Provisions a manifest node with a file: applies the objects in the text of the file, which is embedded in the program, and deletes all
/// other objects of the node.
pub fn apply_file<'c, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    async move {
        let shape = shape_of::<P>(name)?;
        let Node::Manifest(EmbeddedManifest { text, .. }) = shape.node else { return Err(unknown_manifest(name)) };
        cx.core().converge_manifest(&node, shape, Some(text)).await
    }
    .boxed()
}

/// Deprovisions a manifest node: deletes all its objects.
pub fn remove_manifest<'c, O: Owner, P: Provisioner>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    async move { cx.core().converge_manifest(&node, shape_of::<P>(name)?, None).await }.boxed()
}

/// Returns the manifest that a build function returned.
///
/// # Errors
/// Fails with the error of the build function.
pub fn text_of(built: impl BuildResult<Manifest>) -> Result<Manifest> {
    built.into_result()
}

/// Returns the shape of a manifest child of the group `P`.
fn shape_of<P: Provisioner>(name: &str) -> Result<&'static Shape> {
    let shape: &'static Shape = &P::SHAPE;
    shape.find(name).ok_or_else(|| unknown_manifest(name))
}

fn unknown_manifest(name: &str) -> Error {
    Error::terminal("InvalidManifest", format!("the tree has no manifest {name}"))
}

fn invalid_manifest(error: InvalidManifest) -> Error {
    Error::terminal("InvalidManifest", error.to_string())
}

impl PassCore<'_> {
    /// Applies the objects in the YAML `text`, rank by rank, and deletes all other objects of the node. Without a text, it deletes all of
    /// them.
    ///
    /// # Errors
    /// A terminal error if the text is invalid. A yield while objects are not ready or not gone.
    async fn converge_manifest(&self, node: &Arc<str>, shape: &'static Shape, text: Option<&str>) -> Result<()> {
        let kinds: Vec<Kind> = shape.permissions().map_err(invalid_manifest)?.iter().filter_map(Access::kind).collect();
        // Errors name the file of the manifest, or the node if the text comes from a build function.
        let source = match shape.node {
            Node::Manifest(EmbeddedManifest { file, .. }) if !file.is_empty() => file,
            _ => node,
        };
        let mut wanted = Vec::new();
        for document in documents(source, text.unwrap_or_default()).map_err(invalid_manifest)? {
            wanted.push((document.kind_in(source, &kinds).map_err(invalid_manifest)?, document.object));
        }
        let stage = |kind: &Kind| usize::from(rank(kind));
        self.converge_stages(node, StagedObjects { kinds: &kinds, wanted, stage: &stage, removed_first: &[] }).await
    }
}
