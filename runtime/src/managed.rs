//! What a managed kind is, as far as the kind itself can say.

use crate::{kind::Kind, reference::ReferenceField};
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

/// What a tree is written for: a managed kind, [`For`] one with options, or [`Each`] item of one.
pub trait Owner: Sized + 'static {
    /// The primary.
    type Object: Managed;
    /// What the operator's binary hands to the tree.
    type Options: Send + Sync + 'static;
    /// The item that a tree below `each` is for; `()` elsewhere.
    type Item: Send + Sync + 'static;
    /// What a build function takes for the object it builds from: the primary, or below `each` the item.
    type Subject: 'static;

    /// The subject.
    fn subject<'a>(object: &'a Self::Object, item: &'a Self::Item) -> &'a Self::Subject;
}

impl<K: Managed> Owner for K {
    type Object = K;
    type Options = ();
    type Item = ();
    type Subject = K::Subject;

    fn subject<'a>(object: &'a K, (): &'a ()) -> &'a K::Subject {
        object.subject()
    }
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
    type Item = ();
    type Subject = K::Subject;

    fn subject<'a>(object: &'a K, (): &'a ()) -> &'a K::Subject {
        object.subject()
    }
}

/// An item of an owner: what the tree of one keyed child is for. `Each<WebApp, Pool>` is one pool of a web application.
pub struct Each<O, I>(PhantomData<fn() -> (O, I)>);

impl<O, I> Debug for Each<O, I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Each")
    }
}

impl<O: Owner, I: Send + Sync + 'static> Owner for Each<O, I> {
    type Object = O::Object;
    type Options = O::Options;
    type Item = I;
    type Subject = I;

    fn subject<'a>(_: &'a O::Object, item: &'a I) -> &'a I {
        item
    }
}
