//! Runs side by side, each on a runtime of its own with a paused clock.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::panics;

/// Runs a future to its end on a paused clock.
///
/// # Errors
/// If the system has no room for another runtime.
pub(crate) fn alone<T>(run: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| format!("no runtime could be made: {error}"))?;
    Ok(runtime.block_on(run))
}

/// What each item leads to, in the order of the items; of one that panics, the message.
pub(crate) fn each<I: Sync, T: Send>(
    threads: usize,
    items: &[I],
    run: impl Fn(&I) -> T + Sync,
) -> Vec<Result<T, String>> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    let result =
                        catch_unwind(AssertUnwindSafe(|| run(item))).map_err(|payload| panics::text(&*payload));
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
