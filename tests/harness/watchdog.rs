//! Limits the real time of a case on a paused clock: its limit in the time of that clock does not end a hot loop.

use std::{
    panic,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use libtest_mimic::Failed;

/// Runs a case on a thread of its own, which has its name, and returns its result.
///
/// A thread can't be ended from outside. If the case exceeds the limit, its thread runs beside the other cases until the process ends.
///
/// # Errors
/// Fails with the error of the case, and after `limit` of real time.
///
/// # Panics
/// With the panic of the case.
pub(crate) fn run(
    name: &str,
    limit: Duration,
    case: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Result<(), Failed> {
    let (running, ended) = mpsc::channel::<()>();
    let body = move || {
        let _running = running;
        case()
    };
    let thread = thread::Builder::new().name(name.to_owned()).spawn(body).expect("a thread");
    match ended.recv_timeout(limit) {
        Err(RecvTimeoutError::Timeout) => Err(describe_excess(limit).into()),
        // Nothing is sent. The end of the case, also by a panic, drops the sender, which disconnects the channel.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {
            thread.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
        }
    }
}

/// Returns the message for a case that exceeded its limit of real time, with the likely reasons.
fn describe_excess(limit: Duration) -> String {
    format!(
        "the case used {} s of real time: work is queued without end, so that its paused clock does not advance, or a call blocks its \
         thread; look for a pass, a watch or a queue that wakes itself at once. A debugger shows the thread, which has the name of the \
         case and still runs",
        limit.as_secs_f64()
    )
}
