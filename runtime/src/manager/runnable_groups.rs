//! `RunnableGroups` starts the runnables (background tasks of the user) of a run group by group, waits for the first that fails, and stops
//! the groups.

use super::{
    deadline::Deadline,
    run_error::RunError,
    runnable::{RunFacts, Runnable, RunnableContext, RunnableGroup, Runnables},
};
use crate::{
    counters::Counters,
    error::{Error, Result},
    panic::{Closure, Panicked},
};
use futures::FutureExt;
use std::{collections::BTreeMap, future::poll_fn, panic::AssertUnwindSafe, pin::pin, sync::Arc, task::Poll};
use tokio::{
    sync::{mpsc, watch},
    task::{Id, JoinSet},
    time::sleep,
};

/// The result of a runnable whose task was not aborted.
type Ended = (String, Result<()>);

/// The runnables of one run. Its drop ends them.
pub(super) struct RunnableGroups {
    run: Arc<RunFacts>,
    handle: Runnables,
    added: mpsc::UnboundedReceiver<Runnable>,
    before_caches: RunningGroup,
    without_lead: RunningGroup,
    lead: RunningGroup,
    elected: watch::Sender<bool>,
    counters: Counters,
}

/// The runnables of one group.
#[derive(Default)]
struct RunningGroup {
    is_started: bool,
    /// The runnables that start with the group.
    waiting: Vec<Runnable>,
    running: JoinSet<Ended>,
    /// The names of the running ones.
    names: BTreeMap<Id, String>,
    stop: watch::Sender<bool>,
}

impl RunnableGroups {
    /// Begins a run with the runnables of the operators (`own`) and those that the user has added to `handle`, sorted into their groups.
    /// No runnable starts yet. Returns `None` if an earlier run has used the handle.
    pub(super) fn new(handle: Runnables, own: &[Runnable], run: RunFacts, counters: Counters) -> Option<Self> {
        let (waiting, added) = handle.begin()?;
        let mut groups = Self {
            run: Arc::new(run),
            handle,
            added,
            before_caches: RunningGroup::default(),
            without_lead: RunningGroup::default(),
            lead: RunningGroup::default(),
            elected: watch::Sender::new(false),
            counters,
        };
        own.iter().cloned().chain(waiting).for_each(|runnable| groups.accept(runnable));
        Some(groups)
    }

    /// Returns the name of a runnable that needs the lead.
    pub(super) fn name_of_led(&self) -> Option<&str> {
        self.lead.waiting.first().map(Runnable::name)
    }

    /// Starts a group: the runnables that wait for it, and later those that are added to it.
    pub(super) fn start(&mut self, group: RunnableGroup) {
        let group = self.group(group);
        group.is_started = true;
        for runnable in std::mem::take(&mut group.waiting) {
            self.accept(runnable);
        }
    }

    /// Starts the runnables that need no leader when `synced` completes, the runnables that need the leader when `lead` completes as well,
    /// and each runnable that is added after the start of its group. Returns the error of the first runnable that fails.
    pub(super) async fn supervise(
        &mut self,
        synced: impl Future<Output = ()>,
        lead: impl Future<Output = ()>,
    ) -> RunError {
        let (mut synced, mut lead) = (pin!(synced), pin!(lead));
        loop {
            let (is_synced, is_leading) = (self.without_lead.is_started, self.lead.is_started);
            tokio::select! {
                biased;
                (name, result) = next_end([&mut self.before_caches, &mut self.without_lead, &mut self.lead]) => match result {
                    Ok(()) => tracing::debug!(runnable = name, "a runnable has ended"),
                    Err(error) => return RunError::Runnable { name, error },
                },
                () = &mut synced, if !is_synced => self.start(RunnableGroup::WithoutLead),
                () = &mut lead, if is_synced && !is_leading => {
                    self.start(RunnableGroup::Lead);
                    self.elected.send_replace(true);
                }
                // The handle has a sender until it is closed.
                Some(runnable) = self.added.recv() => self.accept(runnable),
            }
        }
    }

    /// Refuses runnables from now on.
    pub(super) fn close(&mut self) {
        self.handle.close();
        while let Ok(runnable) = self.added.try_recv() {
            tracing::warn!(runnable = runnable.name, "not started, since the operator is stopping");
        }
    }

    /// Tells the runnables of a group to stop, waits for their ends until the deadline, and aborts those that still run. Logs the errors
    /// of runnables that fail meanwhile. Returns the names of the aborted runnables.
    pub(super) async fn stop(&mut self, group: RunnableGroup, deadline: Deadline) -> Vec<String> {
        let group = self.group(group);
        group.waiting.clear();
        group.stop.send_replace(true);
        let ended = async {
            while !group.running.is_empty() {
                let (name, result) = next_end([&mut *group]).await;
                if let Err(error) = result {
                    tracing::error!(runnable = name, %error, "a runnable failed during the shutdown");
                }
            }
        };
        deadline.wait_for(ended).await;
        group.running.abort_all();
        std::mem::take(&mut group.names).into_values().collect()
    }

    /// Starts a runnable if its group has started; otherwise keeps it until the group starts.
    fn accept(&mut self, runnable: Runnable) {
        let (run, runnables, elected) = (self.run.clone(), self.handle.clone(), self.elected.subscribe());
        let counters = self.counters.clone();
        let group = self.group(runnable.group);
        if !group.is_started {
            group.waiting.push(runnable);
            return;
        }
        tracing::debug!(runnable = runnable.name, "starting a runnable");
        let operator = runnable.operator.as_deref().unwrap_or(&run.operator).into();
        let context = RunnableContext { run, operator, stopped: group.stop.subscribe(), elected, runnables };
        let name = runnable.name.clone();
        let task = group.running.spawn(run_to_end(runnable, context, counters));
        group.names.insert(task.id(), name);
    }

    /// Returns the state of a group.
    fn group(&mut self, group: RunnableGroup) -> &mut RunningGroup {
        match group {
            RunnableGroup::BeforeCaches => &mut self.before_caches,
            RunnableGroup::WithoutLead => &mut self.without_lead,
            RunnableGroup::Lead => &mut self.lead,
        }
    }
}

impl Drop for RunnableGroups {
    fn drop(&mut self) {
        self.handle.close();
    }
}

/// Runs the function of a runnable until it returns, and returns the name with the result. A panic is counted and becomes an error. A
/// function that does not return within the runnable's own shutdown timeout after the stop is dropped, which counts as success.
async fn run_to_end(runnable: Runnable, context: RunnableContext, counters: Counters) -> Ended {
    let (stopped, timeout) = (context.stopped(), runnable.shutdown_timeout);
    let overdue = async {
        match timeout {
            Some(timeout) => {
                stopped.await;
                sleep(timeout).await;
            }
            None => std::future::pending().await,
        }
    };
    // The function itself may panic before it returns a future.
    let work = AssertUnwindSafe(async { runnable.start(context).await }).catch_unwind();
    let result = tokio::select! {
        biased;
        result = work => result.unwrap_or_else(|payload| {
            counters.count_panic(Closure::Runnable);
            Err(Error::unexpected(Panicked::new(Closure::Runnable, &*payload)))
        }),
        () = overdue => {
            tracing::warn!(runnable = runnable.name, ?timeout, "dropped a runnable that did not end within its shutdown timeout");
            Ok(())
        }
    };
    (runnable.name, result)
}

/// Waits for the next runnable of these groups that ends; forever if none runs.
async fn next_end<const N: usize>(mut groups: [&mut RunningGroup; N]) -> Ended {
    poll_fn(|cx| {
        for group in &mut groups {
            match group.running.poll_join_next_with_id(cx) {
                Poll::Ready(Some(Ok((id, ended)))) => {
                    group.names.remove(&id);
                    return Poll::Ready(ended);
                }
                // Not expected here: `run_to_end` catches panics, and a runnable is aborted only at the end of the run.
                Poll::Ready(Some(Err(error))) => {
                    let name = group.names.remove(&error.id()).unwrap_or_default();
                    return Poll::Ready((name, Err(Error::unexpected(error))));
                }
                Poll::Ready(None) | Poll::Pending => {}
            }
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
