//! Defines what a function that builds child objects may return: one object of a kind `K`, `Option<K>`, `Vec<K>`, or a `Result` of one of
//! these.

use crate::{
    error::{Error, Result},
    kind::Typed,
    shape::Cardinality,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Type parameter of [`ResourceField`] for the field type `K`.
#[derive(Debug)]
pub struct One;
/// Type parameter of [`ResourceField`] for the field type `Option<K>`.
#[derive(Debug)]
pub struct Maybe;
/// Type parameter of [`ResourceField`] for the field type `Vec<K>`.
#[derive(Debug)]
pub struct Many;

/// The type of a resource field: a kind, and how many objects of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes kind",
    label = "needs a kind, or `Option` or `Vec` of one"
)]
pub trait ResourceField<M>: 'static {
    /// The kind of the objects.
    type Kind: Typed + Serialize + DeserializeOwned;
    /// The number of objects that a value of this type has.
    const CARDINALITY: Cardinality;
    /// Converts the value to the list of desired objects.
    fn objects(self) -> Vec<Self::Kind>;
    /// Returns whether a value of this type can have this number of objects.
    fn fits(count: usize) -> bool;
    /// Builds a value of this type from objects; `None` if their number does not fit.
    fn from_objects(objects: Vec<Self::Kind>) -> Option<Self>
    where
        Self: Sized;
}

impl<K: Typed + Serialize + DeserializeOwned> ResourceField<One> for K {
    type Kind = K;
    const CARDINALITY: Cardinality = Cardinality::One;
    fn objects(self) -> Vec<K> {
        vec![self]
    }
    fn fits(count: usize) -> bool {
        count == 1
    }
    fn from_objects(mut objects: Vec<K>) -> Option<K> {
        objects.pop()
    }
}

impl<K: Typed + Serialize + DeserializeOwned> ResourceField<Maybe> for Option<K> {
    type Kind = K;
    const CARDINALITY: Cardinality = Cardinality::Optional;
    fn objects(self) -> Vec<K> {
        self.into_iter().collect()
    }
    fn fits(count: usize) -> bool {
        count < 2
    }
    fn from_objects(mut objects: Vec<K>) -> Option<Self> {
        Some(objects.pop())
    }
}

impl<K: Typed + Serialize + DeserializeOwned> ResourceField<Many> for Vec<K> {
    type Kind = K;
    const CARDINALITY: Cardinality = Cardinality::Many;
    fn objects(self) -> Vec<K> {
        self
    }
    fn fits(_: usize) -> bool {
        true
    }
    fn from_objects(objects: Vec<K>) -> Option<Self> {
        Some(objects)
    }
}

/// The return type of a build function for a field of type `T`: `T` itself, or a `Result` of it.
#[diagnostic::on_unimplemented(
    message = "the function builds `{Self}`, but its field is `{T}`",
    label = "return `{T}` or a `Result` of it"
)]
pub trait BuildResult<T> {
    /// Returns the value of the field.
    ///
    /// # Errors
    /// Fails with the error of the build function.
    fn into_result(self) -> Result<T>;
}

impl<T> BuildResult<T> for T {
    fn into_result(self) -> Result<T> {
        Ok(self)
    }
}

impl<T, E: Into<Error>> BuildResult<T> for Result<T, E> {
    fn into_result(self) -> Result<T> {
        self.map_err(Into::into)
    }
}

/// Returns the objects that a build function has returned, as JSON. All further code works with JSON and is not generic, which keeps
/// binaries small.
///
/// # Errors
/// Fails with the error of the build function, or if an object can't be serialized.
pub fn desired_objects<T: ResourceField<M>, M>(built: impl BuildResult<T>) -> Result<Vec<Value>> {
    built.into_result()?.objects().into_iter().map(|object| Ok(serde_json::to_value(object)?)).collect()
}
