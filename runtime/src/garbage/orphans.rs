//! `OrphanCollector` deletes child objects whose owner no longer exists, and removes the finalizers that deleted primaries left on objects
//! that they referred to.
//!
//! The garbage collector of Kubernetes deletes children with an owner reference. This collector deletes children with an owner
//! mark: an annotation that replaces the owner reference if the owner is in another namespace than its child, or namespaced while
//! the child is cluster-scoped.
//!
//! # Flow
//! 1. When the watches have synced, and whenever one of them recovers, the collector examines all marked children. When a primary
//!    leaves the cache, it examines the children of that primary.
//! 2. A child is an orphan candidate if its mark names a kind that this operator controls, in the namespace that it watches, and
//!    an owner that the cache doesn't have.
//! 3. The cache alone is no proof, because another replica may have seen a new owner earlier. If a live read doesn't find the
//!    owner, the collector deletes the child by its uid.
//! 4. Each kind of children, and the deselected primaries and stale references of each controller, are a task of their own. A task
//!    that fails is retried with a growing delay from where it stopped; the other tasks go on.
//!
//! A kind whose watch is not healthy is not collected, because an empty cache proves nothing.

use crate::{
    cache::{Change, Encoded, Entry, ObjectKey, Uid},
    client::{CallError, Client, Target},
    controller::worker::RunningController,
    counters::Counters,
    engine::{child::Child, deletion::delete_params, owner_mark::OwnerMark},
    error::{Error, Result},
    informer::{
        namespaces::Namespaces,
        watch::{Health, WatchState, WatchedKind},
    },
    kind::Kind,
    scope::is_record,
    shape::DeletionPropagation,
    shard::gate::{ShardPass, Shards},
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{sync::mpsc, time::Instant};

/// The delay between a request and its search. By then the cache shows the deletions of a regular teardown.
const SEARCH_DELAY: Duration = Duration::from_secs(1);
/// The first and the maximum delay before the retry of a failed task.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(30);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(600);
/// The number of consecutive children that may fail before the rest of their kind waits for the retry.
const MAX_FAILURES: u32 = 5;

/// The children that a search examines.
#[derive(Debug)]
pub(crate) enum OrphanSearch {
    /// The children of one owner.
    Owner(Uid),
    /// All marked children.
    All,
}

/// Requests searches from the orphan collector when primaries are deleted and watches recover.
#[derive(Clone, Debug)]
pub(crate) struct OrphanRequests(mpsc::UnboundedSender<OrphanSearch>);

impl OrphanRequests {
    /// Creates the sender of the requests, and the receiver for the collector.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<OrphanSearch>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Requests a search for the children of a primary that was deleted, or re-created under its name with another uid.
    pub(crate) fn on_primary_change(&self, change: &Change<Encoded>) {
        match change {
            Change::Deleted { old } => self.request(OrphanSearch::Owner(old.header.uid.clone())),
            Change::Updated { old, new } if old.header.uid != new.header.uid => {
                self.request(OrphanSearch::Owner(old.header.uid.clone()));
            }
            Change::Added { .. } | Change::Updated { .. } | Change::Unchanged => {}
        }
    }

    /// Requests a search for all children whenever a watch recovers. Returns only when the sender of the watch's health is dropped.
    pub(crate) async fn follow_health(self, health: Health) {
        let mut state = health.subscribe();
        while state.changed().await.is_ok() {
            if is_healthy(&state.borrow_and_update()) {
                self.request_all();
            }
        }
    }

    /// Requests a search for all children.
    pub(crate) fn request_all(&self) {
        self.request(OrphanSearch::All);
    }

    /// Requests a search for orphans.
    fn request(&self, search: OrphanSearch) {
        // The collector has ended if the operator is shutting down.
        let _ = self.0.send(search);
    }
}

/// The collector, with the stores and controllers that it examines.
pub(crate) struct OrphanCollector {
    pub(crate) client: Client,
    pub(crate) namespaces: Namespaces,
    pub(crate) children: BTreeMap<Kind, Arc<WatchedKind<Child>>>,
    pub(crate) controllers: Vec<Arc<RunningController>>,
    pub(crate) counters: Counters,
    /// The shards of this replica; `None` if it collects all orphans.
    pub(crate) shards: Option<Shards>,
}

/// A task of the collection, which fails and is retried independently of the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CollectionTask {
    /// Deletes the orphans of a kind.
    Children(Kind),
    /// Enqueues the deselected primaries of a controller and releases its stale references, by its number.
    Primaries(usize),
}

/// The retry of a failed task.
#[derive(Clone, Debug)]
struct Retry {
    failures: u32,
    due: Instant,
    /// The last child that failed; the retry continues after it.
    last_child: Option<ObjectKey>,
}

impl Retry {
    /// Schedules the retry of a task that failed at `last_child`. The delay doubles with each failure, up to `MAX_RETRY_DELAY`.
    fn new(earlier: Option<&Self>, last_child: Option<ObjectKey>) -> Self {
        let failures = earlier.map_or(0, |earlier| earlier.failures);
        let delay = MIN_RETRY_DELAY.saturating_mul(1 << failures.min(8)).min(MAX_RETRY_DELAY);
        Self { failures: failures + 1, due: Instant::now() + delay, last_child }
    }
}

/// The last error of a task, and the child on which it occurred.
struct Failure {
    error: Error,
    child: Option<ObjectKey>,
}

impl OrphanCollector {
    /// Runs the requested searches and the retries, until the sender of the requests is dropped. Requests that arrive within
    /// `SEARCH_DELAY` are one search. A failed task is logged and retried with a growing delay.
    pub(crate) async fn run(&self, requests: &mut mpsc::UnboundedReceiver<OrphanSearch>) {
        let mut retries = BTreeMap::<CollectionTask, Retry>::new();
        loop {
            let next_retry = retries.values().map(|retry| retry.due).min();
            let mut requested = Vec::new();
            tokio::select! {
                biased;
                search = requests.recv() => match search {
                    Some(search) => requested.push(search),
                    None => return,
                },
                () = tokio::time::sleep_until(next_retry.unwrap_or_else(Instant::now)), if next_retry.is_some() => {}
            }
            if !requested.is_empty() {
                tokio::time::sleep(SEARCH_DELAY).await;
            }
            while let Ok(search) = requests.try_recv() {
                requested.push(search);
            }
            for task in self.tasks() {
                let earlier = retries.get(&task).cloned();
                let is_due = earlier.as_ref().is_some_and(|retry| retry.due <= Instant::now());
                let searches = if is_due { &[OrphanSearch::All][..] } else { &requested };
                if searches.is_empty() {
                    continue;
                }
                let last_child = earlier.as_ref().and_then(|retry| retry.last_child.as_ref());
                match self.run_task(&task, searches, last_child).await {
                    // The search covered only some children, so the scheduled retry of the whole task stays.
                    Ok(()) if earlier.is_some() && !contains_all(searches) => {}
                    Ok(()) => drop(retries.remove(&task)),
                    Err(Failure { error, child }) => {
                        // A failed search for some children does not delay a retry that is already scheduled.
                        let retry = match earlier {
                            Some(earlier) if !is_due => earlier,
                            earlier => Retry::new(earlier.as_ref(), child),
                        };
                        self.log_failure(&task, &error, &retry);
                        retries.insert(task, retry);
                    }
                }
            }
        }
    }

    /// Returns the tasks of a collection: one per kind of children, and one per controller for its primaries.
    fn tasks(&self) -> Vec<CollectionTask> {
        let children = self.children.keys().cloned().map(CollectionTask::Children);
        children.chain((0..self.controllers.len()).map(CollectionTask::Primaries)).collect()
    }

    /// Runs one task of a collection: deletes the orphans of a kind, beginning after `last_child`, at which the previous attempt failed;
    /// or, only if `searches` covers all children, enqueues deselected primaries of a controller and releases stale references.
    async fn run_task(
        &self,
        task: &CollectionTask,
        searches: &[OrphanSearch],
        last_child: Option<&ObjectKey>,
    ) -> Result<(), Failure> {
        match task {
            CollectionTask::Children(kind) => match self.children.get(kind) {
                Some(children) => self.delete_orphans(children, searches, last_child).await,
                None => Ok(()),
            },
            CollectionTask::Primaries(number) => {
                match self.controllers.get(*number).filter(|_| contains_all(searches)) {
                    Some(controller) => {
                        let handled = self.handle_primaries(controller).await;
                        handled.map_err(|error| Failure { error, child: None })
                    }
                    None => Ok(()),
                }
            }
        }
    }

    /// Warns that a task has failed and is tried again.
    fn log_failure(&self, task: &CollectionTask, error: &Error, retry: &Retry) {
        let (failures, again) = (retry.failures, retry.due.saturating_duration_since(Instant::now()).as_secs());
        match task {
            CollectionTask::Children(kind) => {
                tracing::warn!(%kind, %error, failures, "failed to collect orphans; trying again in {again} s");
            }
            CollectionTask::Primaries(number) => {
                let controller = self.controllers.get(*number);
                let kind = controller.map(|controller| controller.control_loop.source.kind().to_string());
                tracing::warn!(
                    kind, %error, failures,
                    "failed to search for deselected primaries and stale references; trying again in {again} s"
                );
            }
        }
    }

    /// Deletes the orphans among the children of a kind that `searches` cover, beginning after `last_child`, at which the previous attempt
    /// failed. Continues after a failed deletion, unless `MAX_FAILURES` children fail in a row. Returns the last failure.
    async fn delete_orphans(
        &self,
        children: &WatchedKind<Child>,
        searches: &[OrphanSearch],
        last_child: Option<&ObjectKey>,
    ) -> Result<(), Failure> {
        if !is_healthy(&children.health.state()) {
            return Ok(());
        }
        let (mut failure, mut consecutive_failures) = (None, 0);
        let (mut ordered, before_last): (Vec<_>, Vec<_>) = children_to_examine(children, searches)
            .into_iter()
            .partition(|child| last_child.is_some_and(|last| child.header.key > *last));
        ordered.extend(before_last);
        for child in ordered {
            match self.delete_if_orphan(children, &child).await {
                Ok(()) => consecutive_failures = 0,
                Err(error) => {
                    self.counters.count_orphan(&children.kind, false);
                    consecutive_failures += 1;
                    failure = Some(Failure { error: error.into(), child: Some(child.header.key.clone()) });
                    if consecutive_failures == MAX_FAILURES {
                        break;
                    }
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Deletes a child if its owner is gone. Does nothing for a child that is being deleted or is the record of a remote cluster, and for
    /// an owner that is in the cache, belongs to the shard of another replica, or is in another cluster than the child.
    async fn delete_if_orphan(&self, children: &WatchedKind<Child>, child: &Entry<Child>) -> Result<(), CallError> {
        // The record is needed to remove the children in the remote cluster. A new owner of the same name takes the record over.
        if is_record(&child.header) {
            return Ok(());
        }
        if let Some(mark) = OwnerMark::of(&child.header).filter(|mark| !mark.is_remote)
            && let Some(kind) = self.uncached_owner_kind(&mark)
            && !child.header.deleting
            && let Some(pass) = self.begin_shard_pass(&mark)
        {
            let delete = async {
                if self.is_owner_deleted(&kind, &mark).await? {
                    self.delete_orphan(&children.kind, child, &mark).await?;
                }
                Ok(())
            };
            return pass.run(delete).await;
        }
        Ok(())
    }

    /// Begins a pass for the deletion of a child, if this replica holds the shard of the owner in the mark; else returns `None`.
    fn begin_shard_pass(&self, mark: &OwnerMark<'_>) -> Option<ShardPass> {
        match &self.shards {
            Some(shards) => shards.begin_pass(&mark.uid()),
            None => Some(ShardPass::without_shards()),
        }
    }

    /// Enqueues the deselected primaries of a controller, and releases its stale references.
    async fn handle_primaries(&self, controller: &RunningController) -> Result<()> {
        Self::enqueue_deselected(controller).await?;
        self.release_references(controller).await
    }

    /// Enqueues the primaries that left the selection while no operator ran and still have the finalizer. Their passes tear them
    /// down.
    async fn enqueue_deselected(controller: &RunningController) -> Result<()> {
        for key in controller.control_loop.list_deselected().await? {
            controller.enqueue_related(key, true);
        }
        Ok(())
    }

    /// Releases the references of primaries that were deleted while no operator ran. Does nothing while the watch of the primaries
    /// or of a referenced kind is unhealthy, because its cache may lack objects.
    async fn release_references(&self, controller: &RunningController) -> Result<()> {
        let control_loop = &controller.control_loop;
        let is_healthy = |health: &Health| is_healthy(&health.state());
        if is_healthy(control_loop.source.health())
            && control_loop.shared.targets.values().all(|targets| is_healthy(&targets.watched.health))
        {
            control_loop.release_stale_references(self.namespaces.request_namespace()).await?;
        }
        Ok(())
    }

    /// Returns the kind of the owner in a mark if the cache does not have this owner. `None` if the cache has it, if no cache has its kind
    /// or namespace, or if the cache may be incomplete.
    fn uncached_owner_kind(&self, mark: &OwnerMark<'_>) -> Option<Kind> {
        if !self.namespaces.contains(mark.namespace) {
            return None;
        }
        let mut sources = self.controllers.iter().map(|controller| &controller.control_loop.source);
        let source = sources.find(|source| source.kind().full_name() == mark.kind)?;
        let store = source.objects().store();
        if !is_healthy(&source.health().state()) || !store.synced() {
            return None;
        }
        let is_cached = store.get(&mark.key()).is_some_and(|owner| owner.header.uid == mark.uid());
        (!is_cached).then(|| source.kind().clone())
    }

    /// Returns whether the owner in a mark is deleted, by a live read: no object has its name, or the object has another uid.
    async fn is_owner_deleted(&self, kind: &Kind, mark: &OwnerMark<'_>) -> Result<bool, CallError> {
        let namespace = Some(mark.namespace).filter(|namespace| !namespace.is_empty());
        let target = Target { kind, namespace, name: mark.name };
        let owner = self.client.list_named(target).await?;
        Ok(owner.is_none_or(|owner| owner["metadata"]["uid"] != mark.uid))
    }

    /// Returns the propagation policy of the option `delete` of the tree node that applied an orphan; `None` without the option.
    fn propagation(&self, child: &Entry<Child>, mark: &OwnerMark<'_>) -> Option<DeletionPropagation> {
        let loops = self.controllers.iter().map(|controller| &controller.control_loop);
        let mut of_kind = loops.filter(|control_loop| control_loop.source.kind().full_name() == mark.kind);
        of_kind.find_map(|control_loop| control_loop.reconciler.shape().resource_options(child.node()).delete)
    }

    /// Deletes an orphan, unless another object has its name by now. Counts and logs the deletion.
    async fn delete_orphan(&self, kind: &Kind, child: &Entry<Child>, mark: &OwnerMark<'_>) -> Result<(), CallError> {
        let header = &child.header;
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        match self.client.delete(target, &delete_params(kind, &header.uid, self.propagation(child, mark))).await {
            Ok(_) => {
                self.counters.count_orphan(kind, true);
                tracing::info!(%kind, object = %header.key, owner = %mark, "deleted, since its owner is gone");
            }
            // The uid differs: another object has taken the name of the child.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Returns whether one of the searches is for all children.
fn contains_all(searches: &[OrphanSearch]) -> bool {
    searches.iter().any(|search| matches!(search, OrphanSearch::All))
}

/// Returns whether a watch is open, so that its store has all objects.
fn is_healthy(state: &WatchState) -> bool {
    *state == WatchState::Following
}

/// Returns the cached children that the searches cover: all of them, or the children of the given owners.
fn children_to_examine(children: &WatchedKind<Child>, searches: &[OrphanSearch]) -> Vec<Arc<Entry<Child>>> {
    if contains_all(searches) {
        return children.store.entries();
    }
    let owned = |search: &OrphanSearch| match search {
        OrphanSearch::Owner(uid) => children.store.owned_by(uid),
        OrphanSearch::All => Vec::new(),
    };
    searches.iter().flat_map(owned).collect()
}
