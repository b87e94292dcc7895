//! The manifest node: objects of several kinds, given as YAML.
//!
//! # Flow
//! 1. The objects are made rank by rank: what they live in, what defines them, what they run as, what they read, what runs,
//!    what is about that. A rank is begun when all of the one before is ready.
//! 2. What the node made and no longer wants is deleted in the reverse order, a rank when the one behind it is really gone. What
//!    another node of the tree wants is not deleted: see [`claim`](crate::engine::claim).
//!
//! # Guarantees
//! As of a resource node: nothing is written that is as wanted; edits are repaired; a stranger's object is left alone.

use crate::{
    cache::ObjectKey,
    context::{Context, Teardown},
    engine::{claimed::unversioned, desired::Desired, pass::Core, waits::Waits},
    error::{Error, Result},
    informer::watch::WatchState,
    kind::{Kind, Typed, kind_of},
    managed::Owner,
    provisioner::{build::Builds, group::here},
    shape::{Access, Edge, Embedded, Malformed, Node, Provisioner, ResourceOptions, Shape, documents, rank},
};
use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;
use std::{borrow::Cow, collections::HashSet, fmt, sync::Arc};

/// Objects as YAML: the type of a field that is marked `#[provisioner(manifest)]`, and what its function gives.
///
/// `#[provisioner(manifest = "manifests/agent.yaml")] agent: Manifest` applies a file of the source tree as it is; the path
/// begins at the crate's root. `#[provisioner(manifest(ConfigMap, Deployment))] agent: Manifest` applies the text that
/// `fn agent(app: &App) -> Manifest` (or a `Result` of it) gives; it holds objects of these kinds only.
///
/// The role has what the kinds need: those of the file, and those that are named. The kinds of Kubernetes are known by their
/// names; a custom kind of a file is named by its type: `manifest("manifests/agent.yaml", Gauge)`. A kind that leaves the file
/// stays named for a release, so that its objects can be removed; so does a manifest, with `when = |_| false`.
///
/// Objects without a namespace are made where their owner is, and have names of their own: what lives in no namespace can be
/// made for one owner only.
#[derive(Clone, PartialEq, Eq)]
pub struct Manifest(Cow<'static, str>);

impl fmt::Debug for Manifest {
    // The text may hold a Secret.
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

/// A child that is a text of objects.
#[track_caller]
pub const fn manifest_edge(name: &'static str, shape: &'static Shape, line: u32) -> Edge {
    Edge::plain(name, shape, here(line))
}

/// The permission for a kind that a manifest names.
pub const fn applied<K: Typed>() -> Access {
    Access::applied(kind_of::<K>)
}

/// Makes the objects of a manifest node exactly those of the text that its function gives.
pub fn apply_manifest<'c, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    build: impl FnOnce() -> Result<Manifest>,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    let built = build();
    async move { cx.core().converge_manifest(&node, shape_of::<P>(name)?, Some(&built?.0)).await }.boxed()
}

/// Makes the objects of a manifest node exactly those of its file.
pub fn apply_file<'c, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    async move {
        let shape = shape_of::<P>(name)?;
        let Node::Manifest(Embedded { text, .. }) = shape.node else { return Err(lost(name)) };
        cx.core().converge_manifest(&node, shape, Some(text)).await
    }
    .boxed()
}

/// Removes the objects of a manifest node.
pub fn remove_manifest<'c, O: Owner, P: Provisioner>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    async move { cx.core().converge_manifest(&node, shape_of::<P>(name)?, None).await }.boxed()
}

/// What a build function gave, as text.
///
/// # Errors
/// The error of the build function.
pub fn text_of(built: impl Builds<Manifest>) -> Result<Manifest> {
    built.built()
}

fn shape_of<P: Provisioner>(name: &str) -> Result<&'static Shape> {
    let shape: &'static Shape = &P::SHAPE;
    shape.find(name).ok_or_else(|| lost(name))
}

fn lost(name: &str) -> Error {
    Error::terminal("InvalidManifest", format!("the tree has no manifest {name}"))
}

fn refused(malformed: Malformed) -> Error {
    Error::terminal("InvalidManifest", malformed.to_string())
}

impl Core<'_> {
    async fn converge_manifest(&self, node: &Arc<str>, shape: &'static Shape, text: Option<&str>) -> Result<()> {
        let kinds: Vec<Kind> = shape.permissions().map_err(refused)?.iter().filter_map(Access::kind).collect();
        let source = match shape.node {
            Node::Manifest(Embedded { file, .. }) if !file.is_empty() => file,
            _ => node,
        };
        let mut wanted = Vec::new();
        for document in documents(source, text.unwrap_or_default()).map_err(refused)? {
            wanted.push((document.kind_in(source, &kinds).map_err(refused)?, document.object));
        }
        wanted.sort_by_key(|(kind, _)| rank(kind));
        if let Some(rehearsal) = &self.shared.rehearsal {
            let objects: Vec<Value> = wanted.into_iter().map(|(_, object)| object).collect();
            return rehearsal.converge(node, &objects);
        }
        let wanted = self.claim_all(node, wanted)?;
        if self.is_plan {
            return Ok(());
        }
        let built = self.make(node, &wanted).await?;
        self.prune(node, &kinds, &built).await
    }

    /// Applies what is wanted, rank by rank.
    async fn make(&self, node: &Arc<str>, wanted: &[(Kind, Desired)]) -> Result<HashSet<(Kind, ObjectKey)>> {
        let mut built = HashSet::new();
        for of_rank in wanted.chunk_by(|(one, _), (next, _)| rank(one) == rank(next)) {
            let mut waits = Waits::new(node);
            for (kind, desired) in of_rank {
                let (children, key) = (self.shared.children(kind)?, desired.key());
                children.readable()?;
                waits.add(kind, &key, &self.ensure(children, ResourceOptions::DEFAULT, &key, desired).await?);
                built.insert((unversioned(kind), key));
            }
            waits.over()?;
        }
        Ok(built)
    }

    /// Deletes what is not among the built, in the reverse order.
    async fn prune(&self, node: &Arc<str>, kinds: &[Kind], built: &HashSet<(Kind, ObjectKey)>) -> Result<()> {
        let mut kinds = kinds.to_vec();
        kinds.sort_by_key(|kind| std::cmp::Reverse(rank(kind)));
        for of_rank in kinds.chunk_by(|one, next| rank(one) == rank(next)) {
            let mut waits = Waits::new(node);
            for kind in of_rank {
                let children = self.shared.children(kind)?;
                if children.health.state() == WatchState::Missing {
                    continue;
                }
                children.readable()?;
                let mut unwanted = self.of_node(children, node);
                unwanted.retain(|entry| !built.contains(&(unversioned(kind), entry.header.key.clone())));
                for entry in self.unclaimed(kind, node, unwanted).await {
                    self.delete_child(kind, &entry).await?;
                }
                self.still_there(children, kind, node, &mut waits).await?;
            }
            waits.over()?;
        }
        Ok(())
    }
}
