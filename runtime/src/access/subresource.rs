//! Defines the permissions on subresources, and types for the subresources of built-in kinds.
//!
//! `status` and `scale` have their own traits. Every other subresource is a type that implements [`Subresource`].

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

/// A subresource, with the types of its requests and responses.
///
/// For a subresource that has no type in this module, implement this trait for your own type, and name the type in `access(...)`:
/// `Machine/Pause: update`.
pub trait Subresource: 'static {
    /// The name in URLs and RBAC rules.
    const NAME: &'static str;
    /// The type that `get`, `update` and `patch` read and write.
    type Body: Serialize + DeserializeOwned;
    /// The type of the response to a `create`.
    type Response: DeserializeOwned;
}

macro_rules! parts {
    ($($(#[$meta:meta])* $part:ident = $name:literal, $body:ty => $response:ty;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $part;

        impl Subresource for $part {
            const NAME: &'static str = $name;
            type Body = $body;
            type Response = $response;
        }
    )+};
}

parts! {
    /// The approval of a CertificateSigningRequest.
    Approval = "approval", CertificateSigningRequest => CertificateSigningRequest;
    /// The binding of a Pod to a Node.
    Binding = "binding", core::Binding => Status;
    /// The ephemeral containers of a running Pod, for debugging.
    EphemeralContainers = "ephemeralcontainers", Pod => Pod;
    /// The eviction of a Pod, which respects PodDisruptionBudgets.
    Eviction = "eviction", policy::Eviction => Status;
    /// The finalizers of a Namespace (`spec.finalizers`).
    Finalize = "finalize", Namespace => Namespace;
    /// The log of a container; read it as text.
    Log = "log", serde_json::Value => serde_json::Value;
    /// The container resources of a running Pod.
    Resize = "resize", Pod => Pod;
    /// A token of a ServiceAccount.
    Token = "token", TokenRequest => TokenRequest;
}

/// The permission of the node `P` to read the status of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not get the status of `{Self}`",
    label = "not declared",
    note = "add `{Self}/status: get` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait GetStatus<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to patch the status of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch the status of `{Self}`",
    label = "not declared",
    note = "add `{Self}/status: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait PatchStatus<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to replace the status of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update the status of `{Self}`",
    label = "not declared",
    note = "add `{Self}/status: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait UpdateStatus<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to read the scale of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not get the scale of `{Self}`",
    label = "not declared",
    note = "add `{Self}/scale: get` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait GetScale<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to patch the scale of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch the scale of `{Self}`",
    label = "not declared",
    note = "add `{Self}/scale: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait PatchScale<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to replace the scale of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update the scale of `{Self}`",
    label = "not declared",
    note = "add `{Self}/scale: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait UpdateScale<P> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to read the subresource `S` of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not get `{Self}/{S}`",
    label = "not declared",
    note = "add `{Self}/{S}: get` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait GetSubresource<P, S: Subresource> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to create the subresource `S` of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not create `{Self}/{S}`",
    label = "not declared",
    note = "add `{Self}/{S}: create` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait CreateSubresource<P, S: Subresource> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to replace the subresource `S` of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not update `{Self}/{S}`",
    label = "not declared",
    note = "add `{Self}/{S}: update` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait UpdateSubresource<P, S: Subresource> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}

/// The permission of the node `P` to patch the subresource `S` of objects of this kind.
#[diagnostic::on_unimplemented(
    message = "`{P}` may not patch `{Self}/{S}`",
    label = "not declared",
    note = "add `{Self}/{S}: patch` to `#[provisioner(access(...))]` of `{P}`"
)]
pub trait PatchSubresource<P, S: Subresource> {
    /// The names and namespaces that the permission is limited to; empty without a limit.
    const WITHIN: &'static [Within] = &[];
}
