//! `Outcome`: the result of one run with its snapshots, failure, panics and timeline.

use std::time::Duration;

use opgen_sandbox::fault::Timeline;

use super::{edit_failures::EditFailures, panic_hook::PanicRecord, recreation::Recreation, write_log::RepeatedWrite};
use crate::{admin::ErrorResponse, snapshot::Snapshot};

/// The failure that ended a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The run could not be set up.
    Setup(String),
    /// The process of the program exited.
    Exited(String),
    /// The program does not come to rest in a phase.
    NotAtRest(&'static str),
    /// The run exceeded this real time: there was always work, so that the clock did not advance to a deadline.
    Overtime(Duration),
    /// A client writes one path without end in a phase.
    HotLoop(&'static str, Box<RepeatedWrite>),
    /// The program makes calls although there is nothing to do.
    BusyAtRest(Vec<String>),
    /// The program polls too often.
    HotPolling(Vec<String>),
    /// The program removed a foreign finalizer.
    LostFinalizer(String),
    /// The program removed its own finalizer before the children were gone.
    EarlyRelease(String),
    /// The program changed or deleted a foreign object.
    ChangedForeignObject(String),
}

impl Failure {
    /// Returns the failure of a call that sets up a run; `problem` says what failed.
    pub(crate) fn setup(problem: &str, error: ErrorResponse) -> Self {
        Self::Setup(format!("{problem}: {error}"))
    }
}

/// The outcome of a run. Snapshots are `None` if the run has no such phase or did not get there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// After the samples were created.
    pub(crate) after_create: Option<Snapshot>,
    /// After the edit or the upgrade, or the error response to the edit.
    pub(crate) after_edit: Option<Result<Snapshot, String>>,
    /// After second objects were created.
    pub(crate) with_second: Option<Snapshot>,
    /// After the edit was undone, the deleted child was created again, the samples were recreated, the second objects were
    /// deleted, the downgrade, or a disturbance of other clusters at rest, of the buckets, or of an external service.
    pub(crate) after_recovery: Option<Snapshot>,
    /// After other clients removed the samples from their buckets, before they were put again.
    pub(crate) without_samples: Option<Snapshot>,
    /// The samples that other clients removed from their buckets, and that exist nevertheless.
    pub(crate) undone_removals: Vec<String>,
    /// While the entries of the samples are no objects.
    pub(crate) while_invalid: Option<Snapshot>,
    /// After the samples were deleted.
    pub(crate) after_delete: Option<Snapshot>,
    /// The objects that were deleted and created again.
    pub(crate) recreations: Vec<Recreation>,
    /// The failures that persisted after an edit.
    pub(crate) edit_failures: EditFailures,
    pub(crate) panics: Vec<PanicRecord>,
    /// What the program did wrong with the things of an external service.
    pub(crate) service_problems: Vec<String>,
    pub(crate) failure: Option<Failure>,
    /// The number of calls to webhooks before the samples were created.
    pub(crate) webhook_calls_to_set_up: u64,
    /// The number of calls until the program was at rest after the creation of the samples.
    pub(crate) calls_to_create: u64,
    /// The number of calls until the newer release was at rest.
    pub(crate) calls_to_upgrade: u64,
    pub(crate) calls: u64,
    pub(crate) timeline: Timeline,
    /// The reads of the webhooks.
    pub(crate) webhook_reads: Timeline,
}
