//! Defines `Managed`, the trait of the kinds that an operator controls.

use crate::{
    bucket::BucketDefinition, kind::Kind, reference::ReferenceField, validation::ValidationOf, versions::VersionsOf,
};
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// A kind that an operator controls. It is derived together with `CustomResource` of `kube`.
///
/// The trait contains only facts about the kind (status, pause, finalizer, references), and refers to no tree and no operator. So
/// the types can be in their own crate, on which clients can depend.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a managed kind",
    note = "add `#[derive(Managed)]` next to `#[derive(CustomResource)]` to its spec",
    note = "use `Foreign<{Self}>` for a kind of Kubernetes or of another project"
)]
pub trait Managed: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The type of the spec.
    type Spec;
    /// The type of the status: [`Status`](crate::Status), or a struct that embeds it.
    type Status: Clone + Default + Serialize + DeserializeOwned + Send + Sync;
    /// The argument of build functions and predicates: the type itself, or the type that `opgen::Foreign` wraps.
    type Subject: 'static;
    /// The finalizer of the kind. With `None`, the operator decides: `<group>/<operator>`, or `opgen.dev/<operator>` for a
    /// foreign kind.
    const FINALIZER: Option<&'static str>;
    /// Returns the definition of the kind, as its derives generate it. It is `None` for a foreign kind (`opgen::Foreign`): then
    /// no manifests are generated for the kind, and its status is not written.
    const DEFINITION: Option<fn() -> CustomResourceDefinition>;
    /// Returns the schema of the kind in which types are referenced by name, as [`schemars`] generates it. `kube` inlines every
    /// type; the names show which parts are types of Kubernetes, and the definition then gets their limits and merge keys. `None`
    /// (the default) leaves the definition as `kube` derives it.
    const SCHEMA: Option<fn() -> serde_json::Value> = None;
    /// The bucket that keeps the objects, in place of Kubernetes. `#[managed(nats(bucket = "units"))]` sets it. `None` (the default):
    /// the objects are in Kubernetes.
    const BUCKET: Option<BucketDefinition> = None;
    /// The rules between the fields of the spec, see [`validation`](crate::validation). `None` (the default): no rules.
    const VALIDATION: Option<ValidationOf> = None;
    /// The versions of the kind, see [`versions`](mod@crate::versions). `None` (the default): there is only this one.
    const VERSIONS: Option<VersionsOf> = None;
    /// The fields of the spec that name other objects (unikorn §2). The operator waits for these objects, and keeps them from
    /// being deleted while they are named. `#[managed(reference = Kind)]` on a field adds an entry. Default: none.
    const REFERENCES: &'static [ReferenceField<Self>] = &[];

    /// Returns the kind.
    fn kind() -> Kind;
    /// Returns the metadata: name, namespace, generation, labels, ….
    fn metadata(&self) -> &ObjectMeta;
    /// Returns the spec.
    fn spec(&self) -> &Self::Spec;
    /// Returns the status as last read.
    fn status(&self) -> Option<&Self::Status>;
    /// Returns whether the object is paused: the operator writes nothing for it until it is no longer paused or is deleted.
    fn paused(&self) -> bool;
    /// Returns the object in the form that build functions take.
    fn subject(&self) -> &Self::Subject;
}
