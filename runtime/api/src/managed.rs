//! `Managed`: the facts of a kind that an operator controls.

use crate::{kind::Kind, reference::ReferenceField};
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// A primary: a kind that an operator manages. Derived, beside `kube`'s `CustomResource`.
///
/// It holds facts of the kind only (conditions, pause, finalizer), and names no tree and no operator; so the types can
/// live in a crate of their own, which clients may depend on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a managed kind",
    note = "add `#[derive(Managed)]` beside `#[derive(CustomResource)]` to its spec",
    note = "a kind that is not the operator's own (Kubernetes' or another project's) is written `Foreign<{Self}>`"
)]
pub trait Managed: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// What the user wants.
    type Spec;
    /// What is: [`Status`](crate::Status), or a struct that embeds it.
    type Status: Clone + Default + Serialize + DeserializeOwned + Send + Sync;
    /// What build functions and predicates take: the type itself, or what a [`Foreign`](crate::Foreign) one wraps.
    type Subject: 'static;
    /// A finalizer of the kind's own; `None` leaves it to the operator (`<group>/<operator>`, for a foreign kind
    /// `opgen.dev/<operator>`).
    const FINALIZER: Option<&'static str>;
    /// What gives the definition of the kind, as its derives say it. `None` for a [`Foreign`](crate::Foreign) kind: then
    /// nothing is generated for it, and nothing written to its status.
    const DEFINITION: Option<fn() -> CustomResourceDefinition>;
    /// What gives the schema of the kind with its types by name, as [`schemars`] says it with references. `kube` writes
    /// every type out in place; the names say which parts are types of Kubernetes, whose bounds and merge keys the
    /// definition then carries too. `None` (the default) leaves the definition as `kube` derives it.
    const SCHEMA: Option<fn() -> serde_json::Value> = None;
    /// The fields of the spec that name other objects, which are held and waited for while they are named (unikorn §2);
    /// `#[managed(reference = Kind)]` on a field adds one. Default: none.
    const REFERENCES: &'static [ReferenceField<Self>] = &[];

    /// The kind by its names.
    fn kind() -> Kind;
    /// Name, namespace, generation, labels, ….
    fn metadata(&self) -> &ObjectMeta;
    /// What the user wants.
    fn spec(&self) -> &Self::Spec;
    /// What was last said about it.
    fn status(&self) -> Option<&Self::Status>;
    /// Whether the object is left alone: nothing is written for it until this is false again or it is deleted.
    fn paused(&self) -> bool;
    /// The object as build functions take it.
    fn subject(&self) -> &Self::Subject;
}
