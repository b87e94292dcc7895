//! `Owner`: the object that a tree is written for, with options or for each item.

pub(crate) use opgen_api::Managed;
use std::{fmt::Debug, marker::PhantomData};

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
