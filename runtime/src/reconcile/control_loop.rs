//! `Loop`: the state of one controller that its passes share.

use crate::reconcile::{
    Reported, Selection, Shared, Source, States,
    change::{LastStates, News},
    reconciler::Reconciler,
    settled::Settled,
};
use std::sync::Arc;

/// What the loop of one controller needs.
pub(crate) struct Loop {
    pub(crate) shared: Arc<Shared>,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) reconciler: Box<dyn Reconciler>,
    pub(crate) finalizer: String,
    /// The objects that are meant.
    pub(super) selection: Selection,
    pub(super) states: States,
    /// Objects outside the selection that need nothing.
    pub(super) settled: Settled,
    /// What was found out of the last states of objects.
    pub(super) recent: LastStates,
    /// Which changes are worth a pass, where the controller says so.
    pub(super) news: Option<News>,
    /// What the types of the controller's conditions begin with.
    pub(crate) condition_prefix: String,
    /// The objects on which that panics.
    pub(super) reported: Reported,
}
