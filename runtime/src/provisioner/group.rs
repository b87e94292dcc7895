//! How the nodes of a tree call each other: what expansions name, one line for each child.

use crate::{
    context::{Cause, Context, Draft, Teardown, Unversioned},
    engine::pass::Core,
    environment::Passing,
    error::{Error, Result},
    kind::kind_of,
    managed::Owner,
    provisioner::{
        Provision,
        build::{Builds, Objects, wanted},
        output::inputs,
    },
    shape::{Access, Edge, Node, Path, Place, Provisioner, ResourceOptions, Shape},
};
use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;
use std::{
    any::Any,
    marker::PhantomData,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    sync::Arc,
};

/// A child that is a provisioner.
#[track_caller]
pub const fn edge<P: Provisioner>(name: &'static str, line: u32) -> Edge {
    Edge::plain(name, &P::SHAPE, here(line))
}

/// A child that is a set of objects of one kind.
#[track_caller]
pub const fn resource_edge<T: Objects<M>, M: 'static>(name: &'static str, line: u32) -> Edge {
    Edge { count: T::COUNT, ..Edge::plain(name, &ResourceNode::<T, M>::SHAPE, here(line)) }
}

/// The field that an edge is for: the caller is its derive, in the same file.
#[track_caller]
pub(crate) const fn here(line: u32) -> Place {
    Place { file: Location::caller().file(), line }
}

struct ResourceNode<T, M>(PhantomData<fn() -> (T, M)>);

impl<T: Objects<M>, M: 'static> ResourceNode<T, M> {
    const SHAPE: Shape = Shape { node: Node::Resource, access: &[Access::applied(kind_of::<T::Kind>)], children: &[] };
}

// Boxed at every edge of the tree, so that a future's size doesn't grow with its depth.

/// What is handed down to a child is what it takes.
#[diagnostic::on_unimplemented(
    message = "a child that takes `{T}` is handed `{Self}`",
    label = "`from(...)` and its `takes(...)` differ",
    note = "name in the field's `from(...)` what the child's `takes(...)` asks for, in the same order"
)]
pub trait Hands<T> {
    /// The same.
    fn handed(self) -> T;
}

impl<T> Hands<T> for T {
    fn handed(self) -> T {
        self
    }
}

/// Provisions a child.
pub fn up<'c, C: Provision<O>, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>>
where
    (): Hands<C::Takes>,
{
    up_with::<C, O, P, ()>(cx, name, (), inputs(cx, &[]))
}

/// Provisions a child that takes what is `handed`; `inputs` are what its build functions depend on.
pub fn up_with<'c, C: Provision<O>, O: Owner, P: Provisioner, H: Hands<C::Takes>>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    handed: H,
    inputs: Option<u64>,
) -> BoxFuture<'c, Result<()>> {
    let taken = handed.handed();
    async move {
        if is_left_out::<C>(cx.core()) {
            return Ok(());
        }
        let below = cx.below(name, &taken, inputs);
        told_of_panics(cx.core(), below.path(), C::provision(&below)).await
    }
    .boxed()
}

/// Runs the code of a node; a panic goes on, but the environment knows of it.
async fn told_of_panics<T>(core: &Core<'_>, path: &Path<'_>, run: impl Future<Output = T>) -> T {
    let outcome = AssertUnwindSafe(run).catch_unwind().await;
    outcome.unwrap_or_else(|payload| panicked(core, &path.to_string(), payload))
}

fn panicked(core: &Core<'_>, node: &str, payload: Box<dyn Any + Send>) -> ! {
    let Core { shared, owner, .. } = core;
    let pass = Passing { kind: &owner.kind, namespace: owner.namespace(), name: owner.name() };
    shared.environment.node_panicked(pass, node);
    resume_unwind(payload)
}

/// Deprovisions a child.
pub fn down<'c, C: Provision<O>, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    async move {
        if is_left_out::<C>(cx.core()) {
            return Ok(());
        }
        let below = cx.below(name);
        told_of_panics(cx.core(), below.path(), C::deprovision(&below)).await
    }
    .boxed()
}

/// Whether a child has no part in this pass: a plan runs build functions only, and a hand-written node has none.
pub(crate) fn is_left_out<C: Provisioner>(core: &Core<'_>) -> bool {
    core.is_plan && !matches!(C::SHAPE.node, Node::Group { .. })
}

/// Makes the objects of a resource node exactly the wanted ones.
pub fn apply<'c, T: Objects<M>, M, O: Owner, P: Provisioner, B: Builds<T>>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    build: impl FnOnce(&Draft<'_, O>) -> B + Send + 'c,
) -> BoxFuture<'c, Result<()>> {
    let options = ResourceOptions::DEFAULT;
    apply_with::<T, M, O, P>(cx, name, options, inputs(cx, &[]), |draft| wanted::<T, M>(build(draft)))
}

/// As [`apply`], on terms. What was built from the same inputs in an earlier pass is not built again.
pub fn apply_with<'c, T: Objects<M>, M, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    options: ResourceOptions,
    inputs: Option<u64>,
    build: impl FnOnce(&Draft<'_, O>) -> Result<Vec<Value>> + Send + 'c,
) -> BoxFuture<'c, Result<()>> {
    let kind = kind_of::<T::Kind>();
    // Nothing happens before the child's turn, and a panic of `build` is the child's own. The long way has its own box, since
    // mostly nothing has changed.
    async move {
        let node: Arc<str> = cx.path().child(name).to_string().into();
        if let Some(outcome) = cx.core().as_built(&node, &kind, options, inputs) {
            return outcome;
        }
        let (wanted, inputs) = {
            let unversioned = Unversioned::default();
            let draft = cx.draft(&unversioned);
            let built = catch_unwind(AssertUnwindSafe(|| build(&draft)));
            let built = built.unwrap_or_else(|payload| panicked(cx.core(), &node, payload));
            (built?, draft.inputs(inputs))
        };
        cx.core().converge(&node, &kind, options, inputs, wanted).boxed().await
    }
    .boxed()
}

/// Removes the objects of a resource node.
pub fn remove<'c, T: Objects<M>, M, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    remove_with::<T, M, O, P>(cx, name, ResourceOptions::DEFAULT)
}

/// As [`remove`], on terms.
pub fn remove_with<'c, T: Objects<M>, M, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
    options: ResourceOptions,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    let (core, kind) = (cx.core(), kind_of::<T::Kind>());
    async move { core.converge(&node, &kind, options, None, Vec::new()).await }.boxed()
}

/// Removes, on the way up, what is left of a node of an earlier release.
pub fn retire<'c, T: Objects<M>, M, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    async move { remove_with::<T, M, O, P>(&not_wanted(cx), name, ResourceOptions::RETIRED).await }.boxed()
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
#[non_exhaustive]
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
