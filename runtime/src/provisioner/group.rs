//! How the nodes of a tree call each other: what expansions name, one line for each child.

use crate::{
    context::{Cause, Context, Teardown},
    error::{Error, Result},
    kind::kind_of,
    managed::Owner,
    provisioner::{
        Provision, Provisioner,
        built::Objects,
        shape::{Access, Edge, Node, Place, ResourceOptions, Shape},
    },
};
use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;
use std::{marker::PhantomData, sync::Arc};

/// A child that is a provisioner.
pub const fn edge<P: Provisioner>(name: &'static str, file: &'static str, line: u32) -> Edge {
    Edge::plain(name, &P::SHAPE, Place { file, line })
}

/// A child that is a set of objects of one kind.
pub const fn resource_edge<T: Objects<M>, M: 'static>(name: &'static str, file: &'static str, line: u32) -> Edge {
    Edge::plain(name, &Resource::<T, M>::SHAPE, Place { file, line })
}

struct Resource<T, M>(PhantomData<fn() -> (T, M)>);

impl<T: Objects<M>, M: 'static> Resource<T, M> {
    const SHAPE: Shape = Shape { node: Node::Resource, access: &[Access::applied(kind_of::<T::Kind>)], children: &[] };
}

// Boxed at every edge of the tree, so that a future's size doesn't grow with its depth.

/// Provisions a child that takes `taken`; `inputs` are what its build functions depend on.
pub fn up<'c, C: Provision<O>, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    taken: C::Takes,
    inputs: Option<u64>,
) -> BoxFuture<'c, Result<()>> {
    async move { C::provision(&cx.below(name, &taken, inputs)).await }.boxed()
}

/// Deprovisions a child.
pub fn down<'c, C: Provision<O>, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    async move { C::deprovision(&cx.below(name)).await }.boxed()
}

/// Makes the objects of a resource node exactly the wanted ones. What was built from the same inputs in an earlier pass is
/// not built again.
pub fn apply<'c, T: Objects<M>, M, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    options: ResourceOptions,
    inputs: Option<u64>,
    build: impl FnOnce() -> Result<Vec<Value>>,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    let (core, kind) = (cx.core(), kind_of::<T::Kind>());
    if let Some(outcome) = core.as_built(&node, &kind, options, inputs) {
        return std::future::ready(outcome).boxed();
    }
    let wanted = build();
    async move { core.converge(&node, &kind, options, inputs, wanted?).await }.boxed()
}

/// Removes the objects of a resource node.
pub fn remove<'c, T: Objects<M>, M, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
    options: ResourceOptions,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    let (core, kind) = (cx.core(), kind_of::<T::Kind>());
    async move { core.converge(&node, &kind, options, None, Vec::new()).await }.boxed()
}

/// What the predicate of a `when` may answer.
#[diagnostic::on_unimplemented(
    message = "a predicate answers `bool`, found `{Self}`",
    label = "`bool`, `Result<bool>`, or `Wanted` with a reason"
)]
pub trait Answers {
    /// The answer.
    ///
    /// # Errors
    /// The error of the predicate.
    fn answered(self) -> Result<Wanted>;
}

/// Whether a child is wanted, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It is.
    Yes,
    /// It is not, and is removed; the reason is said in the log.
    No(String),
}

impl Answers for Wanted {
    fn answered(self) -> Result<Wanted> {
        Ok(self)
    }
}

impl Answers for bool {
    fn answered(self) -> Result<Wanted> {
        Ok(if self { Wanted::Yes } else { Wanted::No(String::new()) })
    }
}

impl<A: Answers, E: Into<Error>> Answers for Result<A, E> {
    fn answered(self) -> Result<Wanted> {
        self.map_err(Into::into)?.answered()
    }
}

/// Whether a child is wanted.
///
/// # Errors
/// The error of the predicate.
pub fn is_wanted<O: Owner, P: Provisioner>(
    cx: &Context<'_, O, P>,
    name: &'static str,
    answer: impl Answers,
) -> Result<bool> {
    match answer.answered()? {
        Wanted::Yes => Ok(true),
        Wanted::No(reason) => {
            tracing::trace!(node = %cx.path().child(name), reason, "not wanted");
            Ok(false)
        }
    }
}

/// The way down, for a child that is not wanted.
pub fn not_wanted<'a, O: Owner, P: Provisioner>(cx: &Context<'a, O, P>) -> Teardown<'a, O, P> {
    cx.turned(Cause::NotWanted)
}

/// What a predicate or an `each` asks: the object, below `each` the item.
pub fn subject<'a, O: Owner, P: Provisioner>(cx: &Context<'a, O, P>) -> &'a O::Subject {
    cx.subject()
}

// A closure goes through a function that says what it takes, so that its arguments need no types, and what it gives may
// borrow from them. The number is that of the arguments.

/// Asks about one thing.
pub fn ask1<'a, A, R>(a: &'a A, question: impl FnOnce(&'a A) -> R) -> R {
    question(a)
}

/// Asks about two things.
pub fn ask2<'a, A, B, R>(a: &'a A, b: &'a B, question: impl FnOnce(&'a A, &'a B) -> R) -> R {
    question(a, b)
}

/// Asks about three things.
pub fn ask3<'a, A, B, C, R>(a: &'a A, b: &'a B, c: &'a C, question: impl FnOnce(&'a A, &'a B, &'a C) -> R) -> R {
    question(a, b, c)
}

/// Asks about four things.
pub fn ask4<'a, A, B, C, D, R>(
    a: &'a A,
    b: &'a B,
    c: &'a C,
    d: &'a D,
    question: impl FnOnce(&'a A, &'a B, &'a C, &'a D) -> R,
) -> R {
    question(a, b, c, d)
}
