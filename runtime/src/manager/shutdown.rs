//! `Shutdown` stops the parts of a running operator in order, and reports the reconciliations that the shutdown timeout interrupts.

use super::{deadline::Deadline, run_error::RunError, runnable::RunnableGroup, runnable_groups::RunnableGroups};
use crate::{cache::ObjectKey, controller::worker::RunningController, manager::wiring::Wiring, tasks::Tasks};
use futures::{StreamExt, future::join_all, stream};
use std::{sync::Arc, time::Duration};
use tokio::task::JoinSet;

/// The maximum time for the reports of interrupted passes, and for the events after them. The grace period of the generated Deployment
/// includes both.
const REPORT_TIMEOUT: Duration = Duration::from_secs(2);

/// The number of reports that are written at a time.
const CONCURRENT_REPORTS: usize = 16;

/// The parts of a run that stop, and the time that they have.
pub(super) struct Shutdown<'r> {
    /// Zero waits for nothing.
    pub(super) timeout: Duration,
    pub(super) wirings: &'r [Wiring],
    /// The controllers, until their passes have ended.
    pub(super) controllers: JoinSet<Result<(), RunError>>,
    pub(super) runnables: &'r mut RunnableGroups,
    /// The watches, and all other tasks of the runtime except the servers.
    pub(super) caches: Tasks,
    /// The servers of probes and metrics.
    pub(super) servers: Tasks,
}

/// A pass that the shutdown interrupted.
type InterruptedPass = (Arc<RunningController>, ObjectKey);

impl Shutdown<'_> {
    /// Stops the parts of the run in this order: no new pass begins, then the runnables that need no leader end, then the runnables that
    /// need the leader and the running passes, the writer of events, the watches, the runnables before caches, and the servers. A pass that
    /// exceeds the timeout is interrupted, and the status of its object says so.
    ///
    /// # Errors
    /// Fails if passes or runnables did not end within the timeout, unless the timeout is zero.
    pub(super) async fn run(mut self) -> Result<(), RunError> {
        let deadline = Deadline::after(self.timeout);
        self.runnables.close();
        for controller in self.controllers_of_all() {
            controller.stop();
        }
        let mut unfinished = Vec::new();
        let late = self.runnables.stop(RunnableGroup::WithoutLead, deadline).await;
        unfinished.extend(late.into_iter().map(describe_runnable));
        let passes = async { while self.controllers.join_next().await.is_some() {} };
        let (_, late) = tokio::join!(deadline.wait_for(passes), self.runnables.stop(RunnableGroup::Lead, deadline));
        unfinished.extend(late.into_iter().map(describe_runnable));
        let interrupted = self.interrupt_passes();
        unfinished.extend(interrupted.iter().map(|(controller, key)| describe_pass(controller, key)));
        // The reports record events after the deadline, so the writer of events gets more time.
        let flush_deadline = if interrupted.is_empty() || self.timeout.is_zero() {
            deadline
        } else {
            report(interrupted).await;
            Deadline::after(REPORT_TIMEOUT)
        };
        let flushed = join_all(self.wirings.iter().map(|wiring| wiring.recorder.flush()));
        if flush_deadline.wait_for(flushed).await.is_none() {
            tracing::warn!("some events were not recorded before the shutdown");
        }
        self.caches.end().await;
        let late = self.runnables.stop(RunnableGroup::BeforeCaches, deadline).await;
        unfinished.extend(late.into_iter().map(describe_runnable));
        self.servers.end().await;
        if unfinished.is_empty() || self.timeout.is_zero() {
            return Ok(());
        }
        Err(RunError::Timeout { timeout: self.timeout, unfinished })
    }

    /// Returns the controllers of all operators.
    fn controllers_of_all(&self) -> impl Iterator<Item = &Arc<RunningController>> {
        self.wirings.iter().flat_map(|wiring| &wiring.controllers)
    }

    /// Aborts the tasks of the controllers with their workers. Returns the passes that were running.
    fn interrupt_passes(&mut self) -> Vec<InterruptedPass> {
        let passes = self.controllers_of_all().flat_map(|controller| {
            controller.running_passes().into_iter().map(|key| (controller.clone(), key)).collect::<Vec<_>>()
        });
        let passes: Vec<_> = passes.collect();
        self.controllers.abort_all();
        for (controller, key) in &passes {
            let kind = controller.control_loop.source.kind();
            tracing::warn!(%kind, object = %key, "the shutdown interrupted the pass");
        }
        passes
    }
}

/// Reports interrupted passes in the status of their objects, as many as [`REPORT_TIMEOUT`] allows. This replica still holds its Lease. The
/// client refuses the writes if the Lease is lost meanwhile.
async fn report(passes: Vec<InterruptedPass>) {
    let count = passes.len();
    let reports = stream::iter(passes).for_each_concurrent(CONCURRENT_REPORTS, |(controller, key)| async move {
        // `None` if this replica has handed over the shard of the object, which it does only after the end of a pass.
        let Some(shard) = controller.control_loop.begin_shard_pass(&key).await else { return };
        if let Err(error) = shard.run(controller.control_loop.report_interrupted(&key)).await {
            let kind = controller.control_loop.source.kind();
            tracing::warn!(%kind, object = %key, %error, "failed to report the interrupted pass");
        }
    });
    if tokio::time::timeout(REPORT_TIMEOUT, reports).await.is_err() {
        tracing::warn!(passes = count, "not all interrupted passes were reported in time");
    }
}

fn describe_runnable(name: String) -> String {
    format!("runnable {name}")
}

fn describe_pass(controller: &RunningController, key: &ObjectKey) -> String {
    format!("the pass over {} {key}", controller.control_loop.source.kind().kind)
}
