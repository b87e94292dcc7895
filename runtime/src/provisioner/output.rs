//! What earlier nodes have made, for those that read it.

use crate::{
    context::Context,
    error::{Error, Result},
    kind::kind_of,
    managed::Owner,
    provisioner::build::Objects,
    shape::Provisioner,
};
use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, OnceLock},
};

/// What an earlier node has made: `K`, `Option<K>` or `Vec<K>` of a resource, as its field says, or the value that a
/// hand-written node gives. Objects are as the API server last showed them, with what it filled in and their status.
pub struct Made<T>(Arc<Value<T>>);

enum Value<T> {
    Given(Arc<T>),
    /// Decoded when somebody looks at them: mostly nothing has changed, and nobody does.
    Objects {
        decoded: OnceLock<T>,
        objects: Vec<Arc<[u8]>>,
        decode: fn(&[Arc<[u8]>]) -> Result<T>,
        version: u64,
    },
}

impl<T> Made<T> {
    /// The value.
    ///
    /// # Errors
    /// If an object doesn't have the form of its kind.
    pub fn get(&self) -> Result<&T> {
        match &*self.0 {
            Value::Given(value) => Ok(value),
            Value::Objects { decoded, objects, decode, .. } => match decoded.get() {
                Some(value) => Ok(value),
                None => {
                    let value = decode(objects)?;
                    Ok(decoded.get_or_init(|| value))
                }
            },
        }
    }

    /// A value that is equal as long as the objects are; `None` if that can't be said.
    pub(crate) fn version(&self) -> Option<u64> {
        match &*self.0 {
            Value::Given(_) => None,
            Value::Objects { version, .. } => Some(*version),
        }
    }
}

impl<T> Clone for Made<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Made<T> {
    // The value may be a Secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Made")
    }
}

/// What the resource `path` (from the group of `cx`) has made.
///
/// # Errors
/// A yield if it has made nothing yet.
pub fn read<T: Objects<M> + Send + Sync, M, O: Owner, P: Provisioner>(
    cx: &Context<'_, O, P>,
    path: &str,
) -> Result<Made<T>> {
    let node = node_at(cx, path);
    let objects = cx.core().objects_of(&node, &kind_of::<T::Kind>())?;
    if !T::fits(objects.len()) {
        return Err(Error::yielding("NotMadeYet", format!("{node} is not there yet")));
    }
    let mut hasher = DefaultHasher::new();
    let mut bytes = Vec::with_capacity(objects.len());
    for object in objects {
        (&object.uid, &object.version).hash(&mut hasher);
        bytes.push(object.json);
    }
    let decode = |objects: &[Arc<[u8]>]| -> Result<T> {
        let decoded: Vec<T::Kind> =
            objects.iter().map(|json| Ok(serde_json::from_slice(json)?)).collect::<Result<_>>()?;
        T::gathered(decoded).ok_or_else(|| Error::unexpected("the objects of a node changed while they were read"))
    };
    let decoded = OnceLock::new();
    Ok(Made(Arc::new(Value::Objects { decoded, objects: bytes, decode, version: hasher.finish() })))
}

/// What the hand-written node `path` (from the group of `cx`) has given in this pass.
///
/// # Errors
/// A yield if it has given nothing.
pub fn given<C: GivesValue, O: Owner, P: Provisioner>(cx: &Context<'_, O, P>, path: &str) -> Result<Made<C::Gives>> {
    let node = node_at(cx, path);
    let value = cx.core().made.given(&node);
    match value.and_then(|value| value.downcast::<C::Gives>().ok()) {
        Some(value) => Ok(Made(Arc::new(Value::Given(value)))),
        None => Err(Error::yielding("NotGivenYet", format!("{node} has given nothing yet"))),
    }
}

fn node_at<O: Owner, P: Provisioner>(cx: &Context<'_, O, P>, path: &str) -> String {
    if cx.path().is_root() { path.to_owned() } else { format!("{}/{path}", cx.path()) }
}

/// A node whose attribute says `gives = ...`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` gives nothing that could be read",
    label = "has no `gives`",
    note = "a hand-written node says `gives = Type` and calls `cx.give(...)`; of a group a child is read: `from(group.child)`"
)]
pub trait GivesValue: Provisioner {}

/// The versions of what a node reads and where it reads, as one number.
pub fn inputs<O: Owner, P: Provisioner>(cx: &Context<'_, O, P>, read: &[Option<u64>]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    cx.inputs()?.hash(&mut hasher);
    for version in read {
        (*version)?.hash(&mut hasher);
    }
    Some(hasher.finish())
}

/// See [`inputs`].
pub fn version<T>(made: &Made<T>) -> Option<u64> {
    made.version()
}
