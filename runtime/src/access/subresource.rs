//! Permissions on subresources: parts of an object with an address of their own.
//!
//! Status and scale have traits of their own; every other subresource is a type that is a [`Subresource`].

use super::Within;
use k8s_openapi::{
    api::{
        authentication::v1::TokenRequest,
        certificates::v1::CertificateSigningRequest,
        core::v1::{self as core, Namespace, Pod},
        policy::v1 as policy,
    },
    apimachinery::pkg::apis::meta::v1::Status,
};
use serde::{Serialize, de::DeserializeOwned};

/// A subresource by a type, with what goes in and what comes out.
///
/// A subresource that is not among the types here is one of yours: a type that implements this trait, which stands in
/// `access(...)` by its name, `Machine/Pause: update`.
pub trait Subresource: 'static {
    /// Its name in URLs and rules.
    const NAME: &'static str;
    /// What is read, replaced and patched.
    type Body: Serialize + DeserializeOwned;
    /// What the server answers to a `create`.
    type Response: DeserializeOwned;
}

macro_rules! parts {
    ($($(#[$meta:meta])* $part:ident = $name:literal, $body:ty => $made:ty;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $part;

        impl Subresource for $part {
            const NAME: &'static str = $name;
            type Body = $body;
            type Response = $made;
        }
    )+};
}

parts! {
    /// The approval of a certificate request.
    Approval = "approval", CertificateSigningRequest => CertificateSigningRequest;
    /// A pod is put on a node.
    Binding = "binding", core::Binding => Status;
    /// Containers for debugging, in a pod that runs.
    EphemeralContainers = "ephemeralcontainers", Pod => Pod;
    /// A pod is removed, if its disruption budget allows.
    Eviction = "eviction", policy::Eviction => Status;
    /// The finalizers of a namespace.
    Finalize = "finalize", Namespace => Namespace;
    /// What a container has written; read it as text.
    Log = "log", serde_json::Value => serde_json::Value;
    /// The resources of a pod that runs.
    Resize = "resize", Pod => Pod;
    /// A token of a service account.
    Token = "token", TokenRequest => TokenRequest;
}

/// The node `P` may read the status of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not get the status of `{Self}`",
    label = "not declared",
    note = "add `{Self}/status: get` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait GetStatus<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may change the status of objects of this kind in part.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch the status of `{Self}`",
    label = "not declared",
    note = "add `{Self}/status: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait PatchStatus<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may replace the status of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update the status of `{Self}`",
    label = "not declared",
    note = "add `{Self}/status: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait UpdateStatus<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may read how many replicas objects of this kind have.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not get the scale of `{Self}`",
    label = "not declared",
    note = "add `{Self}/scale: get` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait GetScale<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may change how many replicas objects of this kind have.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch the scale of `{Self}`",
    label = "not declared",
    note = "add `{Self}/scale: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait PatchScale<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may replace the scale of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update the scale of `{Self}`",
    label = "not declared",
    note = "add `{Self}/scale: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait UpdateScale<P> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may read the subresource `S` of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not get `{Self}/{S}`",
    label = "not declared",
    note = "add `{Self}/{S}: get` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait GetSubresource<P, S: Subresource> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may make the subresource `S` of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not create `{Self}/{S}`",
    label = "not declared",
    note = "add `{Self}/{S}: create` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait CreateSubresource<P, S: Subresource> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may replace the subresource `S` of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update `{Self}/{S}`",
    label = "not declared",
    note = "add `{Self}/{S}: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait UpdateSubresource<P, S: Subresource> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}

/// The node `P` may change in part the subresource `S` of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch `{Self}/{S}`",
    label = "not declared",
    note = "add `{Self}/{S}: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait PatchSubresource<P, S: Subresource> {
    /// Where it holds; empty for everywhere.
    const WITHIN: &'static [Within] = &[];
}
