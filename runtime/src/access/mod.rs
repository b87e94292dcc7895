//! Permissions as types.
//!
//! `Secret: Get<Snapshot>` means: the node `Snapshot` may get secrets. Only `#[provisioner(access(...))]` implements these
//! traits, and the methods of [`Context`](crate::Context) ask for them; so what is used is declared, and the role that is
//! made from the declarations can't be too small. The kind carries the bound: with `Snapshot: Get<Secret>`, a node with a
//! single grant would make the compiler guess that kind, and report mismatched types instead of the missing permission.

mod rule;

pub(crate) use rule::{Rule, merge};

/// The node `P` may read one object of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not get `{Self}`",
    label = "not declared",
    note = "add `{Self}: get` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Get<P> {}

/// The node `P` may read all objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not list `{Self}`",
    label = "not declared",
    note = "add `{Self}: list` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait List<P> {}

/// The node `P` may follow the changes of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not watch `{Self}`",
    label = "not declared",
    note = "add `{Self}: watch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Watch<P> {}

/// The node `P` may make objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not create `{Self}`",
    label = "not declared",
    note = "add `{Self}: create` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Create<P> {}

/// The node `P` may replace objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update `{Self}`",
    label = "not declared",
    note = "add `{Self}: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Update<P> {}

/// The node `P` may change objects of this kind in part.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch `{Self}`",
    label = "not declared",
    note = "add `{Self}: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Patch<P> {}

/// The node `P` may remove one object of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not delete `{Self}`",
    label = "not declared",
    note = "add `{Self}: delete` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Delete<P> {}

/// The node `P` may remove all objects of this kind at once.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not delete collections of `{Self}`",
    label = "not declared",
    note = "add `{Self}: deletecollection` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait DeleteCollection<P> {}

/// The node `P` may change the status of objects of this kind in part.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch the status of `{Self}`",
    label = "not declared",
    note = "add `{Self}/status: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait PatchStatus<P> {}

/// The node `P` may replace the status of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update the status of `{Self}`",
    label = "not declared",
    note = "add `{Self}/status: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait UpdateStatus<P> {}
