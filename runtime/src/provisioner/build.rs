//! What a build function may give: `K`, `Option<K>`, `Vec<K>`, or a `Result` of one.

use crate::{
    error::{Error, Result},
    kind::Typed,
    shape::Count,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Marks the field type `K`.
#[derive(Debug)]
pub struct One;
/// Marks the field type `Option<K>`.
#[derive(Debug)]
pub struct Maybe;
/// Marks the field type `Vec<K>`.
#[derive(Debug)]
pub struct Many;

/// The type of a resource field: a kind, and how many objects of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes kind",
    label = "needs a kind, or `Option` or `Vec` of one"
)]
pub trait Objects<M>: 'static {
    /// The kind.
    type Kind: Typed + Serialize + DeserializeOwned;
    /// How many objects can be a value of this type.
    const COUNT: Count;
    /// The wanted objects.
    fn objects(self) -> Vec<Self::Kind>;
    /// Whether so many objects can be a value of this type.
    fn fits(count: usize) -> bool;
    /// The value that these objects are.
    fn gathered(objects: Vec<Self::Kind>) -> Option<Self>
    where
        Self: Sized;
}

impl<K: Typed + Serialize + DeserializeOwned> Objects<One> for K {
    type Kind = K;
    const COUNT: Count = Count::One;
    fn objects(self) -> Vec<K> {
        vec![self]
    }
    fn fits(count: usize) -> bool {
        count == 1
    }
    fn gathered(mut objects: Vec<K>) -> Option<K> {
        objects.pop()
    }
}

impl<K: Typed + Serialize + DeserializeOwned> Objects<Maybe> for Option<K> {
    type Kind = K;
    const COUNT: Count = Count::Optional;
    fn objects(self) -> Vec<K> {
        self.into_iter().collect()
    }
    fn fits(count: usize) -> bool {
        count < 2
    }
    fn gathered(mut objects: Vec<K>) -> Option<Self> {
        Some(objects.pop())
    }
}

impl<K: Typed + Serialize + DeserializeOwned> Objects<Many> for Vec<K> {
    type Kind = K;
    const COUNT: Count = Count::Many;
    fn objects(self) -> Vec<K> {
        self
    }
    fn fits(_: usize) -> bool {
        true
    }
    fn gathered(objects: Vec<K>) -> Option<Self> {
        Some(objects)
    }
}

/// What a build function returns for a field of type `T`.
#[diagnostic::on_unimplemented(
    message = "the function builds `{Self}`, its field is `{T}`",
    label = "`{T}` or a `Result` of it fits"
)]
pub trait Builds<T> {
    /// The field's value, or why there is none.
    ///
    /// # Errors
    /// The error of the build function.
    fn built(self) -> Result<T>;
}

impl<T> Builds<T> for T {
    fn built(self) -> Result<T> {
        Ok(self)
    }
}

impl<T, E: Into<Error>> Builds<T> for Result<T, E> {
    fn built(self) -> Result<T> {
        self.map_err(Into::into)
    }
}

/// The wanted objects as JSON: from here on nothing is generic.
pub fn wanted<T: Objects<M>, M>(built: impl Builds<T>) -> Result<Vec<Value>> {
    built.built()?.objects().into_iter().map(|object| Ok(serde_json::to_value(object)?)).collect()
}
