//! Runs the child nodes of a group of tree nodes all at once or in the order of their dependencies, and combines their outcomes into one.

use crate::{
    error::{Error, Result},
    panic::{Closure, Panicked},
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use std::{future::Future, panic::AssertUnwindSafe};

/// Boxes the future of a child, so that all children in [`concurrently`] have one type.
pub fn boxed<'a>(child: impl Future<Output = Result<()>> + Send + 'a) -> BoxFuture<'a, Result<()>> {
    child.boxed()
}

/// Runs all children at once and waits for all of them, even if some fail. Returns the worst outcome.
pub async fn concurrently<const N: usize>(children: [BoxFuture<'_, Result<()>>; N]) -> Result<()> {
    worst_outcome(futures::future::join_all(children.into_iter().map(catch_panic)).await)
}

/// Runs children concurrently, but starts a child only after the children that it depends on have succeeded. Each child comes with the
/// indexes of its dependencies. Returns the worst outcome of the children that ran; if a dependency fails, the child does not run.
pub async fn in_order<const N: usize>(children: [(BoxFuture<'_, Result<()>>, &[usize]); N]) -> Result<()> {
    let mut waiting = Vec::with_capacity(N);
    let mut outcomes: Vec<Option<Result<()>>> = Vec::with_capacity(N);
    for (child, dependencies) in children {
        waiting.push(Some((catch_panic(child), dependencies)));
        outcomes.push(None);
    }
    let mut running = FuturesUnordered::new();
    loop {
        // Starts the children whose dependencies have all succeeded by now, and then waits for the next running child to end.
        let succeeded = |index: &usize| matches!(outcomes.get(*index), Some(Some(Ok(()))));
        for (index, slot) in waiting.iter_mut().enumerate() {
            if slot.as_ref().is_some_and(|(_, dependencies)| dependencies.iter().all(succeeded))
                && let Some((child, _)) = slot.take()
            {
                running.push(child.map(move |outcome| (index, outcome)));
            }
        }
        let Some((index, outcome)) = running.next().await else { break };
        outcomes[index] = Some(outcome);
    }
    worst_outcome(outcomes.into_iter().flatten())
}

/// Returns the worst of several outcomes: the error with the lowest [`Error::rank`], and among errors of one rank that of the child
/// declared first. If the worst error is a yield, it gets the messages of the other yields, too.
pub(crate) fn worst_outcome(outcomes: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let mut errors: Vec<Error> = outcomes.into_iter().filter_map(Result::err).collect();
    // The sort is stable, so errors of one rank stay in the order of the children.
    errors.sort_by_key(Error::rank);
    let mut errors = errors.into_iter();
    let Some(mut worst) = errors.next() else { return Ok(()) };
    for other in errors {
        tracing::debug!(error = %other, "another child of the group did not succeed either");
        if let (Error::Yield { message: all, .. }, Error::Yield { message, .. }) = (&mut worst, &other) {
            all.push_str("; ");
            all.push_str(message);
        }
    }
    Err(worst)
}

/// Runs the future of a child and converts a panic to an error, so that the other children continue.
pub(crate) async fn catch_panic<T>(child: impl Future<Output = Result<T>>) -> Result<T> {
    match AssertUnwindSafe(child).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(payload) => Err(Error::Unexpected(Box::new(Panicked::new(Closure::Provisioner, &*payload)))),
    }
}
