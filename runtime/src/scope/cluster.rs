//! `ConnectedCluster`: the caches of another cluster, and whether it can be reached.

use super::{connection::ClusterConnection, kubeconfig::KubeconfigSecret};
use crate::{
    cache::{ObjectKey, Uid},
    client::timeouts::TimeoutError,
    engine::{
        child::Child,
        controller_state::{ControllerState, RemoteCluster},
    },
    error::{BlockedError, CallError, Error, ErrorChain, Result},
    informer::{
        child::{self, ChildEvent, OwnerRef},
        watch::{MAX_RESTART, WatchState, WatchedKind},
    },
    kind::Kind,
};
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{Instant, timeout},
};
use tracing::Instrument as _;

/// How long passes make no call after calls that the cluster did not answer.
const OUTAGE_PERIOD: Duration = Duration::from_secs(10);
/// How long passes wait for the first lists of a cluster without a report.
const SYNC_PERIOD: Duration = Duration::from_secs(5);
/// The number of passes that may use a cluster at a time: the calls to one that does not answer occupy so many workers at most.
const MAX_PASSES: usize = 4;
/// How long a pass waits for others that use the cluster.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The controller of the owners whose children are in other clusters.
pub(crate) trait ClusterEvents: Send + Sync {
    /// Handles a change of a child in another cluster, which has the state `state`.
    fn on_remote_change(&self, state: &ControllerState, kind: &Kind, owner: &OwnerRef, event: &ChildEvent<'_>);
    /// Enqueues an owner, because the cluster of its children can be used again, or no longer.
    fn enqueue(&self, owner: ObjectKey);
}

/// The controller that gets the events; unset until it exists.
#[derive(Clone, Default)]
pub(super) struct EventTarget(Arc<OnceLock<Weak<dyn ClusterEvents>>>);

impl EventTarget {
    pub(super) fn set(&self, events: Weak<dyn ClusterEvents>) {
        // A second one is the same.
        let _ = self.0.set(events);
    }

    fn get(&self) -> Option<Arc<dyn ClusterEvents>> {
        self.0.get().and_then(Weak::upgrade)
    }
}

/// The nodes of owners that use a cluster, by the uid of the owner and the path of the node.
pub(super) type ClusterUsers = HashMap<(Uid, String), ObjectKey>;

/// A cluster to which a controller is connected.
pub(super) struct ConnectedCluster {
    secret: KubeconfigSecret,
    pub(super) connection: Arc<ClusterConnection>,
    pub(super) state: Arc<ControllerState>,
    users: Arc<Mutex<ClusterUsers>>,
    opened: Instant,
    passes: Arc<Semaphore>,
    outage: Mutex<CallOutage>,
    /// Ends the watches when the connection is dropped.
    _watches: JoinSet<()>,
}

/// The calls that the cluster did not answer, since the last one that it answered.
#[derive(Debug, Default)]
struct CallOutage {
    since: Option<Instant>,
    /// When the next pass may make a call.
    retry_at: Option<Instant>,
}

impl ConnectedCluster {
    /// Starts the watches of a cluster.
    pub(super) fn new(
        secret: KubeconfigSecret,
        connection: Arc<ClusterConnection>,
        state: Arc<ControllerState>,
        users: ClusterUsers,
        events: &EventTarget,
    ) -> Self {
        let (mut watches, users) = (JoinSet::new(), Arc::new(Mutex::new(users)));
        for children in state.children.values() {
            let span = tracing::info_span!("cluster", kubeconfig = %secret);
            let watch = watch(state.clone(), children.clone(), users.clone(), events.clone());
            watches.spawn(watch.instrument(span));
            watches.spawn(follow_watch(children.clone(), users.clone(), events.clone()));
        }
        let passes = Arc::new(Semaphore::new(MAX_PASSES));
        let outage = Mutex::default();
        Self { secret, connection, state, users, opened: Instant::now(), passes, outage, _watches: watches }
    }

    /// Records that a node of an owner uses the cluster. Returns whether it did not use it before.
    pub(super) fn add_user(&self, (uid, owner): (&Uid, &ObjectKey), node: &str) -> bool {
        self.users.lock().insert((uid.clone(), node.to_owned()), owner.clone()).is_none()
    }

    /// Removes users, and drops the state of owners that no longer use the cluster. Returns whether there are other users.
    pub(super) fn remove_users(&self, is_removed: impl Fn(&Uid, &str, &ObjectKey) -> bool) -> bool {
        let mut users = self.users.lock();
        let mut removed = Vec::new();
        users.retain(|(uid, node), owner| {
            let is_kept = !is_removed(uid, node, owner);
            if !is_kept {
                removed.push(owner.clone());
            }
            is_kept
        });
        for owner in removed.iter().filter(|owner| !users.values().any(|user| user == *owner)) {
            self.state.forget_owner(owner);
        }
        !users.is_empty()
    }

    /// Returns the users, for the connection that replaces this one.
    pub(super) fn users(&self) -> ClusterUsers {
        self.users.lock().clone()
    }

    /// Returns whether the cluster has answered lately, so that it exists whatever its Secret says.
    pub(super) fn has_answered(&self) -> bool {
        self.usable().is_ok() && self.outage.lock().since.is_none()
    }

    /// Checks that the caches are filled, and that the cluster could be reached lately.
    fn usable(&self) -> Result<()> {
        if self.outage.lock().retry_at.is_some_and(|until| Instant::now() < until) {
            return Err(self.unreachable());
        }
        for children in self.state.children.values() {
            match children.health.state() {
                WatchState::Failing(_) if children.health.has_failed() => {
                    return Err(if self.connection.is_refused() { self.refused() } else { self.unreachable() });
                }
                WatchState::Starting | WatchState::Failing(_) if !children.store.synced() => {
                    return Err(self.not_synced());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns why no pass can use the caches yet. At first that is a conflict, which the loop retries soon without a report: else a
    /// restart of the operator would change the status of all owners.
    fn not_synced(&self) -> Error {
        let sentence = format!("waiting for the first lists of the cluster of {}", self.secret);
        match self.opened.elapsed() < SYNC_PERIOD {
            true => Error::Conflict(Box::new(BlockedError { reason: "ClusterNotSynced", sentence })),
            false => Error::yielding("ClusterNotSynced", sentence),
        }
    }

    fn unreachable(&self) -> Error {
        self.outage.lock().since.get_or_insert_with(Instant::now);
        let message = format!("the cluster of {} can't be reached", self.secret);
        Error::yielding("ClusterUnreachable", message)
    }

    fn refused(&self) -> Error {
        let message = format!("the cluster of {} refuses the credentials of its kubeconfig", self.secret);
        Error::yielding("ClusterRefused", message)
    }

    /// Returns the outcome of a pass with a call that the cluster did not answer. The first one may be a connection that was idle for too
    /// long, so it is tried again soon.
    fn unanswered(&self, call: Box<CallError>) -> Error {
        let mut outage = self.outage.lock();
        let is_first = outage.since.is_none() && !TimeoutError::is_cause_of(&call.source);
        outage.since.get_or_insert_with(Instant::now);
        if is_first && !self.state.children.values().any(|children| children.health.has_failed()) {
            return Error::Conflict(call);
        }
        if outage.retry_at.is_none() {
            tracing::warn!(kubeconfig = %self.secret, error = %ErrorChain(&*call), "the cluster can't be reached");
        }
        outage.retry_at = Some(Instant::now() + OUTAGE_PERIOD);
        drop(outage);
        self.unreachable()
    }
}

impl RemoteCluster for ConnectedCluster {
    fn state(&self) -> &ControllerState {
        &self.state
    }

    fn begin(&self) -> BoxFuture<'_, Result<OwnedSemaphorePermit>> {
        async move {
            self.usable()?;
            let permit = timeout(MAX_WAIT, self.passes.clone().acquire_owned()).await;
            // A pass before this one may have found that the cluster can't be reached.
            self.usable()?;
            match permit {
                Ok(Ok(permit)) => Ok(permit),
                _ => {
                    let sentence = format!("other objects wait for the cluster of {}", self.secret);
                    Err(Error::Conflict(Box::new(BlockedError { reason: "ClusterBusy", sentence })))
                }
            }
        }
        .boxed()
    }

    fn unreachable_for(&self) -> Option<Duration> {
        self.outage.lock().since.map(|since| since.elapsed())
    }

    fn convert_outcome(&self, outcome: Result<()>) -> Result<()> {
        let call = match outcome {
            Err(Error::Unexpected(source)) => match source.downcast::<CallError>() {
                Ok(call) => call,
                // An error of user code says nothing about the cluster.
                Err(source) => return Err(Error::Unexpected(source)),
            },
            outcome => {
                *self.outage.lock() = CallOutage::default();
                return outcome;
            }
        };
        if call.is_unanswered() {
            return Err(self.unanswered(call));
        }
        *self.outage.lock() = CallOutage::default();
        Err(if call.code() == 401 { self.refused() } else { Error::Unexpected(call) })
    }
}

/// Watches the children of one kind; it never returns. The cluster is not trusted: its objects concern only owners that use it.
async fn watch(
    state: Arc<ControllerState>,
    children: Arc<WatchedKind<Child>>,
    users: Arc<Mutex<ClusterUsers>>,
    events: EventTarget,
) {
    let on_owner = |owner: &OwnerRef, event: &ChildEvent<'_>| {
        let is_user = users.lock().keys().any(|(uid, _)| *uid == owner.uid);
        if let Some(events) = events.get().filter(|_| is_user) {
            events.on_remote_change(&state, &children.kind, owner, event);
        }
    };
    child::run(&state.client, &children, &state.operator, &state.namespaces, &on_owner, None).await;
}

/// Enqueues the users of a cluster whenever a watch is open again, and when it has failed, so that the cluster counts as unreachable.
async fn follow_watch(children: Arc<WatchedKind<Child>>, users: Arc<Mutex<ClusterUsers>>, events: EventTarget) {
    let mut state = children.health.subscribe();
    loop {
        let is_open = *state.borrow_and_update() == WatchState::Following;
        // A watch that restarts has not failed.
        if !is_open && timeout(MAX_RESTART, state.wait_for(|state| *state == WatchState::Following)).await.is_ok() {
            continue;
        }
        let owners: Vec<_> = users.lock().values().cloned().collect();
        if let Some(events) = events.get() {
            owners.into_iter().for_each(|owner| events.enqueue(owner));
        }
        if state.wait_for(|state| (*state == WatchState::Following) != is_open).await.is_err() {
            return;
        }
    }
}
