//! Provisioners: what a resource is made of.
//!
//! A tree is types, never values. What a node *is* ([`Provisioner::SHAPE`]) is const data, what it *does*
//! ([`Provision`]) are two functions; groups and resources get both from `#[derive(Provisioner)]`.

mod adopt;
pub(crate) mod built;
mod builtin;
pub(crate) mod child;
pub(crate) mod coverage;
pub(crate) mod desired;
pub(crate) mod document;
pub(crate) mod group;
pub(crate) mod keyed;
pub(crate) mod made;
pub(crate) mod manifest;
pub(crate) mod memory;
pub(crate) mod order;
mod ownership;
mod removal;
mod resource;
pub(crate) mod shape;
pub(crate) mod trial;
pub(crate) mod unchanged;

use crate::{
    context::{Context, Teardown},
    error::Result,
    managed::Owner,
};
use shape::Shape;
use std::{collections::BTreeSet, future::Future};

/// What a node is. Derived, for groups and hand-written nodes alike.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a provisioner",
    note = "a field of a group is a provisioner, or a Kubernetes kind marked `#[provisioner(resource)]`"
)]
pub trait Provisioner: Sized + 'static {
    /// What the group above hands down: a tuple of [`Made`](crate::Made), as `takes(...)` says; `()` without it.
    type Takes: Clone + Send + Sync + 'static;
    /// What the node hands to those that read it, as `gives = ...` says; `()` without it.
    type Gives: Send + Sync + 'static;
    /// The node and all below it, as data.
    const SHAPE: Shape;
}

/// What a node does. Derived for groups, written by hand for the rest.
///
/// Both ways are idempotent, may take many passes, and never wait: what is not done yet is a
/// [yield](crate::yield_because), and the loop comes back (unikorn §3.1).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provision `{O}`",
    label = "has no `Provision<{O}>`",
    note = "implement `Provision<{O}>` for it, or say `owner = {O}` in its `#[provisioner(...)]`"
)]
pub trait Provision<O: Owner>: Provisioner {
    /// Brings the wanted state nearer; `Ok` means that it is reached.
    fn provision(cx: &Context<'_, O, Self>) -> impl Future<Output = Result<()>> + Send;
    /// Removes what the node made; `Ok` means really gone.
    fn deprovision(cx: &Teardown<'_, O, Self>) -> impl Future<Output = Result<()>> + Send;
}

/// A node that can be a child of `each`: it finds its keys again, also after a restart, from what it made. Derived for groups
/// whose owner is [`Each`](crate::Each), for a hand-written node written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be below `each`: nobody could find it again once its key is gone",
    note = "implement `Keyed<{O}>` for it, or make it a group of resources"
)]
pub trait Keyed<O: Owner>: Provision<O> {
    /// The keys for which something of this node is there. The context's path has no key.
    fn keys(cx: &Teardown<'_, O, Self>) -> impl Future<Output = Result<BTreeSet<String>>> + Send;
}
