//! `Tasks` supervises a set of async tasks: it restarts tasks that end unexpectedly, counts the restarts, and lists the tasks that wait for
//! one.

use crate::{
    counters::Counters,
    informer::watch::{Health, WatchState},
    panic::{Closure, Panicked},
};
use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::{task::JoinSet, time::Instant};

/// The first and the maximum delay before an ended task is started again. Each consecutive end doubles the delay.
const MIN_RESTART_DELAY: Duration = Duration::from_millis(200);
const MAX_RESTART_DELAY: Duration = Duration::from_secs(30);

/// How long the end of tasks may take. It is longer only if one blocks its thread.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// A set of supervised tasks, which its drop ends. The probes report the failed tasks of the operator, not those of other clusters.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    set: JoinSet<()>,
    failed: FailedTasks,
    counters: Counters,
}

/// The tasks that wait for their restart, each with the reason of its end. The keys are name and number, because several tasks
/// may have the same name.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailedTasks(Arc<Mutex<BTreeMap<(String, usize), String>>>);

impl FailedTasks {
    /// Returns one line for each failed task, with the reason, for the probes; empty if all tasks run.
    pub(crate) fn lines(&self) -> String {
        let tasks = self.0.lock();
        tasks.iter().map(|((name, _), why)| format!("{name}: ended unexpectedly and is restarted: {why}\n")).collect()
    }
}

/// The reaction to the regular end of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnEnd {
    /// The task is done.
    Finish,
    /// The task should run as long as the operator, so it is started again.
    Restart,
}

impl Tasks {
    pub(crate) fn new(counters: Counters) -> Self {
        Self { set: JoinSet::new(), failed: FailedTasks::default(), counters }
    }

    /// Returns an empty set of tasks with the same list of failed tasks.
    pub(crate) fn sibling(&self) -> Self {
        Self { set: JoinSet::new(), failed: self.failed.clone(), counters: self.counters.clone() }
    }

    /// Returns the shared list of failed tasks.
    pub(crate) fn failed_tasks(&self) -> FailedTasks {
        self.failed.clone()
    }

    /// Aborts all tasks, and waits up to [`END_TIMEOUT`] until they have released their resources, for example a port.
    pub(crate) async fn end(mut self) {
        if tokio::time::timeout(END_TIMEOUT, self.set.shutdown()).await.is_err() {
            tracing::warn!("some tasks of the runtime did not end");
        }
    }

    /// Spawns a supervised task: `start` is called at once, and again after each unexpected end. `watch` is the health of the watch that
    /// the task runs, if it runs one; it is `Failing` while the task waits for its restart.
    pub(crate) fn spawn(
        &mut self,
        name: impl Into<String>,
        watch: Option<Health>,
        on_end: OnEnd,
        start: impl FnMut() -> BoxFuture<'static, ()> + Send + 'static,
    ) {
        let (failed, counters) = (self.failed.clone(), self.counters.clone());
        let key = (name.into(), self.set.len());
        self.set.spawn(supervise(Task { key, watch, on_end, failed, counters }, start));
    }
}

/// A supervised task.
struct Task {
    /// Name and number.
    key: (String, usize),
    watch: Option<Health>,
    on_end: OnEnd,
    failed: FailedTasks,
    counters: Counters,
}

/// Runs a task and starts it again after a panic, or after its end if `on_end` is `Restart`. The delay before the restart doubles each
/// time up to a maximum; meanwhile the task is in the list of failed tasks, and its watch is `Failing`.
async fn supervise(task: Task, mut start: impl FnMut() -> BoxFuture<'static, ()> + Send) {
    let mut delay = MIN_RESTART_DELAY;
    loop {
        let started_at = Instant::now();
        let why = match AssertUnwindSafe(async { start().await }).catch_unwind().await {
            Ok(()) if task.on_end == OnEnd::Finish => return,
            Ok(()) => "it ended".to_owned(),
            Err(payload) => {
                task.counters.count_panic(Closure::Runtime);
                Panicked::new(Closure::Runtime, &*payload).to_string()
            }
        };
        // After a run of this length, the failure does not count as a repeated one.
        if started_at.elapsed() > MAX_RESTART_DELAY {
            delay = MIN_RESTART_DELAY;
        }
        tracing::error!(task = task.key.0, error = why, "a task ended unexpectedly and is restarted");
        task.counters.count_task_restart();
        if let Some(watch) = &task.watch {
            watch.set(WatchState::Failing(format!("its task ended unexpectedly and is restarted: {why}")));
        }
        task.failed.0.lock().insert(task.key.clone(), why);
        tokio::time::sleep(delay).await;
        task.failed.0.lock().remove(&task.key);
        delay = (delay * 2).min(MAX_RESTART_DELAY);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::Pod;
    use tokio::sync::mpsc;

    /// Returns the start function of a task that panics after each of its first `panics` starts, and a receiver of the starts.
    fn panicking_task(
        panics: usize,
    ) -> (impl FnMut() -> BoxFuture<'static, ()> + Send, mpsc::UnboundedReceiver<usize>) {
        let (sender, starts) = mpsc::unbounded_channel();
        let mut count = 0;
        let start = move || {
            count += 1;
            sender.send(count).unwrap();
            let fails = count <= panics;
            async move { if fails { panic!("torn") } else { std::future::pending().await } }.boxed()
        };
        (start, starts)
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_is_started_again_and_health_fails_meanwhile() {
        let (counters, health) = (Counters::default(), Health::new(kind_of::<Pod>()));
        let mut tasks = Tasks::new(counters.clone());
        let (start, mut starts) = panicking_task(3);
        health.set(WatchState::Following);
        tasks.spawn("informer of Pod", Some(health.clone()), OnEnd::Restart, start);
        let began = Instant::now();
        for number in 1..=3 {
            assert_eq!(starts.recv().await, Some(number));
            tokio::task::yield_now().await;
            assert_eq!(
                tasks.failed_tasks().lines(),
                "informer of Pod: ended unexpectedly and is restarted: the operator's runtime panicked: torn\n"
            );
            assert!(matches!(health.state(), WatchState::Failing(_)));
        }
        assert_eq!(starts.recv().await, Some(4));
        assert_eq!((tasks.failed_tasks().lines(), counters.task_restarts()), (String::new(), 3));
        assert_eq!(began.elapsed().as_millis(), 200 + 400 + 800, "each pause is twice the one before");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_is_restarted_only_if_it_should_run_as_long_as_the_operator() {
        for (on_end, restarts) in [(OnEnd::Finish, false), (OnEnd::Restart, true)] {
            let (counters, (sender, mut starts)) = (Counters::default(), mpsc::unbounded_channel());
            let mut tasks = Tasks::new(counters.clone());
            tasks.spawn("short", None, on_end, move || {
                sender.send(()).unwrap();
                async {}.boxed()
            });
            starts.recv().await.unwrap();
            let again = tokio::time::timeout(Duration::from_millis(300), starts.recv()).await;
            assert_eq!((again.is_ok_and(|start| start.is_some()), counters.task_restarts() > 0), (restarts, restarts));
        }
    }
}
