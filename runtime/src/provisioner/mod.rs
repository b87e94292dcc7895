//! Provisioners: what a resource is made of.
//!
//! A tree is types, never values. What a node *is* ([`Provisioner::SHAPE`]) is const data, what it *does*
//! ([`Provision`]) are two functions; groups and resources get both from `#[derive(Provisioner)]`.

pub(crate) mod built;
pub(crate) mod child;
pub(crate) mod coverage;
pub(crate) mod desired;
pub(crate) mod group;
pub(crate) mod memory;
pub(crate) mod resource;
pub(crate) mod shape;

use crate::{
    context::{Context, Teardown},
    error::Result,
    managed::Owner,
};
use shape::Shape;
use std::future::Future;

/// What a node is. Derived, for groups and hand-written nodes alike.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a provisioner",
    note = "a field of a group is a provisioner, or a Kubernetes kind marked `#[provisioner(resource)]`"
)]
pub trait Provisioner: Sized + 'static {
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
