//! Runs calls of a bucket on separate threads, so that the calls overlap, and a call that blocks its thread is detected.

use std::{
    io,
    sync::{Arc, Barrier},
    thread,
};

use futures::channel::oneshot;
use tokio::runtime::Handle;

use super::deadline::{CheckResult, Deadline, failed};
use crate::simulation::catch_panic;

/// Starts a thread that runs an async function in the runtime of the caller, and returns the receiver of its result. A panic becomes a
/// failure of the check.
///
/// The thread is never joined, since a call of a bucket may block it for ever.
///
/// # Errors
/// If the process can't have another thread.
pub(super) fn start<T, F>(call: impl FnOnce() -> F + Send + 'static) -> io::Result<oneshot::Receiver<CheckResult<T>>>
where
    T: Send + 'static,
    F: Future<Output = CheckResult<T>>,
{
    let (sender, receiver) = oneshot::channel();
    let handle = Handle::current();
    let body = move || {
        let result = catch_panic(|| handle.block_on(call()));
        let result = result.unwrap_or_else(|panic| failed(format!("a call panics: {panic}")));
        // An error means that the caller waits no longer, since the deadline is over.
        let _ = sender.send(result);
    };
    thread::Builder::new().name("bucket-check".to_owned()).spawn(body)?;
    Ok(receiver)
}

/// Runs a future on a thread of its own, and returns its result. Fails if there is none shortly after the deadline.
pub(super) async fn on_thread<T, F>(deadline: Deadline, future: F) -> CheckResult<T>
where
    T: Send + 'static,
    F: Future<Output = CheckResult<T>> + Send + 'static,
{
    match start(move || future) {
        Ok(receiver) => receive(deadline, receiver).await,
        Err(error) => failed(format!("the test has no thread: {error}")),
    }
}

/// Runs the future that `call` returns for each number below `count`, each on a thread of its own, and returns the results in the order of
/// the numbers. A barrier lets all of them begin at once.
pub(super) async fn on_threads<T, F>(deadline: Deadline, count: usize, call: impl Fn(usize) -> F) -> CheckResult<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = CheckResult<T>> + Send + 'static,
{
    let mut receivers = Vec::new();
    let barrier = Arc::new(Barrier::new(count));
    for number in 0..count {
        let (future, barrier) = (call(number), barrier.clone());
        let begin = move || {
            barrier.wait();
            future
        };
        match start(begin) {
            Ok(receiver) => receivers.push(receiver),
            Err(error) => return failed(format!("the test has no thread: {error}")),
        }
    }
    let mut results = Vec::new();
    for receiver in receivers {
        results.push(receive(deadline, receiver).await?);
    }
    Ok(results)
}

/// Waits for the result of a thread until half a second after the deadline. The calls on the thread have the same deadline, so that in most
/// cases the error of the thread comes first, which says which call did not end.
async fn receive<T>(deadline: Deadline, receiver: oneshot::Receiver<CheckResult<T>>) -> CheckResult<T> {
    let received = deadline.with_grace().within("concurrent calls", receiver).await?;
    received.unwrap_or_else(|_| failed("a concurrent call has no result"))
}
