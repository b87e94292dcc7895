//! `Loop` is the reconcile loop of one controller and has the state that its passes share.

use crate::reconcile::{
    ControllerState, ObjectStates, PanicReports, Selection, Source,
    change::{PrimaryPredicate, RecentStates},
    reconciler::Reconciler,
    settled::SettledKeys,
};
use std::sync::Arc;
use tokio::sync::Notify;

/// The reconcile loop of one controller. Its methods are in the modules of `reconcile`, one module per concern.
pub(crate) struct Loop {
    pub(crate) shared: Arc<ControllerState>,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) reconciler: Box<dyn Reconciler>,
    pub(crate) finalizer: String,
    /// The label and field selectors of the primaries.
    pub(super) selection: Selection,
    pub(super) states: ObjectStates,
    /// The keys outside the selection that need no pass.
    pub(super) settled: SettledKeys,
    pub(super) recent_states: RecentStates,
    /// The controller's own predicate of changes that start a pass; `None` for the default.
    pub(super) predicate: Option<PrimaryPredicate>,
    /// The prefix of the controller's condition types.
    pub(crate) condition_prefix: String,
    /// The reported panics of the predicate, and of the type of an object that left the selection.
    pub(super) panic_reports: PanicReports,
    /// Notified of objects that have a finalizer of another operator.
    pub(super) other_operator: Notify,
}

/// The settings of a controller that its loop needs.
pub(crate) struct LoopOptions {
    pub(crate) finalizer: String,
    pub(crate) selection: Selection,
    pub(crate) predicate: Option<PrimaryPredicate>,
    pub(crate) condition_prefix: String,
}
