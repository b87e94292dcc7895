//! `Reconciler` and `DecodedPrimary` connect a typed tree with the untyped reconcile loop.

use crate::{
    error::Result,
    reconcile::{Direction, Encoded, Entry, ObjectKey, PassCore, ReadError, stored_status::StoredStatus},
    reference::Pointer,
    shape::Shape,
};
use futures::future::BoxFuture;
use serde_json::Value;
use std::time::Duration;

/// The typed part of a controller: the tree of a kind.
pub(crate) trait Reconciler: Send + Sync {
    /// Decodes an object.
    fn decode(&self, entry: &Entry<Encoded>) -> Result<Box<dyn DecodedPrimary + '_>, ReadError>;
    /// Drops the cached decoding of a deleted object.
    fn forget(&self, key: &ObjectKey);
    /// Returns the tree, as data.
    fn shape(&self) -> &'static Shape;
    /// Whether the operator defines the kind. It writes no status of a foreign kind.
    fn owns_status(&self) -> bool;
}

/// A decoded primary.
pub(crate) trait DecodedPrimary: StoredStatus {
    fn paused(&self) -> bool;
    /// Returns the resync period of this object (`Controller::resync_period_by`); `None` for that of the controller.
    ///
    /// # Errors
    /// If the user's function panics.
    fn resync_period(&self) -> Result<Option<Duration>>;
    /// Returns the references of the spec to other objects.
    fn references(&self) -> Vec<Pointer>;
    /// Runs the tree. Returns the outcome, which includes a panic of a provisioner, and the status that the provisioners set;
    /// `None` if it is the stored one.
    fn run_tree<'a>(&'a self, core: PassCore<'a>, direction: Direction) -> BoxFuture<'a, (Result<()>, Option<Value>)>;
}
