//! Tests how operators without controllers start, supervise and stop the runnables of the user, on a paused clock and without a cluster.

use super::*;
use crate::{
    client::Client,
    lease::options::LeaderElection,
    manager::{operator::Operator, run_options::RunOptions, runnable::AddRunnableError},
};
use parking_lot::Mutex;
use std::time::Duration;
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, advance, sleep_until},
};

const SECOND: Duration = Duration::from_secs(1);

/// What the runnables of a test did, in order.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    fn note(&self, event: &str) {
        self.0.lock().push(event.to_owned());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }

    /// Returns a runnable that notes its start and its end.
    fn runnable(&self, name: &'static str) -> Runnable {
        self.runnable_with(name, Duration::ZERO)
    }

    /// Returns a runnable that ends some time after the stop.
    fn runnable_with(&self, name: &'static str, delay: Duration) -> Runnable {
        let journal = self.clone();
        Runnable::new(name, move |context| {
            let journal = journal.clone();
            async move {
                journal.note(&format!("+{name}"));
                context.stopped().await;
                if !delay.is_zero() {
                    sleep_until(Instant::now() + delay).await;
                }
                journal.note(&format!("-{name}"));
                Ok(())
            }
        })
    }
}

/// A run of an operator in the background.
struct Running {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), RunError>>,
}

impl Running {
    /// Starts an operator, and waits until nothing more happens at this time.
    async fn start(operator: Operator, options: RunOptions) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let task =
            tokio::spawn(
                async move { operator.run_with(Client::disconnected().kube(), options, stopped.map(drop)).await },
            );
        let running = Self { stop: Some(stop), task };
        settle().await;
        running
    }

    async fn stop(mut self) -> Result<(), RunError> {
        drop(self.stop.take());
        self.task.await.unwrap()
    }
}

/// Lets all tasks run that can.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn operator() -> Operator {
    Operator::new("shop")
}

#[tokio::test(start_paused = true)]
async fn manager_m20_a_runnable_runs_until_the_stop_or_its_own_end() {
    let journal = Journal::default();
    let short = Runnable::new("short", async |_| Ok(()));
    let running = Running::start(operator().runnable(journal.runnable("long")).runnable(short), RunOptions::default());
    let running = running.await;
    advance(SECOND * 3600).await;
    settle().await;
    assert_eq!(journal.take(), ["+long"]);
    assert!(!running.task.is_finished(), "the end of `short` ends nothing");
    running.stop().await.unwrap();
    assert_eq!(journal.take(), ["-long"]);
}

#[tokio::test(start_paused = true)]
async fn manager_m9_every_runnable_gets_the_context_of_its_run() {
    let (sender, mut contexts) = mpsc::unbounded_channel();
    let reporting = |name| {
        let sender = sender.clone();
        Runnable::new(name, move |context: RunnableContext| {
            sender.send((context.operator().to_owned(), context.namespace().to_owned(), context.client())).unwrap();
            async move {
                context.stopped().await;
                Ok(())
            }
        })
    };
    let all = operator().runnable(reporting("a")).runnable(reporting("b").without_lead());
    let running = Running::start(all.runnable(reporting("c").before_caches()), RunOptions::default()).await;
    for _ in 0..3 {
        let (operator, namespace, client) = contexts.recv().await.unwrap();
        // A closure has values of its own; what differs between runs comes from the context.
        assert_eq!((operator.as_str(), namespace.as_str(), client.default_namespace()), ("shop", "default", "default"));
    }
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn manager_m21_a_runnable_needs_the_lead_unless_it_says_that_it_does_not() {
    let journal = Journal::default();
    let replica = operator()
        .runnable(journal.runnable("lead"))
        .runnable(journal.runnable("any").without_lead())
        .runnable(journal.runnable("first").before_caches())
        .leader_election(LeaderElection::default());
    // Nobody can be elected without an API server.
    let running = Running::start(replica, RunOptions::default()).await;
    advance(SECOND * 60).await;
    settle().await;
    assert_eq!(journal.take(), ["+first", "+any"]);
    running.stop().await.unwrap();
    assert_eq!(journal.take(), ["-any", "-first"]);
}

#[tokio::test(start_paused = true)]
async fn manager_m22_a_runnable_starts_with_its_group_or_at_once_and_not_during_a_stop() {
    let (journal, runnables) = (Journal::default(), Runnables::new());
    runnables.add(journal.runnable("before")).unwrap();
    assert!(journal.take().is_empty());
    let slow = journal.runnable_with("slow", SECOND * 5);
    let running = Running::start(operator().runnable(slow), RunOptions::default().runnables(&runnables)).await;
    assert_eq!(journal.take(), ["+slow", "+before"]);
    runnables.add(journal.runnable("after")).unwrap();
    settle().await;
    assert_eq!(journal.take(), ["+after"]);
    let stopping = tokio::spawn(running.stop());
    settle().await;
    let refused = runnables.add(journal.runnable("late"));
    assert!(refused.as_ref().is_err_and(|error: &AddRunnableError| error.to_string().contains("runnable late")));
    stopping.await.unwrap().unwrap();
    assert!(runnables.add(journal.runnable("late")).is_err());
    assert!(!journal.take().iter().any(|event| event.contains("late")));
}

#[tokio::test(start_paused = true)]
async fn manager_m22_a_runnable_that_needs_the_lead_waits_for_it_also_if_it_is_added_later() {
    let (journal, runnables) = (Journal::default(), Runnables::new());
    let replica = operator().leader_election(LeaderElection::default());
    let running = Running::start(replica, RunOptions::default().runnables(&runnables)).await;
    runnables.add(journal.runnable("lead")).unwrap();
    runnables.add(journal.runnable("any").without_lead()).unwrap();
    settle().await;
    assert_eq!(journal.take(), ["+any"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn manager_m23_the_error_of_a_runnable_stops_everything_and_is_returned() {
    let journal = Journal::default();
    let other = || journal.runnable("other").without_lead();
    let fails = Runnable::new("consumer", async |_| Err(std::io::Error::other("the queue is gone").into()));
    let running = Running::start(operator().runnable(other()).runnable(fails), RunOptions::default()).await;
    let error = running.task.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "runnable consumer failed: the queue is gone");
    assert_eq!(journal.take(), ["+other", "-other"]);
    let counters = operator().counters();
    let torn = Runnable::new("torn", |_| -> std::future::Ready<Result<()>> { panic!("torn") });
    let operator = operator().runnable(other()).runnable(torn);
    let counted = operator.counters();
    let error = Running::start(operator, RunOptions::default()).await.task.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "runnable torn failed: a runnable panicked: torn");
    assert_eq!((counted.panics(Closure::Runnable), counters.panics(Closure::Runnable)), (1, 0));
    assert_eq!(journal.take(), ["+other", "-other"]);
}

#[tokio::test(start_paused = true)]
async fn manager_m24_elected_is_true_once_the_runnables_with_lead_have_been_started() {
    let journal = Journal::default();
    let waiting = |journal: &Journal| {
        let journal = journal.clone();
        let waits = move |context: RunnableContext| {
            let journal = journal.clone();
            async move {
                assert!(!context.is_elected());
                tokio::select! {
                    () = context.elected() => assert!(context.is_elected()),
                    () = context.stopped() => return Ok(()),
                }
                journal.note("elected");
                context.stopped().await;
                Ok(())
            }
        };
        Runnable::new("waiting", waits).before_caches()
    };
    let alone = operator().runnable(waiting(&journal)).runnable(journal.runnable("lead"));
    let running = Running::start(alone, RunOptions::default()).await;
    let mut events = journal.take();
    events.sort();
    assert_eq!(events, ["+lead", "elected"]);
    running.stop().await.unwrap();
    journal.take();
    let replica = operator().runnable(waiting(&journal)).leader_election(LeaderElection::default());
    let running = Running::start(replica, RunOptions::default()).await;
    advance(SECOND * 60).await;
    settle().await;
    running.stop().await.unwrap();
    assert!(journal.take().is_empty(), "a stop is no election");
}

#[tokio::test(start_paused = true)]
async fn manager_m25_a_server_runs_with_or_without_the_lead_and_has_a_shutdown_timeout_of_its_own() {
    let listener = Arc::new(tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap());
    let address = listener.local_addr().unwrap();
    // A server is a runnable. It binds its address where its errors belong: here, before the run.
    let server = Runnable::new("server", move |context: RunnableContext| {
        let listener = listener.clone();
        async move {
            let mut connections = Vec::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => connections.push(accepted?),
                    // It waits for its clients, which never leave.
                    () = context.stopped() => std::future::pending().await,
                }
            }
        }
    });
    let server = server.without_lead().shutdown_timeout(SECOND * 5);
    let replica = operator().runnable(server).leader_election(LeaderElection::default());
    let running = Running::start(replica, RunOptions::default()).await;
    tokio::net::TcpStream::connect(address).await.unwrap();
    let began = Instant::now();
    running.stop().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn manager_m27_a_second_start_with_the_same_handle_is_an_error() {
    let (journal, runnables) = (Journal::default(), Runnables::new());
    let operator = operator().runnable(journal.runnable("own"));
    let running = Running::start(operator.clone(), RunOptions::default().runnables(&runnables)).await;
    let second = Running::start(operator.clone(), RunOptions::default().runnables(&runnables)).await;
    assert!(matches!(second.task.await.unwrap(), Err(RunError::AlreadyStarted)));
    running.stop().await.unwrap();
    let third = Running::start(operator.clone(), RunOptions::default().runnables(&runnables)).await;
    assert!(matches!(third.task.await.unwrap(), Err(RunError::AlreadyStarted)));
    assert_eq!(journal.take(), ["+own", "-own"]);
    // An operator itself is a description, which may run again: on purpose not as in controller-runtime.
    Running::start(operator, RunOptions::default()).await.stop().await.unwrap();
    assert_eq!(journal.take(), ["+own", "-own"]);
}

/// Returns an operator with a runnable of each group, which end some time after the stop.
fn of_each_group(journal: &Journal, delay: Duration) -> Operator {
    operator()
        .runnable(journal.runnable_with("lead", delay))
        .runnable(journal.runnable_with("any", delay).without_lead())
        .runnable(journal.runnable_with("first", delay).before_caches())
}

#[tokio::test(start_paused = true)]
async fn manager_m31_groups_stop_one_after_the_other_in_another_order_than_they_start() {
    let journal = Journal::default();
    let running = Running::start(of_each_group(&journal, SECOND), RunOptions::default()).await;
    assert_eq!(journal.take(), ["+first", "+any", "+lead"]);
    let began = Instant::now();
    running.stop().await.unwrap();
    assert_eq!(journal.take(), ["-any", "-lead", "-first"]);
    assert_eq!(began.elapsed(), SECOND * 3, "each group ends before the next one is stopped");
}

#[tokio::test(start_paused = true)]
async fn manager_m32_what_does_not_end_within_the_shutdown_timeout_is_named_by_the_error() {
    let journal = Journal::default();
    let operator = of_each_group(&journal, SECOND * 20).shutdown_timeout(SECOND * 30);
    let running = Running::start(operator, RunOptions::default()).await;
    let began = Instant::now();
    let error = running.stop().await.unwrap_err();
    let expected = "not everything ended within the shutdown timeout of 30s: runnable lead, runnable first";
    assert_eq!(error.to_string(), expected);
    assert_eq!(began.elapsed(), SECOND * 30, "one timeout for all");
    settle().await;
    assert_eq!(journal.take(), ["+first", "+any", "+lead", "-any"]);
}

#[tokio::test(start_paused = true)]
async fn manager_m6_the_shutdown_timeout_is_30_s_and_zero_waits_for_nothing_and_the_maximum_for_ever() {
    let stop_after = async |operator: Operator| {
        let running = Running::start(operator, RunOptions::default()).await;
        let began = Instant::now();
        (running.stop().await.map_err(|error| matches!(error, RunError::Timeout { .. })), began.elapsed().as_secs())
    };
    let journal = Journal::default();
    assert_eq!(stop_after(of_each_group(&journal, SECOND * 3600)).await, (Err(true), 30));
    let zero = of_each_group(&journal, SECOND).shutdown_timeout(Duration::ZERO);
    assert_eq!(stop_after(zero).await, (Ok(()), 0), "no wait, and no error");
    let forever = of_each_group(&journal, SECOND * 3600).shutdown_timeout(Duration::MAX);
    assert_eq!(stop_after(forever).await, (Ok(()), 3 * 3600));
}
