//! Defines one trait for each kind of API call, such as `Get` and `Create`, so that the compiler checks that a hand-written tree node makes
//! only calls that it declares.
//!
//! `Secret: Get<Snapshot>` means that the node `Snapshot` may get Secrets. Only `#[provisioner(access(...))]` implements these
//! traits, and the methods of [`Context`](crate::Context) require them. So a node can use only permissions that it declares, and
//! the role that is generated from the declarations has all of them.
//!
//! The kind carries the bound, and not the node: with `Snapshot: Get<Secret>`, the compiler would infer the kind of a node with a
//! single permission, and report mismatched types instead of the missing permission.

mod rule;
pub mod subresource;
mod within;

pub use within::Within;

pub(crate) use rule::{Rule, is_below, merge};
pub use subresource::{
    CreateSubresource, GetScale, GetStatus, GetSubresource, PatchScale, PatchStatus, PatchSubresource, UpdateScale,
    UpdateStatus, UpdateSubresource,
};

/// The permission of the node `P` to read one object of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not get `{Self}`",
    label = "not declared",
    note = "add `{Self}: get` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Get<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to read all objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not list `{Self}`",
    label = "not declared",
    note = "add `{Self}: list` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait List<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to watch objects of this kind.
///
/// No call of a context requires it, since a node doesn't wait. It is for your own generic functions, and for code that uses the
/// raw client.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not watch `{Self}`",
    label = "not declared",
    note = "add `{Self}: watch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Watch<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to create objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not create `{Self}`",
    label = "not declared",
    note = "add `{Self}: create` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Create<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to replace objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update `{Self}`",
    label = "not declared",
    note = "add `{Self}: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Update<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to patch objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch `{Self}`",
    label = "not declared",
    note = "add `{Self}: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Patch<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to delete one object of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not delete `{Self}`",
    label = "not declared",
    note = "add `{Self}: delete` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Delete<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to delete all objects of this kind at once.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not delete collections of `{Self}`",
    label = "not declared",
    note = "add `{Self}: deletecollection` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait DeleteCollection<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to reference objects of this kind: to wait for them, and to keep them from being deleted.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not reference `{Self}`",
    label = "not declared",
    note = "add `{Self}: reference` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait Reference<P> {
    /// Always empty: the permission has no limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node to read non-resource URLs of the API server.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may not get paths of the API server",
    label = "not declared",
    note = "add the path, as in `\"/metrics\": get`, to `#[provisioner(access(...))]` of `{Self}`"
)]
pub trait GetPath {
    /// The paths; a `*` at the end of a path matches anything.
    const PATHS: &'static [&'static str];
}

/// The permission of the node to use the raw client.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may not use the raw client",
    label = "not declared",
    note = "declare its calls, as in `raw(Secret: get)`, in `#[provisioner(access(...))]` of `{Self}`"
)]
pub trait Raw {}
