//! `Runnable`: a background task that users add to an operator beside its controllers. `Runnables`: a handle that adds such tasks to one
//! run of an operator.

use crate::error::Result;
use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use std::{fmt, sync::Arc, time::Duration};
use tokio::sync::{mpsc, watch};

/// The work of a runnable.
type Work = Arc<dyn Fn(RunnableContext) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// Work beside the controllers of an operator, such as a server, the consumer of a message queue, or a periodic task.
///
/// Its function runs until it returns or until the operator stops: then [`RunnableContext::stopped`] completes, and the function
/// should return within the [shutdown timeout](crate::Operator::shutdown_timeout). A runnable that returns `Ok` has done its work.
/// An error or a panic stops the operator, which returns [`RunError::Runnable`](crate::RunError::Runnable).
///
/// By default a runnable needs the lead: with leader election, it starts in the replica that leads. The order of start is
///
/// 1. the servers of probes and metrics,
/// 2. the runnables [before caches](Runnable::before_caches),
/// 3. all watches,
/// 4. the runnables [without lead](Runnable::without_lead), when the first lists of the watches are complete (at most ten seconds
///    later, since a kind that can't be listed delays nothing else),
/// 5. with the lead: the controllers, and all other runnables.
///
/// At a stop, the controllers begin no new pass. Then the runnables without lead end, the runnables with lead and the running passes,
/// the watches, the runnables before caches, and the servers. The lead is released last. Webhooks are served for three more seconds, until
/// API servers know that the replica is gone.
///
/// # Example
///
/// ```
/// use opgen::{manager::Runnable, prelude::*};
/// use std::time::Duration;
///
/// let heartbeat = Runnable::new("heartbeat", async |context| {
///     while !context.is_stopped() {
///         tracing::info!(operator = context.operator(), "alive");
///         tokio::select! {
///             () = context.stopped() => {}
///             () = tokio::time::sleep(Duration::from_secs(60)) => {}
///         }
///     }
///     Ok(())
/// });
/// let operator = Operator::new("teams").runnable(heartbeat.without_lead());
/// # drop(operator);
/// ```
#[derive(Clone)]
pub struct Runnable {
    pub(super) name: String,
    /// The name of the operator that it belongs to; that of the run if it was added to a run.
    pub(super) operator: Option<String>,
    pub(super) group: RunnableGroup,
    pub(super) shutdown_timeout: Option<Duration>,
    work: Work,
}

/// The runnables that start and stop together, in the order of their start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunnableGroup {
    BeforeCaches,
    WithoutLead,
    Lead,
}

impl Runnable {
    /// Creates a runnable that starts only in the replica that leads. The name is for messages. The function runs once in each run of an
    /// operator.
    pub fn new<F>(name: impl Into<String>, work: impl Fn(RunnableContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let work: Work = Arc::new(move |context| work(context).boxed());
        Self { name: name.into(), operator: None, group: RunnableGroup::Lead, shutdown_timeout: None, work }
    }

    /// Runs in every replica, whether it leads or not. Default: only with the lead.
    #[must_use]
    pub fn without_lead(mut self) -> Self {
        self.group = RunnableGroup::WithoutLead;
        self
    }

    /// Runs in every replica, and starts before anything is watched: for a server that the API server calls to answer lists, such as
    /// a conversion webhook. Default: only with the lead.
    #[must_use]
    pub fn before_caches(mut self) -> Self {
        self.group = RunnableGroup::BeforeCaches;
        self
    }

    /// Sets the maximum time between the stop and the return of the function. After it the function is dropped, and a warning is
    /// logged. Default: the [shutdown timeout](crate::Operator::shutdown_timeout) of the operator, which is an upper limit.
    #[must_use]
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown_timeout = Some(timeout);
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls the function.
    pub(super) fn start(&self, context: RunnableContext) -> BoxFuture<'static, Result<()>> {
        (self.work)(context)
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, operator: _, group, shutdown_timeout, work: _ } = self;
        f.debug_struct("Runnable")
            .field("name", name)
            .field("group", group)
            .field("shutdown_timeout", shutdown_timeout)
            .finish_non_exhaustive()
    }
}

/// The run of an operator, as its runnables see it.
#[derive(Clone, Debug)]
pub struct RunnableContext {
    pub(super) run: Arc<RunFacts>,
    pub(super) operator: Arc<str>,
    pub(super) stopped: watch::Receiver<bool>,
    pub(super) elected: watch::Receiver<bool>,
    pub(super) runnables: Runnables,
}

/// The facts of a run that do not change.
pub(super) struct RunFacts {
    pub(super) client: kube::Client,
    pub(super) operator: String,
    pub(super) namespace: String,
}

impl fmt::Debug for RunFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunFacts")
            .field("operator", &self.operator)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl RunnableContext {
    /// Returns the client of the operator, with its timeouts and its rate limit. With leader election, its writes fail while this
    /// replica does not lead.
    pub fn client(&self) -> kube::Client {
        self.run.client.clone()
    }

    /// Returns the name of the operator that the runnable was added to.
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// Returns the namespace of the operator: that of its Pod, else that of the client.
    pub fn namespace(&self) -> &str {
        &self.run.namespace
    }

    /// Waits until the runnable should return.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stopped = self.stopped.clone();
        async move {
            // The wait fails only if the sender is dropped: then the run has ended, which is a stop as well.
            let _ = stopped.wait_for(|is_stopped| *is_stopped).await;
        }
    }

    /// Returns whether the runnable should return.
    pub fn is_stopped(&self) -> bool {
        *self.stopped.borrow() || self.stopped.has_changed().is_err()
    }

    /// Waits until this replica leads, and all runnables that need the lead have been started. Without leader election each replica
    /// leads.
    pub fn elected(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut elected = self.elected.clone();
        async move {
            // The wait fails only if the run has ended, and then this replica never leads.
            if elected.wait_for(|is_elected| *is_elected).await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// Returns whether this replica leads; see [`RunnableContext::elected`].
    pub fn is_elected(&self) -> bool {
        *self.elected.borrow()
    }

    /// Returns the handle that adds runnables to this run.
    pub fn runnables(&self) -> &Runnables {
        &self.runnables
    }
}

/// Adds runnables to one run of an operator, before it starts or while it runs. Clones are the same handle.
///
/// # Example
///
/// ```
/// use opgen::{RunOptions, manager::{Runnable, Runnables}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runnables = Runnables::new();
/// let options = RunOptions::default().runnables(&runnables);
/// // Now, or at any time while the operator runs with these options:
/// runnables.add(Runnable::new("once", async |_| Ok(())))?;
/// # drop(options);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Runnables(Arc<Mutex<HandleState>>);

/// The state of the run of a handle.
#[derive(Debug)]
enum HandleState {
    /// No run has started; these runnables wait for it.
    New(Vec<Runnable>),
    Running(mpsc::UnboundedSender<Runnable>),
    Stopped,
}

impl Default for HandleState {
    fn default() -> Self {
        Self::New(Vec::new())
    }
}

/// A runnable was added to a run that is stopping or has stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operator is stopping, so runnable {name} is not started; add runnables before the stop")]
pub struct AddRunnableError {
    name: String,
}

impl Runnables {
    /// Returns the handle of a run that has not started.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a runnable. If its group runs already, the runnable starts now; otherwise it starts with its group.
    ///
    /// # Errors
    /// Fails if the run is stopping or has stopped.
    pub fn add(&self, runnable: Runnable) -> Result<(), AddRunnableError> {
        match &mut *self.0.lock() {
            HandleState::New(waiting) => waiting.push(runnable),
            HandleState::Running(sender) => {
                sender.send(runnable).map_err(|unsent| AddRunnableError { name: unsent.0.name })?;
            }
            HandleState::Stopped => return Err(AddRunnableError { name: runnable.name }),
        }
        Ok(())
    }

    /// Begins the run: returns the runnables that were added before, and the receiver of those that are added from now on; `None`
    /// if a run has begun already.
    pub(super) fn begin(&self) -> Option<(Vec<Runnable>, mpsc::UnboundedReceiver<Runnable>)> {
        let mut state = self.0.lock();
        let HandleState::New(waiting) = &mut *state else { return None };
        let (waiting, (sender, receiver)) = (std::mem::take(waiting), mpsc::unbounded_channel());
        *state = HandleState::Running(sender);
        Some((waiting, receiver))
    }

    /// Ends the run: no more runnables are added.
    pub(super) fn close(&self) {
        *self.0.lock() = HandleState::Stopped;
    }
}
