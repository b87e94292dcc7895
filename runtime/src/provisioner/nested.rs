//! How a group reads a child of a child: by constants of the child's name, which say what it is.

use crate::{
    context::Context,
    error::{Error, Result},
    managed::Owner,
    provisioner::{
        build::Objects,
        output::{GivesValue, Made, given, read},
    },
    shape::Provisioner,
};
use std::marker::PhantomData;

/// A node, as the groups above see what its children made; a hand-written one has none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no children that could be read",
    label = "is no group",
    note = "`from(a.b)` names the child `b` of a group `a`; what a hand-written node gives is read by `from(a)`"
)]
pub trait Group {
    /// A type with a constant for each child, of the child's name.
    type Children;
}

/// The children of a node that has none.
#[derive(Debug)]
pub struct NoChildren;

/// A child that is a resource.
#[derive(Debug)]
pub struct ResourceChild<T>(PhantomData<fn() -> T>);

impl<T> ResourceChild<T> {
    /// The child.
    pub const CHILD: Self = Self(PhantomData);

    /// See [`read`].
    ///
    /// # Errors
    /// A yield if it has made nothing yet.
    pub fn read<M, O: Owner, P: Provisioner>(self, cx: &Context<'_, O, P>, path: &str) -> Result<Made<T>>
    where
        T: Objects<M> + Send + Sync,
    {
        read::<T, M, O, P>(cx, path)
    }
}

/// A child that is a provisioner.
#[derive(Debug)]
pub struct NodeChild<C>(PhantomData<fn() -> C>);

impl<C> NodeChild<C> {
    /// The child.
    pub const CHILD: Self = Self(PhantomData);

    /// See [`given`].
    ///
    /// # Errors
    /// A yield if it has given nothing.
    pub fn read<O: Owner, P: Provisioner>(self, cx: &Context<'_, O, P>, path: &str) -> Result<Made<C::Gives>>
    where
        C: GivesValue,
    {
        given::<C, O, P>(cx, path)
    }
}

/// A child of any number.
#[derive(Debug)]
pub struct Several<T>(PhantomData<fn() -> T>);

/// Nothing does.
#[diagnostic::on_unimplemented(
    message = "this child has a condition or is one for each item, so it cannot be read from above its group",
    label = "not always there",
    note = "build an `Option` or a `Vec` instead, or read it in its own group"
)]
pub trait ReadsSeveral {}

impl<T> Several<T> {
    /// The child.
    pub const CHILD: Self = Self(PhantomData);

    /// Refused by the compiler.
    ///
    /// # Errors
    /// None.
    pub fn read<O: Owner, P: Provisioner + ReadsSeveral>(self, _: &Context<'_, O, P>, _: &str) -> Result<Made<T>> {
        Err(Error::unexpected("a child of any number cannot be read"))
    }
}

/// A child of a group with mistakes: reading it is not one more.
#[derive(Debug)]
pub struct Mended<T>(PhantomData<fn() -> T>);

impl<T> Mended<T> {
    /// The child.
    pub const CHILD: Self = Self(PhantomData);

    /// Never called.
    ///
    /// # Errors
    /// Always.
    pub fn read<O: Owner, P: Provisioner>(self, _: &Context<'_, O, P>, _: &str) -> Result<Made<T>> {
        Err(Error::unexpected("a group with mistakes cannot be read"))
    }
}
