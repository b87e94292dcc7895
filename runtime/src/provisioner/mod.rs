//! Defines provisioners: the tree nodes that create and remove the child objects of a primary.
//!
//! A tree consists of types, not values. The shape of a node ([`Provisioner::SHAPE`]) is constant data; its behaviour
//! ([`Provision`]) is two functions. `#[derive(Provisioner)]` implements both for groups and resources.

pub(crate) mod build;
pub(crate) mod escalation;
pub(crate) mod group;
pub(crate) mod input;
pub(crate) mod keyed;
pub(crate) mod manifest;
pub(crate) mod nested;
pub(crate) mod output;
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
/// that is not done yet, and the loop calls them again in a later pass.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provision `{O}`",
    label = "has no `Provision<{O}>`",
    note = "implement `Provision<{O}>` for it, or say `owner = {O}` in its `#[provisioner(...)]`"
)]
pub trait Provision<O: Owner>: Provisioner {
    /// Works towards the wanted state; `Ok` means that it is reached.
    fn provision(cx: &Context<'_, O, Self>) -> impl Future<Output = Result<()>> + Send;
    /// Removes the objects of the node; `Ok` means that they are confirmed to be gone.
    fn deprovision(cx: &Teardown<'_, O, Self>) -> impl Future<Output = Result<()>> + Send;
}

/// A node that can be a child of `each`: it finds the keys of existing items in the cluster, also after a restart. It is derived
/// for groups whose owner is [`Each`](crate::Each), and written by hand for hand-written nodes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be below `each`: nobody could find it again once its key is gone",
    label = "finds no keys",
    note = "make it a group with `owner = {O}`, or implement `Keyed<{O}>` for it"
)]
pub trait Keyed<O: Owner>: Provision<O> {
    /// The keys of the items for which objects of this node exist. The path of the context has no key.
    fn keys(cx: &Teardown<'_, O, Self>) -> impl Future<Output = Result<BTreeSet<String>>> + Send;
}
