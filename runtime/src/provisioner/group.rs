//! How the nodes of a tree call each other: what expansions name, one line for each child.

use crate::{
    context::{Context, Path, Teardown},
    error::{Error, Result},
    kind::{Kind, kind_of},
    managed::Owner,
    pass::Core,
    provisioner::{
        Provision, Provisioner,
        built::Objects,
        shape::{Access, Edge, Node, Shape, Verb},
    },
};
use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;
use std::{future::Future, marker::PhantomData, panic::AssertUnwindSafe};

/// A child that is a provisioner.
pub const fn edge<P: Provisioner>(name: &'static str) -> Edge {
    Edge { name, shape: &P::SHAPE }
}

/// A child that is a set of objects of one kind.
pub const fn resource_edge<T: Objects<M>, M: 'static>(name: &'static str) -> Edge {
    Edge { name, shape: &Resource::<T, M>::SHAPE }
}

struct Resource<T, M>(PhantomData<fn() -> (T, M)>);

impl<T: Objects<M>, M: 'static> Resource<T, M> {
    const SHAPE: Shape = Shape {
        node: Node::Resource,
        access: &[Access {
            kind: kind_of::<T::Kind>,
            subresource: "",
            // `get`: before the first apply of a name, to leave a stranger's object alone; and before its end is believed.
            verbs: &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete],
        }],
        children: &[],
    };
}

// Boxed at every edge of the tree, so that a future's size doesn't grow with its depth.

/// Provisions a child.
pub fn up<'c, C: Provision<O>, O: Owner, P>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    async move { C::provision(&cx.below(name)).await }.boxed()
}

/// Deprovisions a child.
pub fn down<'c, C: Provision<O>, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    async move { C::deprovision(&cx.below(name)).await }.boxed()
}

/// Makes the objects of a resource node exactly the wanted ones.
pub fn apply<'c, T: Objects<M>, M, O: Owner, P>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    wanted: Result<Vec<Value>>,
) -> BoxFuture<'c, Result<()>> {
    converge(cx.core(), cx.path(), name, kind_of::<T::Kind>(), wanted)
}

/// Removes the objects of a resource node.
pub fn remove<'c, T: Objects<M>, M, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    converge(cx.core(), cx.path(), name, kind_of::<T::Kind>(), Ok(Vec::new()))
}

fn converge<'c>(
    core: &'c Core<'_>,
    path: &Path<'_>,
    name: &str,
    kind: Kind,
    wanted: Result<Vec<Value>>,
) -> BoxFuture<'c, Result<()>> {
    let node = path.child(name).to_string();
    async move { core.converge(&node, &kind, wanted?).await }.boxed()
}

/// A child's future of one size, for [`concurrently`].
pub fn boxed<'a>(child: impl Future<Output = Result<()>> + Send + 'a) -> BoxFuture<'a, Result<()>> {
    child.boxed()
}

/// Runs all children to their end, whatever becomes of the others; the gravest outcome speaks for all.
pub async fn concurrently<const N: usize>(children: [BoxFuture<'_, Result<()>>; N]) -> Result<()> {
    let outcomes = futures::future::join_all(children.into_iter().map(guarded)).await;
    let mut failed: Vec<Error> = outcomes.into_iter().filter_map(Result::err).collect();
    // Stable, so that ties go to the child declared first.
    failed.sort_by_key(Error::rank);
    let mut failed = failed.into_iter();
    let Some(winner) = failed.next() else { return Ok(()) };
    for other in failed {
        tracing::debug!(error = %other, "another child of the group did not succeed either");
    }
    Err(winner)
}

/// A panic in a child is that child's error, not its siblings' end.
pub async fn guarded(child: impl Future<Output = Result<()>>) -> Result<()> {
    match AssertUnwindSafe(child).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(payload) => Err(Error::Unexpected(Box::new(Panicked::from(payload)))),
    }
}

/// A provisioner panicked.
#[derive(Debug, thiserror::Error)]
#[error("a provisioner panicked: {0}")]
pub(crate) struct Panicked(String);

impl From<Box<dyn std::any::Any + Send>> for Panicked {
    fn from(payload: Box<dyn std::any::Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        Self(
            text.or_else(|| payload.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "without a message".to_owned()),
        )
    }
}
