//! Gives a group of tree nodes typed access to the outputs of nodes inside a child group, for the option `from(a.b)`.

use crate::{
    context::Context,
    error::{Error, Result},
    managed::Owner,
    provisioner::{
        build::ResourceField,
        output::{HasOutput, Output, node_output, read},
    },
    shape::Provisioner,
};
use std::marker::PhantomData;

/// A node whose children other groups can read. A hand-written node has no children.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no children to read",
    label = "is not a group",
    note = "`from(a.b)` reads the child `b` of the group `a`; `from(a)` reads the output of a hand-written node"
)]
pub trait Group {
    /// A type with one constant for each child, named like the child.
    type Children;
}

/// The [`Group::Children`] of a node without children.
#[derive(Debug)]
pub struct NoChildren;

/// Read access to a resource child, whose field has the type `T`.
#[derive(Debug)]
pub struct ResourceChild<T>(PhantomData<fn() -> T>);

impl<T> ResourceChild<T> {
    /// The value of the child's constant in [`Group::Children`].
    pub const CHILD: Self = Self(PhantomData);

    /// Reads the objects of the child; see [`read`].
    ///
    /// # Errors
    /// A yield if the objects don't exist yet.
    pub fn read<M, O: Owner, P: Provisioner>(self, cx: &Context<'_, O, P>, path: &str) -> Result<Output<T>>
    where
        T: ResourceField<M> + Send + Sync,
    {
        read::<T, M, O, P>(cx, path)
    }
}

/// Read access to a child that is a provisioner.
#[derive(Debug)]
pub struct NodeChild<C>(PhantomData<fn() -> C>);

impl<C> NodeChild<C> {
    /// The value of the child's constant in [`Group::Children`].
    pub const CHILD: Self = Self(PhantomData);

    /// Reads the output of the child; see [`node_output`].
    ///
    /// # Errors
    /// A yield if it has set none in this pass.
    pub fn read<O: Owner, P: Provisioner>(self, cx: &Context<'_, O, P>, path: &str) -> Result<Output<C::Output>>
    where
        C: HasOutput,
    {
        node_output::<C, O, P>(cx, path)
    }
}

/// A child with a `when` or `each`, which can't be read from outside its group.
#[derive(Debug)]
pub struct Several<T>(PhantomData<fn() -> T>);

/// No type implements this trait, so that reading a [`Several`] is a compile error.
#[diagnostic::on_unimplemented(
    message = "this child has `when` or `each`, so it can't be read from outside its group",
    label = "not always present",
    note = "build an `Option` or a `Vec` instead, or read it in its own group"
)]
pub trait ReadsSeveral {}

impl<T> Several<T> {
    /// The value of the child's constant in [`Group::Children`].
    pub const CHILD: Self = Self(PhantomData);

    /// Does not compile: see [`ReadsSeveral`].
    ///
    /// # Errors
    /// Always.
    pub fn read<O: Owner, P: Provisioner + ReadsSeveral>(self, _: &Context<'_, O, P>, _: &str) -> Result<Output<T>> {
        Err(Error::unexpected("a repeated child can't be read"))
    }
}

/// A child of a group whose attributes have errors. Reading it compiles, so that it adds no error to those.
#[derive(Debug)]
pub struct ErroneousChild<T>(PhantomData<fn() -> T>);

impl<T> ErroneousChild<T> {
    /// The value of the child's constant in [`Group::Children`].
    pub const CHILD: Self = Self(PhantomData);

    /// Never called, since the group does not compile.
    ///
    /// # Errors
    /// Always.
    pub fn read<O: Owner, P: Provisioner>(self, _: &Context<'_, O, P>, _: &str) -> Result<Output<T>> {
        Err(Error::unexpected("a group with errors can't be read"))
    }
}
