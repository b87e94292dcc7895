//! Provisions and deprovisions the children of a group, for the code that `#[derive(Provisioner)]` generates.

use crate::{
    context::{Cause, Context, Draft, Teardown, UnversionedReads},
    engine::pass::PassCore,
    environment::PassStart,
    error::{Error, Result},
    kind::kind_of,
    managed::Owner,
    provisioner::{
        Provision,
        build::{BuildResult, ResourceField, desired_objects},
        output::inputs_digest,
    },
    shape::{Access, Edge, Node, Path, Provisioner, ResourceOptions, Shape, SourceLocation},
    spans::node::in_span,
};
use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::core::v1::Namespace;
use serde_json::Value;
use std::{
    any::Any,
    marker::PhantomData,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    sync::Arc,
};

/// Returns the edge to a child that is a provisioner; `line` is the line of its field.
#[track_caller]
pub const fn edge<P: Provisioner>(name: &'static str, line: u32) -> Edge {
    Edge::plain(name, &P::SHAPE, declared_at(line))
}

/// Returns the edge to a resource child: a set of objects of one kind.
#[track_caller]
pub const fn resource_edge<T: ResourceField<M>, M: 'static>(name: &'static str, line: u32) -> Edge {
    Edge { cardinality: T::CARDINALITY, ..Edge::plain(name, &ResourceNode::<T, M>::SHAPE, declared_at(line)) }
}

/// Returns the name of a resource child whose objects are Namespaces; a child of another kind is a compile error.
pub const fn namespace_node<T: ResourceField<M, Kind = Namespace>, M>(name: &'static str) -> &'static str {
    name
}

/// Returns the name like [`namespace_node`], for a child that is a provisioner.
///
/// # Panics
/// At compile time if the child is not a group. A hand-written node deletes its objects itself, so the key would have no effect.
#[track_caller]
pub const fn namespace_of_group<P: Provisioner, T: ResourceField<M, Kind = Namespace>, M>(
    name: &'static str,
) -> &'static str {
    assert!(
        matches!(P::SHAPE.node, Node::Group { .. }),
        "`deleted_with` is for resources, manifests and groups; remove it from the hand-written node"
    );
    namespace_node::<T, M>(name)
}

/// Returns the source location of a field. The expansion of the derive, which calls this function, has the file of the field.
#[track_caller]
pub(crate) const fn declared_at(line: u32) -> SourceLocation {
    SourceLocation { file: Location::caller().file(), line }
}

/// Provides the constant shape of a resource node.
struct ResourceNode<T, M>(PhantomData<fn() -> (T, M)>);

impl<T: ResourceField<M>, M: 'static> ResourceNode<T, M> {
    const SHAPE: Shape = Shape { node: Node::Resource, access: &[Access::applied(kind_of::<T::Kind>)], children: &[] };
}

/// The values that `from(...)` passes to a child. The trait is implemented only for the type that the child takes, so that a
/// mismatch is a compile error.
#[diagnostic::on_unimplemented(
    message = "the inputs of this child are `{T}`, found `{Self}`",
    label = "`from(...)` and its `inputs(...)` differ",
    note = "list the inputs of the child's `inputs(...)` in the field's `from(...)`, in the same order"
)]
pub trait IntoInputs<T> {
    /// Returns the value itself.
    fn into_inputs(self) -> T;
}

impl<T> IntoInputs<T> for T {
    fn into_inputs(self) -> T {
        self
    }
}

// The futures of children are boxed, so that the size of a future doesn't grow with the depth of its tree.

/// Provisions a child.
pub fn up<'c, C: Provision<O>, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>>
where
    (): IntoInputs<C::Inputs>,
{
    up_with::<C, O, P, ()>(cx, name, (), inputs_digest(cx, &[]))
}

/// Provisions a child that takes the inputs `inputs`; `inputs_digest` is the hash of the inputs of its build functions.
pub fn up_with<'c, C: Provision<O>, O: Owner, P: Provisioner, H: IntoInputs<C::Inputs>>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    inputs: H,
    inputs_digest: Option<u64>,
) -> BoxFuture<'c, Result<()>> {
    let child_inputs = inputs.into_inputs();
    async move {
        if is_skipped::<C>(cx.core()) {
            return Ok(());
        }
        let child = cx.for_child(name, &child_inputs, inputs_digest);
        let run = report_panics(cx.core(), child.path(), C::provision(&child));
        in_span(cx.core().is_recorded, child.path(), run).await
    }
    .boxed()
}

/// Runs the code of a node. Reports a panic to the environment, and resumes it.
pub(crate) async fn report_panics<T>(core: &PassCore<'_>, path: &Path<'_>, run: impl Future<Output = T>) -> T {
    let outcome = AssertUnwindSafe(run).catch_unwind().await;
    outcome.unwrap_or_else(|payload| resume_panic(core, &path.to_string(), payload))
}

/// Runs the build function of a node. Reports a panic to the environment, and resumes it.
pub(crate) fn report_build_panics<T>(core: &PassCore<'_>, node: &str, build: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(build)).unwrap_or_else(|payload| resume_panic(core, node, payload))
}

/// Reports a panic of a node to the observer of panics in the environment, if there is one, and resumes the panic.
fn resume_panic(core: &PassCore<'_>, node: &str, payload: Box<dyn Any + Send>) -> ! {
    let PassCore { shared, owner, .. } = core;
    let pass = PassStart { kind: &owner.kind, namespace: owner.namespace(), name: owner.name() };
    shared.environment.node_panicked(pass, node);
    resume_unwind(payload)
}

/// Deprovisions a child.
pub fn down<'c, C: Provision<O>, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    async move {
        if is_skipped::<C>(cx.core()) {
            return Ok(());
        }
        let child = cx.for_child(name);
        let run = report_panics(cx.core(), child.path(), C::deprovision(&child));
        in_span(cx.core().is_recorded, child.path(), run).await
    }
    .boxed()
}

/// Returns whether a pass skips a child: a plan runs only build functions, which hand-written nodes don't have.
pub(crate) fn is_skipped<C: Provisioner>(core: &PassCore<'_>) -> bool {
    core.is_plan && !matches!(C::SHAPE.node, Node::Group { .. })
}

/// Provisions a resource node: applies the objects that its build function returns, and deletes the other objects of the node.
///
/// `M` is the marker for one, optional or many objects: `One`, `Maybe` or `Many`.
pub fn apply<'c, T: ResourceField<M>, M, O: Owner, P: Provisioner, B: BuildResult<T>>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    build: impl FnOnce(&Draft<'_, O>) -> B + Send + 'c,
) -> BoxFuture<'c, Result<()>> {
    let options = ResourceOptions::DEFAULT;
    apply_with::<T, M, O, P>(cx, name, options, inputs_digest(cx, &[]), |draft| desired_objects::<T, M>(build(draft)))
}

/// Applies objects like [`apply`], with options and inputs. If the inputs are those of the last build and the children are
/// unchanged, the build function is not called.
pub fn apply_with<'c, T: ResourceField<M>, M, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
    options: ResourceOptions,
    inputs_digest: Option<u64>,
    build: impl FnOnce(&Draft<'_, O>) -> Result<Vec<Value>> + Send + 'c,
) -> BoxFuture<'c, Result<()>> {
    let kind = kind_of::<T::Kind>();
    // `build` runs when the group polls this child, so that a panic in it is attributed to the child. `converge` has its own box,
    // because most passes take the fast path and don't need its large future.
    async move {
        let node: Arc<str> = cx.path().child(name).to_string().into();
        if let Some(outcome) = cx.core().outcome_if_unchanged(&node, &kind, options, inputs_digest) {
            return outcome;
        }
        // A node that is unchanged has no span: most passes find all their nodes so.
        let run = async {
            let (desired, inputs_digest) = {
                let unversioned = UnversionedReads::default();
                let draft = cx.draft(&unversioned);
                let desired = report_build_panics(cx.core(), &node, || build(&draft));
                (desired?, draft.inputs_digest(inputs_digest))
            };
            cx.core().converge(&node, &kind, options, inputs_digest, desired).await
        };
        in_span(cx.core().is_recorded, &node, run).boxed().await
    }
    .boxed()
}

/// Removes the objects of a resource node.
pub fn remove<'c, T: ResourceField<M>, M, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    remove_with::<T, M, O, P>(cx, name, ResourceOptions::DEFAULT)
}

/// Removes objects like [`remove`], with options.
pub fn remove_with<'c, T: ResourceField<M>, M, O: Owner, P>(
    cx: &'c Teardown<'_, O, P>,
    name: &'static str,
    options: ResourceOptions,
) -> BoxFuture<'c, Result<()>> {
    let node: Arc<str> = cx.path().child(name).to_string().into();
    let (core, kind) = (cx.core(), kind_of::<T::Kind>());
    async move { in_span(core.is_recorded, &node, core.converge(&node, &kind, options, None, Vec::new())).await }
        .boxed()
}

/// Removes the objects of a node of an earlier release during provisioning.
pub fn retire<'c, T: ResourceField<M>, M, O: Owner, P: Provisioner>(
    cx: &'c Context<'_, O, P>,
    name: &'static str,
) -> BoxFuture<'c, Result<()>> {
    async move { remove_with::<T, M, O, P>(&not_wanted(cx), name, ResourceOptions::RETIRED).await }.boxed()
}

/// Return types of a `when` predicate: `bool`, [`Wanted`], or a `Result` of one of them.
#[diagnostic::on_unimplemented(
    message = "a predicate returns `bool`, found `{Self}`",
    label = "return `bool`, `Result<bool>`, or `Wanted` with a reason"
)]
pub trait WhenResult {
    /// Converts the return value.
    ///
    /// # Errors
    /// Fails with the error of the predicate.
    fn into_wanted(self) -> Result<Wanted>;
}

/// Whether a child is wanted, and if not, the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// The child is wanted.
    Yes,
    /// The child is not wanted and is removed; the reason is logged.
    No(String),
}

impl WhenResult for Wanted {
    fn into_wanted(self) -> Result<Wanted> {
        Ok(self)
    }
}

impl WhenResult for bool {
    fn into_wanted(self) -> Result<Wanted> {
        Ok(if self { Wanted::Yes } else { Wanted::No(String::new()) })
    }
}

impl<A: WhenResult, E: Into<Error>> WhenResult for Result<A, E> {
    fn into_wanted(self) -> Result<Wanted> {
        self.map_err(Into::into)?.into_wanted()
    }
}

/// Returns whether a child is wanted, by the return value of its predicate.
///
/// # Errors
/// Fails with the error of the predicate.
pub fn is_wanted<O: Owner, P: Provisioner>(
    cx: &Context<'_, O, P>,
    name: &'static str,
    answer: impl WhenResult,
) -> Result<bool> {
    match answer.into_wanted()? {
        Wanted::Yes => Ok(true),
        Wanted::No(reason) => {
            tracing::trace!(node = %cx.path().child(name), reason, "not wanted");
            Ok(false)
        }
    }
}

/// Returns the teardown context of a group, with which it removes a child that is not wanted.
pub fn not_wanted<'a, O: Owner, P: Provisioner>(cx: &Context<'a, O, P>) -> Teardown<'a, O, P> {
    cx.to_teardown(Cause::NotWanted)
}
