//! What a managed kind is, as far as the kind itself can say.

use crate::kind::Kind;
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt::Debug, marker::PhantomData};

/// A primary: a kind that an operator manages. Derived, beside `kube`'s `CustomResource`.
///
/// It holds facts of the kind only (conditions, pause, finalizer), and names no tree and no operator; so the types can
/// live in a crate of their own, which clients may depend on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a managed kind",
    note = "add `#[derive(Managed)]` beside `#[derive(CustomResource)]` to its spec"
)]
pub trait Managed: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// What the user wants.
    type Spec;
    /// What is: [`Status`](crate::Status), or a struct that embeds it.
    type Status: Clone + Default + Serialize + DeserializeOwned + Send + Sync;
    /// A finalizer of the kind's own; `None` leaves it to the operator (`<group>/<operator>`).
    const FINALIZER: Option<&'static str>;

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
    /// The definition of the kind, as its derives give it.
    fn crd() -> CustomResourceDefinition;
}

/// What a tree is written for: a managed kind, or [`For`] one with options.
pub trait Owner: Sized + 'static {
    /// The primary.
    type Object: Managed;
    /// What the operator's binary hands to the tree.
    type Options: Send + Sync + 'static;
}

impl<K: Managed> Owner for K {
    type Object = K;
    type Options = ();
}

/// A managed kind with options: values of the process (flags, endpoints) that any node can read.
pub struct For<K, X>(PhantomData<fn() -> (K, X)>);

impl<K, X> Debug for For<K, X> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("For")
    }
}

impl<K: Managed, X: Send + Sync + 'static> Owner for For<K, X> {
    type Object = K;
    type Options = X;
}
