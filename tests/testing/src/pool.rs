//! Runs simulations on several threads, each on its own runtime with a paused clock.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::simulation::panic_message;

/// Runs a future to completion on a new tokio runtime with a paused clock, which advances at once while all tasks wait.
///
/// # Errors
/// If the runtime can't be built.
pub(crate) fn block_on<T>(run: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| format!("failed to create a runtime: {error}"))?;
    Ok(runtime.block_on(run))
}

/// Calls `run` for each item on several threads, and returns the results in the order of the items. If a call panics, its result is the
/// message of the panic.
pub(crate) fn map<I: Sync, T: Send>(
    threads: usize,
    items: &[I],
    run: impl Fn(&I) -> T + Sync,
) -> Vec<Result<T, String>> {
    // Each thread takes the next item until there are no more.
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    let result =
                        catch_unwind(AssertUnwindSafe(|| run(item))).map_err(|payload| panic_message(&*payload));
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
