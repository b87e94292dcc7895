//! `ConnectedCluster`: the caches of another cluster, and whether it can be reached.

use super::{
    client_config,
    connection::ClusterConnection,
    events::{ClusterUsers, EventTarget},
    kubeconfig::KubeconfigSecret,
    tasks::ClusterTasks,
    verified_registrations::{VERIFY_PERIOD, VerifiedRegistration, VerifiedRegistrations},
};
use crate::{
    cache::{ObjectKey, ResourceVersion, Uid},
    client::timeouts::TimeoutError,
    engine::controller_state::{ControllerState, RemoteCluster},
    error::{CallError, Error, ErrorChain, Result},
    informer::watch::WatchState,
    metrics::clusters::{ClusterSeries, ClusterValues},
    shape::ClusterCredentials,
    tasks::Tasks,
};
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};

/// How long passes make no call after calls that the cluster did not answer.
const OUTAGE_PERIOD: Duration = Duration::from_secs(10);
/// How long passes wait for the first lists of a cluster before the status of their owners reports it.
const SYNC_PERIOD: Duration = Duration::from_secs(5);
/// The number of passes that may use a cluster at a time: the calls to one that does not answer occupy so many workers at most.
const MAX_PASSES: usize = 4;
/// How long a pass waits for others that use the cluster.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// A cluster to which a controller is connected.
pub(super) struct ConnectedCluster {
    secret: KubeconfigSecret,
    pub(super) connection: Arc<ClusterConnection>,
    series: Arc<ClusterSeries>,
    pub(super) state: Arc<ControllerState>,
    users: Arc<Mutex<ClusterUsers>>,
    opened: Instant,
    passes: Arc<Semaphore>,
    outage: Mutex<CallOutage>,
    verified: Arc<Mutex<VerifiedRegistrations>>,
    /// Ends the tasks when the connection is dropped.
    _tasks: Tasks,
}

/// Why passes can't use a cluster.
enum ClusterProblem {
    Unreachable,
    /// It refuses the credentials of its kubeconfig.
    Refused,
    /// Its first lists are not complete.
    NotSynced,
}

/// The calls that the cluster did not answer, since the last one that it answered.
#[derive(Debug, Default)]
struct CallOutage {
    since: Option<Instant>,
    /// When the next pass may make a call.
    retry_at: Option<Instant>,
}

impl ConnectedCluster {
    /// Starts the tasks of a connected cluster: the watches of child objects, and the reads of the kubeconfig for registrations with CD
    /// systems.
    pub(super) fn new(
        secret: KubeconfigSecret,
        connection: Arc<ClusterConnection>,
        series: Arc<ClusterSeries>,
        state: Arc<ControllerState>,
        users: ClusterUsers,
        events: &EventTarget,
    ) -> Self {
        let (users, outage, verified) = (Arc::new(Mutex::new(users)), Mutex::default(), Arc::default());
        let mut tasks = ClusterTasks::new(&secret, &state.counters, &users, events);
        for children in state.children.values() {
            tasks.watch(&state, children);
            tasks.follow_watch(children);
        }
        tasks.follow_credentials(&connection, &verified);
        let (passes, opened) = (Arc::new(Semaphore::new(MAX_PASSES)), Instant::now());
        let tasks = tasks.into_tasks();
        Self { secret, connection, series, state, users, opened, passes, outage, verified, _tasks: tasks }
    }

    /// Records that a node of an owner uses the cluster. Returns whether this use is new.
    pub(super) fn add_user(&self, uid: &Uid, owner: &ObjectKey, node: &str) -> bool {
        self.users.lock().insert((uid.clone(), node.to_owned()), owner.clone()).is_none()
    }

    /// Removes the users that `is_removed` accepts, each a node of an owner, and drops the state of owners without other nodes in the
    /// cluster. Returns whether the cluster still has users.
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

    /// Handles a change of a Secret that registers the cluster with a CD system, with its new version; `None` if it was deleted. If the
    /// version is not the verified one, another client has changed the Secret: the owners with nodes in the cluster are enqueued to verify
    /// it again.
    pub(super) fn on_registration_change(
        &self,
        secret: &ObjectKey,
        version: Option<&ResourceVersion>,
        events: &EventTarget,
    ) {
        {
            let mut verified = self.verified.lock();
            match verified.get(secret) {
                Some(last) if Some(&last.version) != version => drop(verified.remove(secret)),
                // An own write, or a registration of another cluster.
                _ => return,
            }
        }
        events.enqueue(&self.users);
    }

    /// Returns the nodes that use the cluster, for the connection that replaces this one.
    pub(super) fn users(&self) -> ClusterUsers {
        self.users.lock().clone()
    }

    /// Returns whether the cluster answers, so that it exists even if its Secret is gone: its caches can be used, and no call is unanswered
    /// since the last one that was answered.
    pub(super) fn has_answered(&self) -> bool {
        self.check_usable().is_ok() && self.outage.lock().since.is_none()
    }

    /// Returns the values of the metrics of the cluster.
    pub(super) fn values(&self) -> ClusterValues {
        // After an outage, the metric shows the cluster as unreachable until it answers a call.
        let is_answering = self.outage.lock().retry_at.is_none() && !self.connection.is_refused();
        ClusterValues {
            series: self.series.clone(),
            is_reachable: is_answering && self.problem().is_none(),
            objects: self.state.children.values().map(|children| children.store.len()).sum(),
            owners: self.users.lock().keys().map(|(uid, _)| uid.clone()).collect(),
        }
    }

    /// Checks that passes can use the cluster: its caches are filled, and it was not found unreachable lately.
    ///
    /// # Errors
    /// A yield or a conflict that names the cluster.
    fn check_usable(&self) -> Result<()> {
        match self.problem() {
            None => Ok(()),
            Some(ClusterProblem::Unreachable) => Err(self.unreachable()),
            Some(ClusterProblem::Refused) => Err(self.refused()),
            Some(ClusterProblem::NotSynced) => Err(self.not_synced()),
        }
    }

    /// Returns why passes can't use the cluster; `None` if they can. It looks at the last calls and at the watches, and makes no call.
    fn problem(&self) -> Option<ClusterProblem> {
        if self.outage.lock().retry_at.is_some_and(|until| Instant::now() < until) {
            return Some(ClusterProblem::Unreachable);
        }
        for children in self.state.children.values() {
            match children.health.state() {
                WatchState::Failing(_) if children.health.has_failed() => {
                    let is_refused = self.connection.is_refused();
                    return Some(if is_refused { ClusterProblem::Refused } else { ClusterProblem::Unreachable });
                }
                WatchState::Starting | WatchState::Failing(_) if !children.store.synced() => {
                    return Some(ClusterProblem::NotSynced);
                }
                _ => {}
            }
        }
        None
    }

    /// Returns the error of a pass before the first lists of the cluster are complete. In the first seconds it is a conflict, which the
    /// control loop retries soon without a change of the status: else a restart of the operator would change the status of all owners.
    /// Later it is a yield.
    fn not_synced(&self) -> Error {
        let sentence = format!("waiting for the first lists of the cluster of {}", self.secret);
        match self.opened.elapsed() < SYNC_PERIOD {
            true => Error::conflict("ClusterNotSynced", sentence),
            false => Error::yielding("ClusterNotSynced", sentence),
        }
    }

    /// Returns the yield for a cluster that can't be reached. The outage begins now, unless it has begun before.
    fn unreachable(&self) -> Error {
        self.outage.lock().since.get_or_insert_with(Instant::now);
        let message = format!("the cluster of {} can't be reached", self.secret);
        Error::yielding("ClusterUnreachable", message)
    }

    /// Returns the yield for a cluster that refuses the credentials.
    fn refused(&self) -> Error {
        let message = format!("the cluster of {} refuses the credentials of its kubeconfig", self.secret);
        Error::yielding("ClusterRefused", message)
    }

    /// Returns the error of a pass with a call that the cluster did not answer, and records the outage. The first such call may have used a
    /// connection that was idle for too long, so the error is a conflict, which the control loop retries soon. Later it is a yield, and
    /// passes make no call for `OUTAGE_PERIOD`.
    fn unanswered(&self, call: Box<CallError>) -> Error {
        let mut outage = self.outage.lock();
        let is_first = outage.since.is_none() && !TimeoutError::is_cause_of(&call.source);
        outage.since.get_or_insert_with(Instant::now);
        if is_first && !self.state.children.values().any(|children| children.health.has_failed()) {
            return Error::Conflict(call);
        }
        if outage.retry_at.is_none() {
            // Logged once in an outage.
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

    /// Checks that the cluster can be used, and waits up to `MAX_WAIT` for one of the `MAX_PASSES` permits. The pass uses the cluster until
    /// it drops the permit. If there is none, the result is a conflict, so that the worker does not wait longer.
    fn begin(&self) -> BoxFuture<'_, Result<OwnedSemaphorePermit>> {
        async move {
            self.check_usable()?;
            let permit = timeout(MAX_WAIT, self.passes.clone().acquire_owned()).await;
            // Meanwhile another pass may have found that the cluster can't be reached.
            self.check_usable()?;
            match permit {
                Ok(Ok(permit)) => Ok(permit),
                _ => {
                    let sentence = format!("other objects wait for the cluster of {}", self.secret);
                    Err(Error::conflict("ClusterBusy", sentence))
                }
            }
        }
        .boxed()
    }

    fn unreachable_for(&self) -> Option<Duration> {
        self.outage.lock().since.map(|since| since.elapsed())
    }

    fn credentials(&self) -> Result<Arc<ClusterCredentials>> {
        self.connection.credentials().map_err(|problem| client_config::no_credentials(&self.secret, problem))
    }

    /// Reads the kubeconfig again and asks the cluster for its version. Any response except 401 proves that the cluster answers, and ends
    /// an outage.
    fn verify_connection(&self) -> BoxFuture<'_, Result<()>> {
        async move {
            self.connection.refresh().await?;
            match self.state.client.kube().apiserver_version().await {
                Err(kube::Error::Api(status)) if status.code == 401 => Err(self.refused()),
                Ok(_) | Err(kube::Error::Api(_)) => {
                    *self.outage.lock() = CallOutage::default();
                    Ok(())
                }
                Err(_) => {
                    self.outage.lock().retry_at = Some(Instant::now() + OUTAGE_PERIOD);
                    Err(self.unreachable())
                }
            }
        }
        .boxed()
    }

    /// Returns whether the registration in this Secret was verified with these credentials within the last `VERIFY_PERIOD`.
    fn is_registration_verified(&self, secret: &ObjectKey, credentials: &Arc<ClusterCredentials>) -> bool {
        let verified = self.verified.lock();
        let last = verified.get(secret);
        last.is_some_and(|last| last.time.elapsed() < VERIFY_PERIOD && last.credentials == *credentials)
    }

    /// Records that the registration in this Secret was verified now, with these credentials and at this version.
    fn record_verified_registration(
        &self,
        secret: ObjectKey,
        credentials: Arc<ClusterCredentials>,
        version: ResourceVersion,
    ) {
        self.verified.lock().insert(secret, VerifiedRegistration { credentials, version, time: Instant::now() });
    }

    /// Converts the outcome of nodes in the cluster. A call without a response becomes a conflict or a yield, a response 401 becomes a
    /// yield, and other outcomes stay the same. A response ends an outage, and so does an outcome without an unexpected error.
    fn convert_outcome(&self, outcome: Result<()>) -> Result<()> {
        let call = match outcome {
            Err(Error::Unexpected(source)) => match source.downcast::<CallError>() {
                Ok(call) => call,
                // An error that is no failed call, such as one of user code, says nothing about the cluster.
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
