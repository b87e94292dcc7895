//! The order in which the children of a group run.

use crate::{
    error::{Error, Result},
    panic::{Closure, Panicked},
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use std::{future::Future, panic::AssertUnwindSafe};

/// A child's future of one size, for [`concurrently`].
pub fn boxed<'a>(child: impl Future<Output = Result<()>> + Send + 'a) -> BoxFuture<'a, Result<()>> {
    child.boxed()
}

/// Runs all children to their end, whatever becomes of the others; the gravest outcome speaks for all.
pub async fn concurrently<const N: usize>(children: [BoxFuture<'_, Result<()>>; N]) -> Result<()> {
    gravest(futures::future::join_all(children.into_iter().map(guarded)).await)
}

/// As [`concurrently`], where a child begins only when those before it have succeeded: each child comes with the places of
/// those. A child whose turn never comes has no outcome.
pub async fn in_order<const N: usize>(children: [(BoxFuture<'_, Result<()>>, &[usize]); N]) -> Result<()> {
    let mut waiting = Vec::with_capacity(N);
    let mut outcomes: Vec<Option<Result<()>>> = Vec::with_capacity(N);
    for (child, before) in children {
        waiting.push(Some((guarded(child), before)));
        outcomes.push(None);
    }
    let mut running = FuturesUnordered::new();
    loop {
        let succeeded = |at: &usize| matches!(outcomes.get(*at), Some(Some(Ok(()))));
        for (at, slot) in waiting.iter_mut().enumerate() {
            if slot.as_ref().is_some_and(|(_, before)| before.iter().all(succeeded))
                && let Some((child, _)) = slot.take()
            {
                running.push(child.map(move |outcome| (at, outcome)));
            }
        }
        let Some((at, outcome)) = running.next().await else { break };
        outcomes[at] = Some(outcome);
    }
    gravest(outcomes.into_iter().flatten())
}

/// The outcome that speaks for all: the lowest rank, and of equals the child declared first. Where all that failed are
/// waiting, each says what for.
pub(crate) fn gravest(outcomes: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let mut failed: Vec<Error> = outcomes.into_iter().filter_map(Result::err).collect();
    // Stable, so that ties go to the child declared first.
    failed.sort_by_key(Error::rank);
    let mut failed = failed.into_iter();
    let Some(mut winner) = failed.next() else { return Ok(()) };
    for other in failed {
        tracing::debug!(error = %other, "another child of the group did not succeed either");
        if let (Error::Yield { message: all, .. }, Error::Yield { message, .. }) = (&mut winner, &other) {
            all.push_str("; ");
            all.push_str(message);
        }
    }
    Err(winner)
}

/// A panic in a child is that child's error, not its siblings' end.
pub(crate) async fn guarded(child: impl Future<Output = Result<()>>) -> Result<()> {
    match AssertUnwindSafe(child).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(payload) => Err(Error::Unexpected(Box::new(Panicked::new(Closure::Provisioner, &*payload)))),
    }
}
