//! `Manager` runs several operators in one process, with one client and one set of informers.

use super::{
    operator::Operator,
    operators::Operators,
    run::{run_until, run_until_signal},
    run_error::RunError,
    run_options::RunOptions,
};

/// Several operators in one process. They share the client with its connections, one leader election, the servers of probes and
/// metrics, and the informers: each kind is listed, watched and cached once, whichever operators use it. Only the watches of child
/// objects are separate, since they select by the label of their operator.
///
/// The options of the process are those of the first operator: its name is in the name of the Lease, and its timeouts, namespaces,
/// shutdown timeout, clock and metrics are those of all. Each operator keeps its own name, version, field manager, finalizers and
/// events, so each object looks as if its operator ran alone. The runnables, health checks and handlers of all operators are used.
///
/// The ServiceAccount of the process needs the roles of all operators, and the role for the Lease of the first.
///
/// # Example
///
/// ```no_run
/// use opgen::{Operator, RunOptions, manager::Manager};
///
/// # async fn run(teams: Operator, shops: Operator) -> Result<(), opgen::RunError> {
/// Manager::new(teams).operator(shops).run(RunOptions::default()).await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Manager {
    first: Operator,
    others: Vec<Operator>,
}

impl Manager {
    /// Creates a manager with one operator, whose options are those of the process.
    pub fn new(operator: Operator) -> Self {
        Self { first: operator, others: Vec::new() }
    }

    /// Adds an operator, whose name differs from those of the others. Its counters and metrics are from now on those of the first
    /// operator, and the registries that it has are added to them.
    #[must_use]
    pub fn operator(mut self, mut operator: Operator) -> Self {
        self.first.metrics.adopt(&operator.metrics);
        operator.metrics = self.first.metrics.clone();
        operator.counters = self.first.counters.clone();
        self.others.push(operator);
        self
    }

    /// Runs until SIGINT or SIGTERM, as [`Operator::run`] does. A manager runs once.
    ///
    /// # Errors
    /// Those that [`RunError`] lists.
    pub async fn run(self, options: RunOptions) -> Result<(), RunError> {
        run_until_signal(Operators::new(&self.first, &self.others), options).await
    }

    /// Runs with the client of the caller until `stop` completes, as [`Operator::run_with`] does.
    ///
    /// # Errors
    /// Those that [`RunError`] lists.
    pub async fn run_with(
        self,
        client: kube::Client,
        options: RunOptions,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), RunError> {
        run_until(Operators::new(&self.first, &self.others), client, options, stop).await
    }
}
