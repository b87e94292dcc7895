//! Spawns the tasks of a connected cluster: the watches of child objects, and the reads of the kubeconfig.

use super::{
    connection::ClusterConnection,
    events::{ClusterUsers, EventTarget},
    kubeconfig::KubeconfigSecret,
    verified_registrations::{VERIFY_PERIOD, VerifiedRegistrations},
    watch_budget::{Exceeded, MAX_BYTES, WatchBudget},
};
use crate::{
    client::response_size::TooLarge,
    counters::Counters,
    engine::{child::Child, controller_state::ControllerState},
    informer::{
        child::{self, ChildEvent, OwnerRef},
        watch::{MAX_RESTART, WatchState, WatchedKind},
    },
    tasks::{OnEnd, Tasks},
};
use futures::FutureExt as _;
use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};
use tokio::time::{sleep, timeout};
use tracing::Instrument as _;

/// The pause after a list that is too large.
const LARGE_LIST_PAUSE: Duration = Duration::from_secs(60);

/// Spawns the tasks of a cluster. A task that panics is started again, and its watch fails until then.
pub(super) struct ClusterTasks<'a> {
    tasks: Tasks,
    secret: &'a KubeconfigSecret,
    /// The owners that use the cluster.
    users: &'a Arc<Mutex<ClusterUsers>>,
    events: &'a EventTarget,
}

impl<'a> ClusterTasks<'a> {
    /// Returns an empty set of tasks for the cluster whose kubeconfig is in `secret`.
    pub(super) fn new(
        secret: &'a KubeconfigSecret,
        counters: &Counters,
        users: &'a Arc<Mutex<ClusterUsers>>,
        events: &'a EventTarget,
    ) -> Self {
        Self { tasks: Tasks::new(counters.clone()), secret, users, events }
    }

    /// Spawns the watch of the child objects of one kind in the cluster.
    pub(super) fn watch(&mut self, state: &Arc<ControllerState>, children: &Arc<WatchedKind<Child>>) {
        let span = tracing::info_span!("cluster", kubeconfig = %self.secret);
        let name = format!("informer of {} in the cluster of {}", children.kind, self.secret);
        let (state, children, users, events) =
            (state.clone(), children.clone(), self.users.clone(), self.events.clone());
        self.tasks.spawn(name, Some(children.health.clone()), OnEnd::Restart, move || {
            let watch = watch(state.clone(), children.clone(), users.clone(), events.clone());
            watch.instrument(span.clone()).boxed()
        });
    }

    /// Spawns a task that enqueues the owners with nodes in the cluster when the watch of `children` opens or fails. Their passes then find
    /// the cluster reachable or unreachable.
    pub(super) fn follow_watch(&mut self, children: &Arc<WatchedKind<Child>>) {
        let name = format!("state of the informer of {} in the cluster of {}", children.kind, self.secret);
        let (children, users, events) = (children.clone(), self.users.clone(), self.events.clone());
        self.tasks.spawn(name, None, OnEnd::Finish, move || {
            follow_watch(children.clone(), users.clone(), events.clone()).boxed()
        });
    }

    /// Spawns a task that reads the kubeconfig once a minute if the cluster is registered with a CD system. If the credentials differ from
    /// the registered ones, the task enqueues the owners with nodes in the cluster, whose passes register it again.
    pub(super) fn follow_credentials(
        &mut self,
        connection: &Arc<ClusterConnection>,
        verified: &Arc<Mutex<VerifiedRegistrations>>,
    ) {
        let name = format!("credentials for the cluster of {}", self.secret);
        let (connection, verified) = (connection.clone(), verified.clone());
        let (users, events) = (self.users.clone(), self.events.clone());
        self.tasks.spawn(name, None, OnEnd::Restart, move || {
            follow_credentials(connection.clone(), verified.clone(), users.clone(), events.clone()).boxed()
        });
    }

    /// Returns the spawned tasks.
    pub(super) fn into_tasks(self) -> Tasks {
        self.tasks
    }
}

/// Watches the child objects of a kind in the cluster, and reports their changes to the controller. If the list exceeds the budget of
/// bytes, the watch counts as failing, and starts again after a pause. If the events after a list exceed the budget, it starts again at
/// once.
async fn watch(
    state: Arc<ControllerState>,
    children: Arc<WatchedKind<Child>>,
    users: Arc<Mutex<ClusterUsers>>,
    events: EventTarget,
) {
    // The cluster is not trusted: an object must not enqueue an owner that has no node in the cluster.
    let on_owner = |owner: &OwnerRef, event: &ChildEvent<'_>| {
        let is_user = users.lock().keys().any(|(uid, _)| *uid == owner.uid);
        if let Some(events) = events.get().filter(|_| is_user) {
            events.on_remote_change(&state, &children.kind, owner, event);
        }
    };
    loop {
        let budget = WatchBudget::new(MAX_BYTES);
        let client = state.client.with_kube(budget.wrap(state.client.kube()));
        let exceeded = tokio::select! {
            biased;
            exceeded = budget.exceeded() => exceeded,
            () = child::run(&client, &children, &state.operator, &state.namespaces, &on_owner, None) => return,
        };
        if exceeded == Exceeded::List {
            let reason = TooLarge { max: MAX_BYTES }.to_string();
            tracing::warn!(kind = %children.kind, error = reason, "the list of the cluster is too large");
            children.store.clear();
            children.health.set(WatchState::Failing(reason));
            sleep(LARGE_LIST_PAUSE).await;
        }
    }
}

/// Reads the kubeconfig every `VERIFY_PERIOD` while the cluster is registered with a CD system. Enqueues the owners with nodes in the
/// cluster if the credentials differ from those of a verified registration.
async fn follow_credentials(
    connection: Arc<ClusterConnection>,
    verified: Arc<Mutex<VerifiedRegistrations>>,
    users: Arc<Mutex<ClusterUsers>>,
    events: EventTarget,
) {
    loop {
        sleep(VERIFY_PERIOD).await;
        if verified.lock().is_empty() {
            continue;
        }
        if let Err(error) = connection.refresh().await {
            tracing::debug!(%error, "the kubeconfig of a registered cluster can't be read");
        }
        let credentials = connection.credentials().ok();
        let is_changed = verified.lock().values().any(|last| Some(&last.credentials) != credentials.as_ref());
        if is_changed {
            events.enqueue(&users);
        }
    }
}

/// Enqueues the owners with nodes in the cluster when the watch of a kind opens or fails. A watch that opens again within `MAX_RESTART` has
/// not failed.
async fn follow_watch(children: Arc<WatchedKind<Child>>, users: Arc<Mutex<ClusterUsers>>, events: EventTarget) {
    let mut state = children.health.subscribe();
    loop {
        let is_open = *state.borrow_and_update() == WatchState::Following;
        // A closed watch may only restart: it has failed if it does not open again in time.
        if !is_open && timeout(MAX_RESTART, state.wait_for(|state| *state == WatchState::Following)).await.is_ok() {
            continue;
        }
        events.enqueue(&users);
        if state.wait_for(|state| (*state == WatchState::Following) != is_open).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        cache::{ObjectKey, Uid},
        kind::{Kind, kind_of},
        scope::{ClusterEvents, Kubeconfig},
    };
    use k8s_openapi::api::core::v1::Pod;
    use std::sync::{
        Weak,
        atomic::{AtomicBool, Ordering},
    };
    use tokio::sync::mpsc;

    /// A controller that panics at its first event.
    struct PanickingController {
        has_panicked: AtomicBool,
        enqueued: mpsc::UnboundedSender<ObjectKey>,
    }

    impl ClusterEvents for PanickingController {
        fn on_remote_change(&self, _: &ControllerState, _: &Kind, _: &OwnerRef, _: &ChildEvent<'_>) {}

        fn enqueue(&self, owner: ObjectKey) {
            assert!(self.has_panicked.swap(true, Ordering::Relaxed), "the first event");
            self.enqueued.send(owner).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_of_a_cluster_that_panics_is_counted_and_started_again() {
        let (sender, mut enqueued) = mpsc::unbounded_channel();
        let controller = Arc::new(PanickingController { has_panicked: AtomicBool::new(false), enqueued: sender });
        let (events, counters) = (EventTarget::default(), Counters::default());
        events.set(Arc::downgrade(&controller) as Weak<dyn ClusterEvents>);
        let (secret, owner) =
            (Kubeconfig::secret("blue").record(None).unwrap().secret, ObjectKey::namespaced("a", "b"));
        let users = ClusterUsers::from([((Uid::from("6f2a"), "inside".to_owned()), owner.clone())]);
        let users = Arc::new(Mutex::new(users));
        let mut tasks = ClusterTasks::new(&secret, &counters, &users, &events);
        tasks.follow_watch(&Arc::new(WatchedKind::new(kind_of::<Pod>(), false)));
        let _tasks = tasks.into_tasks();
        assert_eq!(enqueued.recv().await, Some(owner));
        assert_eq!(counters.task_restarts(), 1);
    }
}
