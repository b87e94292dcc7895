//! `Reconciler` and `DecodedPrimary`: the traits through which the untyped reconcile loop decodes a primary and runs its typed tree.

use crate::{
    engine::side_effects::SideEffects,
    error::{Error, Result},
    reconcile::{Direction, Encoded, Entry, ObjectKey, PassCore, ReadError, stored_status::StoredStatus},
    reference::Pointer,
    shape::Shape,
    versions::FieldProblem,
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
    /// Returns whether the operator defines the kind. It writes no status of a foreign kind.
    fn owns_status(&self) -> bool;
    /// Returns the fields of an object that the conversion from another version could not convert.
    fn conversion_problems(&self, object: &Value) -> Vec<FieldProblem>;
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
    /// Runs the tree. A panic of a provisioner is an error of the outcome.
    fn run_tree<'a>(&'a self, core: PassCore<'a>, direction: Direction) -> BoxFuture<'a, TreeResult>;
}

/// The result of a tree that ran.
pub(crate) struct TreeResult {
    pub(crate) outcome: Result<()>,
    /// The status that the nodes set; `None` if it is the stored one.
    pub(crate) status: Option<Value>,
    pub(crate) side_effects: SideEffects,
}

impl TreeResult {
    /// Returns the result of a tree that could not run.
    pub(crate) fn failed(error: Error) -> Self {
        Self { outcome: Err(error), status: None, side_effects: SideEffects::default() }
    }
}
