//! Permissions as types.
//!
//! `Secret: Get<Snapshot>` means: the node `Snapshot` may get secrets. Only `#[provisioner(access(...))]` implements these
//! traits, and the methods of [`Context`](crate::Context) ask for them; so what is used is declared, and the role that is
//! made from the declarations can't be too small. The kind carries the bound: with `Snapshot: Get<Secret>`, a node with a
//! single grant would make the compiler guess that kind, and report mismatched types instead of the missing permission.

mod rule;
pub mod subresource;
mod within;

pub use within::Within;

pub(crate) use rule::{Rule, is_below, merge};
pub use subresource::{
    CreateSubresource, GetScale, GetStatus, GetSubresource, PatchScale, PatchStatus, PatchSubresource, UpdateScale,
    UpdateStatus, UpdateSubresource,
};

/// The node `P` may read one object of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not get `{Self}`",
    label = "not declared",
    note = "add `{Self}: get` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Get<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may read all objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not list `{Self}`",
    label = "not declared",
    note = "add `{Self}: list` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait List<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may follow the changes of this kind.
///
/// No call of a context asks for it, since a node doesn't wait. It is for functions of your own, and for what gets the
/// raw client.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not watch `{Self}`",
    label = "not declared",
    note = "add `{Self}: watch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Watch<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may make objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not create `{Self}`",
    label = "not declared",
    note = "add `{Self}: create` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Create<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may replace objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update `{Self}`",
    label = "not declared",
    note = "add `{Self}: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Update<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may change objects of this kind in part.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch `{Self}`",
    label = "not declared",
    note = "add `{Self}: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Patch<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may remove one object of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not delete `{Self}`",
    label = "not declared",
    note = "add `{Self}: delete` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Delete<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may remove all objects of this kind at once.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not delete collections of `{Self}`",
    label = "not declared",
    note = "add `{Self}: deletecollection` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait DeleteCollection<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may reference objects of this kind: wait for them, and keep them from being deleted.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not reference `{Self}`",
    label = "not declared",
    note = "add `{Self}: reference` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Reference<P> {
    /// Where it holds; always empty, for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node may read paths of the API server that are no resources.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may not get paths of the API server",
    label = "not declared",
    note = "add the path, as in `\"/metrics\": get`, to `#[provisioner(access(...))]` of `{Self}`"
)]
pub trait GetPath {
    /// The paths; a `*` at the end of one stands for anything.
    const PATHS: &'static [&'static str];
}

/// The node may use the client itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may not use the raw client",
    label = "not declared",
    note = "add what it will do, as in `raw(Secret: get)`, to `#[provisioner(access(...))]` of `{Self}`"
)]
pub trait Raw {}
