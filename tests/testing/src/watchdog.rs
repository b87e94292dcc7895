//! Limits the real time of a test run: while work is queued without end, the paused clock does not advance to a deadline of the run.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use tokio::sync::oneshot;

use crate::simulation::Failure;

/// The maximum real time of a run. Most runs take a fraction of a second.
pub(crate) const REAL_TIME_LIMIT: Duration = Duration::from_secs(300);

/// Runs a future, and ends it if it is not finished after a limit of real time. This can't end a future or a task that blocks the thread.
///
/// # Errors
/// The failure of the future, and [`Failure::Overtime`] after the limit.
pub(crate) async fn limit_real_time(
    limit: Duration,
    run: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let (exceed, exceeded) = oneshot::channel();
    // The drop of `_running` at the end of this function ends the thread.
    let (_running, ended) = mpsc::channel::<()>();
    let watch = move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // Fails if the run has ended just now, which needs no action.
            let _ = exceed.send(());
        }
    };
    let thread = thread::Builder::new().name("watchdog".to_owned()).spawn(watch);
    thread.map_err(|error| Failure::Setup(format!("failed to start a thread: {error}")))?;
    tokio::select! {
        biased;
        Ok(()) = exceeded => Err(Failure::Overtime(limit)),
        result = run => result,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::pool;

    /// The real time after which the hot loop ends by itself, so that the test fails if nothing limits it.
    const LOOP_END: Duration = Duration::from_secs(30);

    /// Returns a failure after an hour of the paused clock, which advances only while all tasks wait.
    async fn wait_for_an_hour() -> Result<(), Failure> {
        let mut hours = tokio::time::interval(Duration::from_secs(3600));
        hours.tick().await;
        hours.tick().await;
        Err(Failure::NotAtRest("an hour"))
    }

    #[test]
    fn a_task_that_never_waits_ends_the_run() {
        let limit = Duration::from_millis(200);
        let run = async {
            tokio::spawn(async {
                let begin = Instant::now();
                while begin.elapsed() < LOOP_END {
                    tokio::task::yield_now().await;
                }
            });
            wait_for_an_hour().await
        };
        assert_eq!(pool::block_on(limit_real_time(limit, run)), Ok(Err(Failure::Overtime(limit))));
    }

    #[test]
    fn the_clock_of_a_limited_run_advances_while_all_tasks_wait() {
        let ended = pool::block_on(limit_real_time(REAL_TIME_LIMIT, wait_for_an_hour()));
        assert_eq!(ended, Ok(Err(Failure::NotAtRest("an hour"))));
    }
}
