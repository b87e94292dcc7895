//! Supervises the tasks of a running operator: one that panics or ends is started again, and the probes fail meanwhile.

use crate::{
    counters::Counters,
    informer::watch::{Health, WatchState},
    panic::{Closure, Panicked},
};
use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::{task::JoinSet, time::Instant};

/// How long after its end a task is started again; doubled with each end in a row.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// All tasks of a running operator. Dropped, it ends them.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    set: JoinSet<()>,
    down: Down,
    counters: Counters,
}

/// The tasks that have ended and are not started again yet, by name and number, each with the reason. Several may have one name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Down(Arc<Mutex<BTreeMap<(String, usize), String>>>);

impl Down {
    /// A line for each; empty if all tasks run.
    pub(crate) fn lines(&self) -> String {
        let down = self.0.lock();
        down.iter().map(|((name, _), why)| format!("{name}: ended and is started again: {why}\n")).collect()
    }
}

/// What it means that a task comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnEnd {
    /// It has nothing left to do.
    Finish,
    /// It should run as long as the operator, so it is started again.
    Restart,
}

impl Tasks {
    pub(crate) fn new(counters: Counters) -> Self {
        Self { set: JoinSet::new(), down: Down::default(), counters }
    }

    pub(crate) fn down(&self) -> Down {
        self.down.clone()
    }

    /// Runs a task whose watch, if it has one, is not in order while it doesn't run.
    pub(crate) fn spawn(
        &mut self,
        name: impl Into<String>,
        watch: Option<Health>,
        on_end: OnEnd,
        start: impl FnMut() -> BoxFuture<'static, ()> + Send + 'static,
    ) {
        let (down, counters) = (self.down.clone(), self.counters.clone());
        let key = (name.into(), self.set.len());
        self.set.spawn(supervise(Task { key, watch, on_end, down, counters }, start));
    }
}

struct Task {
    /// Name and number.
    key: (String, usize),
    watch: Option<Health>,
    on_end: OnEnd,
    down: Down,
    counters: Counters,
}

async fn supervise(task: Task, mut start: impl FnMut() -> BoxFuture<'static, ()> + Send) {
    let mut pause = FIRST_PAUSE;
    loop {
        let began = Instant::now();
        let why = match AssertUnwindSafe(async { start().await }).catch_unwind().await {
            Ok(()) if task.on_end == OnEnd::Finish => return,
            Ok(()) => "it came to its end".to_owned(),
            Err(payload) => {
                task.counters.count_panic(Closure::Runtime);
                Panicked::new(Closure::Runtime, &*payload).to_string()
            }
        };
        if began.elapsed() > LONGEST_PAUSE {
            pause = FIRST_PAUSE;
        }
        tracing::error!(task = task.key.0, error = why, "a task ended unexpectedly and is started again");
        task.counters.count_task_restart();
        if let Some(watch) = &task.watch {
            watch.set(WatchState::Failing(format!("its task ended and is started again: {why}")));
        }
        task.down.0.lock().insert(task.key.clone(), why);
        tokio::time::sleep(pause).await;
        task.down.0.lock().remove(&task.key);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::Pod;
    use tokio::sync::mpsc;

    /// A task that tells of each start and then does what the test says.
    fn told(panics: usize) -> (impl FnMut() -> BoxFuture<'static, ()> + Send, mpsc::UnboundedReceiver<usize>) {
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
        let (start, mut starts) = told(3);
        health.set(WatchState::Following);
        tasks.spawn("informer of Pod", Some(health.clone()), OnEnd::Restart, start);
        let began = Instant::now();
        for number in 1..=3 {
            assert_eq!(starts.recv().await, Some(number));
            tokio::task::yield_now().await;
            assert_eq!(
                tasks.down().lines(),
                "informer of Pod: ended and is started again: the operator's runtime panicked: torn\n"
            );
            assert!(matches!(health.state(), WatchState::Failing(_)));
        }
        assert_eq!(starts.recv().await, Some(4));
        assert_eq!((tasks.down().lines(), counters.task_restarts()), (String::new(), 3));
        assert_eq!(began.elapsed().as_millis(), 200 + 400 + 800, "each pause is twice the one before");
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_task_is_its_end_only_where_it_may_be() {
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
