//! `Reconciler` and `Opened`: the typed part of a controller, as the untyped loop sees it.

use crate::{
    error::Result,
    reconcile::{Core, Direction, Encoded, Entry, ObjectKey, ReadError, stored_status::Stored},
    reference::Pointer,
    shape::Shape,
};
use futures::future::BoxFuture;
use serde_json::Value;
use std::time::Duration;

/// The typed part of a controller: a tree for a kind.
pub(crate) trait Reconciler: Send + Sync {
    /// Decodes an object.
    fn open(&self, entry: &Entry<Encoded>) -> Result<Box<dyn Opened + '_>, ReadError>;
    /// The object is gone.
    fn forget(&self, key: &ObjectKey);
    /// The tree, as data.
    fn shape(&self) -> &'static Shape;
    /// Whether the kind is the operator's own; the status of another is not to be written.
    fn owns_status(&self) -> bool;
}

/// A decoded object.
pub(crate) trait Opened: Stored {
    fn paused(&self) -> bool;
    /// How soon it is looked at again although all is well, if that is the object's own matter.
    ///
    /// # Errors
    /// If the function that says so panics.
    fn period(&self) -> Result<Option<Duration>>;
    /// What the spec says of other objects.
    fn named(&self) -> Vec<Pointer>;
    /// Runs the tree; gives the status as the provisioners left it, unless it is as it is stored. A panic of a provisioner is an
    /// outcome, too.
    fn run<'a>(&'a self, core: Core<'a>, direction: Direction) -> BoxFuture<'a, (Result<()>, Option<Value>)>;
}
