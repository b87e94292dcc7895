//! Provisioners: what a resource is made of.
//!
//! A tree is types, never values. What a node *is* ([`Provisioner::SHAPE`]) is const data, what it *does*
//! ([`Provision`]) are two functions; groups and resources get both from `#[derive(Provisioner)]`.

pub(crate) mod build;
pub(crate) mod escalation;
pub(crate) mod group;
pub(crate) mod input;
pub(crate) mod keyed;
pub(crate) mod manifest;
pub(crate) mod nested;
pub(crate) mod output;
pub(crate) mod rehearsal;
pub(crate) mod schedule;

use crate::{
    context::{Context, Teardown},
    error::Result,
    managed::Owner,
    shape::Provisioner,
};
use std::{collections::BTreeSet, future::Future};

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
    label = "finds no keys",
    note = "make it a group with `owner = {O}`, or implement `Keyed<{O}>` for it"
)]
pub trait Keyed<O: Owner>: Provision<O> {
    /// The keys for which something of this node is there. The context's path has no key.
    fn keys(cx: &Teardown<'_, O, Self>) -> impl Future<Output = Result<BTreeSet<String>>> + Send;
}
