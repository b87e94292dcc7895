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

/// Runs children like [`concurrently`], with dependencies: each child comes with the indexes of the children that have to succeed
/// before it starts. A child that never starts has no outcome.
pub async fn in_order<const N: usize>(children: [(BoxFuture<'_, Result<()>>, &[usize]); N]) -> Result<()> {
    let mut waiting = Vec::with_capacity(N);
    let mut outcomes: Vec<Option<Result<()>>> = Vec::with_capacity(N);
    for (child, dependencies) in children {
        waiting.push(Some((catch_panic(child), dependencies)));
        outcomes.push(None);
    }
    let mut running = FuturesUnordered::new();
    loop {
        let succeeded = |at: &usize| matches!(outcomes.get(*at), Some(Some(Ok(()))));
        for (at, slot) in waiting.iter_mut().enumerate() {
            if slot.as_ref().is_some_and(|(_, dependencies)| dependencies.iter().all(succeeded))
                && let Some((child, _)) = slot.take()
            {
                running.push(child.map(move |outcome| (at, outcome)));
            }
        }
        let Some((at, outcome)) = running.next().await else { break };
        outcomes[at] = Some(outcome);
    }
    worst_outcome(outcomes.into_iter().flatten())
}

/// Returns the worst of several outcomes: the error with the lowest rank, and among equals the one of the child declared first.
/// If all errors are yields, their messages are joined.
pub(crate) fn worst_outcome(outcomes: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let mut errors: Vec<Error> = outcomes.into_iter().filter_map(Result::err).collect();
    // The sort is stable, so among equals the child declared first comes first.
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

/// Runs a child and converts its panic to an error, so that the other children continue.
pub(crate) async fn catch_panic<T>(child: impl Future<Output = Result<T>>) -> Result<T> {
    match AssertUnwindSafe(child).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(payload) => Err(Error::Unexpected(Box::new(Panicked::new(Closure::Provisioner, &*payload)))),
    }
}
