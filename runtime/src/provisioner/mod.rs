//! Defines provisioners: the tree nodes that create and remove the child objects of a primary.
//!
//! A tree consists of types, not values. The shape of a node ([`Provisioner::SHAPE`]) is constant data; its behaviour
//! ([`Provision`]) is two functions. `#[derive(Provisioner)]` implements both for groups and resources.

pub(crate) mod application;
pub(crate) mod build;
pub(crate) mod escalation;
pub(crate) mod group;
pub(crate) mod input;
pub(crate) mod keyed;
pub(crate) mod manifest;
pub(crate) mod nested;
pub(crate) mod output;
pub(crate) mod remote;
pub(crate) mod schedule;
pub(crate) mod tree_harness;

use crate::{
    context::{Context, Teardown},
    error::Result,
    managed::Owner,
    shape::Provisioner,
};
use std::{collections::BTreeSet, future::Future};

/// The behaviour of a node. It is derived for groups and written by hand for other nodes.
///
/// Both functions are idempotent, may take several passes, and never wait: they return a [yield](crate::yield_because) for work
/// that is not done yet, and the control loop calls them again in a later pass.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{Namespace, Secret};
/// # use opgen::prelude::*;
/// // Waits until another client has created the Secret `token`.
/// #[derive(Provisioner)]
/// #[provisioner(access(Secret: get))]
/// struct AwaitToken;
///
/// impl Provision<Foreign<Namespace>> for AwaitToken {
///     async fn provision(cx: &Context<'_, Foreign<Namespace>, Self>) -> Result<()> {
///         match cx.find::<Secret>("token").await? {
///             Some(_) => Ok(()),
///             None => yield_because("TokenMissing", "waiting for Secret token"),
///         }
///     }
///
///     async fn deprovision(_: &Teardown<'_, Foreign<Namespace>, Self>) -> Result<()> {
///         Ok(())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provision `{O}`",
    label = "has no `Provision<{O}>`",
    note = "implement `Provision<{O}>` for it, or set `owner = {O}` in its `#[provisioner(...)]`"
)]
pub trait Provision<O: Owner>: Provisioner {
    /// Moves the cluster towards the wanted state; `Ok` means that it is reached.
    fn provision(cx: &Context<'_, O, Self>) -> impl Future<Output = Result<()>> + Send;
    /// Removes the objects of the node; `Ok` means that they are confirmed to be gone.
    fn deprovision(cx: &Teardown<'_, O, Self>) -> impl Future<Output = Result<()>> + Send;
}

/// A node that can be a child of `each`: it finds the keys of existing items in the cluster, also after a restart. It is derived
/// for groups whose owner is [`Each`](crate::Each), and written by hand for hand-written nodes.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
/// # use opgen::prelude::*;
/// # use std::collections::BTreeSet;
/// # struct Pool;
/// # #[derive(Provisioner)]
/// # #[provisioner(access(ConfigMap: list))]
/// # struct PoolNode;
/// # impl Provision<Each<Foreign<Namespace>, Pool>> for PoolNode {
/// #     async fn provision(_: &Context<'_, Each<Foreign<Namespace>, Pool>, Self>) -> Result<()> {
/// #         Ok(())
/// #     }
/// #     async fn deprovision(_: &Teardown<'_, Each<Foreign<Namespace>, Pool>, Self>) -> Result<()> {
/// #         Ok(())
/// #     }
/// # }
/// impl Keyed<Each<Foreign<Namespace>, Pool>> for PoolNode {
///     async fn keys(cx: &Teardown<'_, Each<Foreign<Namespace>, Pool>, Self>) -> Result<BTreeSet<String>> {
///         // The node labels each of its ConfigMaps with the key of the item.
///         let configs = cx.list::<ConfigMap>("pool").await?;
///         Ok(configs.iter().filter_map(|config| config.labels().get("pool").cloned()).collect())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a child with `each`: it doesn't implement `Keyed`, which finds the children of removed keys",
    label = "does not implement `Keyed`",
    note = "make it a group with `owner = {O}`, or implement `Keyed<{O}>` for it"
)]
pub trait Keyed<O: Owner>: Provision<O> {
    /// Returns the keys of the items for which objects of this node exist. The path of the context has no key.
    fn keys(cx: &Teardown<'_, O, Self>) -> impl Future<Output = Result<BTreeSet<String>>> + Send;
}
