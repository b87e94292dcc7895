//! Defines the trait `ExternalResource`, whose functions observe, create, update and delete a resource outside of Kubernetes, and the types
//! of their arguments and results.

use crate::{
    context::{Calls, Context, Draft, Teardown},
    error::Result,
    managed::Owner,
    shape::{Path, Provisioner},
};
use serde::Serialize;
use std::{fmt, ops::Deref, time::Duration};

/// The functions by which an [`External`](super::External) node manages a thing that no API server stores. See the
/// [module](super) for an example.
///
/// The attributes of the derive `Provisioner` on the type declare the permissions of the functions (`access(...)`), and the type
/// that describes the observed thing (`output = ...`), which later nodes can read.
///
/// Each function may be called again after any error and after any end of the process. A function that returns a
/// [yield](crate::yield_because) is called again in a later pass.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an external resource",
    label = "does not implement `ExternalResource`",
    note = "implement `opgen::external::ExternalResource` for it, next to `#[derive(Provisioner)]`"
)]
pub trait ExternalResource: Provisioner<Inputs = ()> {
    /// The owner of the tree in which the node is.
    type Owner: Owner;
    /// The wanted state of the thing. The record of the thing has a hash of it.
    type Spec: Serialize + Send + Sync;
    /// What the thing is, for messages and diagrams: `DNS record`.
    const NAME: &'static str;
    /// The time after which the thing is observed again, if nothing else leads to an observation. Up to a tenth is added at random.
    /// Default: five minutes.
    const PERIOD: Duration = Duration::from_secs(300);
    /// The time for which a thing that was created may not be visible to [`ExternalResource::observe`] yet. After a call of
    /// [`ExternalResource::create`], also one that failed, the next one waits this long. Default: none.
    const CREATE_GRACE: Duration = Duration::ZERO;
    /// What becomes of the thing when the node is removed. Default: [`DeletionPolicy::Delete`].
    const DELETION_POLICY: DeletionPolicy = DeletionPolicy::Delete;

    /// Returns the wanted state of the thing. It is called in every pass and makes no call.
    ///
    /// # Errors
    /// Any error of the function becomes the outcome of the node.
    fn spec(draft: &Draft<'_, Self::Owner>) -> Result<Self::Spec>;

    /// Returns the id of an existing thing that the node takes over; `None` if the node creates one. As long as there is an id, the
    /// node waits for that thing and creates none. Once the node has a thing, another id has no effect.
    ///
    /// # Errors
    /// Any error of the function becomes the outcome of the node.
    fn import(draft: &Draft<'_, Self::Owner>) -> Result<Option<String>> {
        let _ = draft;
        Ok(None)
    }

    /// Reads the thing with the id of `key`, or without an id, the one that was created with its token; `None` if it does not exist.
    ///
    /// # Errors
    /// Any error of the function becomes the outcome of the node.
    fn observe(
        cx: &ExternalContext<'_, Self>,
        key: ExternalKey<'_>,
    ) -> impl Future<Output = Result<Option<Observed<Self::Output>>>> + Send;

    /// Returns whether the observed thing has the wanted state.
    fn is_up_to_date(spec: &Self::Spec, observed: &Self::Output) -> bool;

    /// Creates the thing, and returns its id. [`ExternalResource::observe`] has to find the thing by the token.
    ///
    /// # Errors
    /// Any error of the function becomes the outcome of the node.
    fn create(
        cx: &ExternalContext<'_, Self>,
        spec: &Self::Spec,
        token: &str,
    ) -> impl Future<Output = Result<String>> + Send;

    /// Changes the thing to the wanted state, or returns that it has to be replaced.
    ///
    /// # Errors
    /// Any error of the function becomes the outcome of the node.
    fn update(
        cx: &ExternalContext<'_, Self>,
        id: &str,
        spec: &Self::Spec,
    ) -> impl Future<Output = Result<UpdateOutcome>> + Send;

    /// Begins the deletion of the thing. It succeeds if the thing is gone, or is being deleted already.
    ///
    /// # Errors
    /// Any error of the function becomes the outcome of the node.
    fn delete(cx: &ExternalContext<'_, Self>, id: &str) -> impl Future<Output = Result<()>> + Send;
}

/// What becomes of an external thing when its node is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeletionPolicy {
    /// The thing is deleted, also one that was imported. The removal of the node waits until it is gone.
    Delete,
    /// The thing stays. Only its record is removed.
    Retain,
}

/// The outcome of [`ExternalResource::update`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateOutcome {
    /// The thing was changed, or its change has begun.
    Updated,
    /// The thing can't be changed to the wanted state. The node deletes it, waits until it is gone, and creates another one. As long as
    /// [`ExternalResource::import`] returns an id, this is an error that the user has to resolve.
    Replace,
}

/// Which thing [`ExternalResource::observe`] reads: the one with an id, or the one that was created with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalKey<'a> {
    id: Option<&'a str>,
    token: &'a str,
}

impl<'a> ExternalKey<'a> {
    pub(super) fn new(id: Option<&'a str>, token: &'a str) -> Self {
        Self { id, token }
    }

    /// Returns the id of the thing; `None` as long as the node knows none.
    pub fn id(&self) -> Option<&'a str> {
        self.id
    }

    /// Returns the token with which the node creates the thing: 32 hexadecimal digits.
    pub fn token(&self) -> &'a str {
        self.token
    }
}

/// A thing that [`ExternalResource::observe`] has found.
#[derive(Clone, PartialEq, Eq)]
pub struct Observed<S> {
    pub(super) id: String,
    pub(super) state: S,
}

impl<S> Observed<S> {
    /// Returns a thing with this id and state. The id is shown in messages and in the record.
    pub fn new(id: impl Into<String>, state: S) -> Self {
        Self { id: id.into(), state }
    }

    /// Returns the id of the thing.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the observed state.
    pub fn state(&self) -> &S {
        &self.state
    }
}

impl<S> fmt::Debug for Observed<S> {
    /// Writes only the id, because the state may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The argument of the functions of an [`ExternalResource`]: the object, the options of the controller, and the API calls that the
/// type has declared.
pub struct ExternalContext<'a, T: ExternalResource> {
    object: &'a <T::Owner as Owner>::Object,
    options: &'a <T::Owner as Owner>::Options,
    path: Path<'a>,
    calls: Calls<'a, T>,
}

impl<'a, T: ExternalResource> ExternalContext<'a, T> {
    pub(super) fn of_context<P: Provisioner>(cx: &Context<'a, T::Owner, P>) -> Self {
        Self { object: cx.object(), options: cx.options(), path: *cx.path(), calls: Calls::new(cx.core()) }
    }

    pub(super) fn of_teardown<P>(cx: &Teardown<'a, T::Owner, P>) -> Self {
        Self { object: cx.object(), options: cx.options(), path: *cx.path(), calls: Calls::new(cx.core()) }
    }

    /// Returns the object, in the state that the cache had when the pass began.
    pub fn object(&self) -> &'a <T::Owner as Owner>::Object {
        self.object
    }

    /// Returns the options of the controller.
    pub fn options(&self) -> &'a <T::Owner as Owner>::Options {
        self.options
    }

    /// Returns the path of the node in the tree.
    pub fn path(&self) -> &Path<'a> {
        &self.path
    }
}

impl<'a, T: ExternalResource> Deref for ExternalContext<'a, T> {
    type Target = Calls<'a, T>;
    fn deref(&self) -> &Calls<'a, T> {
        &self.calls
    }
}

impl<T: ExternalResource> fmt::Debug for ExternalContext<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalContext").field("path", &self.path).finish_non_exhaustive()
    }
}
