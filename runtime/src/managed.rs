//! Defines `Owner`, the trait of the types that a tree can name in `owner = ...`: a managed kind, a kind with options of the controller
//! (`For`), or an item of another owner (`Each`).

pub(crate) use opgen_api::Managed;
use std::{fmt::Debug, marker::PhantomData};

/// The owner type of a tree: a managed kind, a kind with options ([`For`]), or an item of another owner ([`Each`]).
pub trait Owner: Sized + 'static {
    /// The kind of the primary.
    type Object: Managed;
    /// The options of the controller, which the binary of the operator passes to the tree.
    type Options: Send + Sync + 'static;
    /// The type of the items if the tree is below an `each`, otherwise `()`.
    type Item: Send + Sync + 'static;
    /// The argument of build functions: the primary, or the item if the tree is below an `each`.
    type Subject: 'static;

    /// Returns the subject of an object and an item.
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

/// The owner type of a tree with options: values of the process (flags, endpoints) that any node can read.
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

/// The owner type of a tree below `each`: one item of an owner. `Each<WebApp, Pool>` is one pool of a web application.
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
