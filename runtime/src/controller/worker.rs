//! `RunningController`: enqueues objects of the controlled kind after changes, and runs the workers that reconcile them.

use crate::{
    cache::{Change, Encoded, ObjectKey, Uid},
    controller::{Settings, channel::ChannelReceiver},
    engine::{owner_state::StrippedChild, pass::PassTrigger},
    environment::Environment,
    informer::{
        change_origin::ChangeOrigin,
        child::{ChildEvent, OwnerRef},
    },
    kind::Kind,
    metrics::controller::ControllerMetrics,
    panic::{Closure, Panicked},
    predicate::Significance,
    queue::{Item, KeyBackoff, Priority, Queue, Stats, Trigger},
    reconcile::{
        PassResult,
        control_loop::Loop,
        next::{AFTER_CONFLICT, CATCH_UP, DEFAULT_REQUEUE, Next, NextPass},
    },
    shard::hash::ShardCount,
    spans::context::TraceContext,
};
use futures::FutureExt;
use parking_lot::Mutex;
use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{task::JoinSet, time::Instant};

/// The minimum delay before the next pass: an object that is enqueued without delay would occupy a core.
const MIN_DELAY: Duration = Duration::from_millis(5);

/// The delay before a new worker replaces one that ended unexpectedly.
const WORKER_RESTART_DELAY: Duration = Duration::from_millis(200);

/// A controller that runs: event handlers enqueue primaries, and workers take them from the queue and reconcile them.
pub(crate) struct RunningController {
    pub(crate) control_loop: Loop,
    queue: Queue<ObjectKey>,
    /// Only adds the jitter; the loop counts the failures of each object.
    backoff: KeyBackoff<()>,
    settings: Settings,
    is_working: AtomicBool,
    /// The state of the upgrade hook, in words, until it has succeeded.
    upgrade_state: Mutex<Option<String>>,
}

impl RunningController {
    /// Returns a controller with an empty queue. Its workers start later; the random numbers of `environment` are the jitter of its delays.
    pub(crate) fn new(control_loop: Loop, settings: Settings, environment: &Environment) -> Self {
        let random = environment.clone();
        let backoff = KeyBackoff::new(settings.backoff, move || random.random());
        let queue = Queue::for_workers(settings.workers);
        Self {
            control_loop,
            queue,
            backoff,
            settings,
            is_working: AtomicBool::new(false),
            upgrade_state: Mutex::default(),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Handles a watch event of a primary: enqueues a created or deleted object, and an updated one according to the significance of the
    /// change, which also depends on the predicate. A primary from a list gets a low priority, unless the change requests a pass.
    pub(crate) fn on_primary_change(&self, change: &Change<Encoded>, from_list: bool) {
        self.control_loop.note_deletion_propagation(change);
        if let Some(primary) = change.new_entry().or(change.old()) {
            self.control_loop.note_watch_event(&primary.header);
        }
        match change {
            Change::Added { new } => self.queue.add(new.header.key.clone(), priority_of(Priority::High, from_list)),
            Change::Updated { old, new } => {
                let significance = self.control_loop.significance_of(old, new);
                self.enqueue_changed(new.header.key.clone(), significance, from_list);
            }
            Change::Deleted { old } => {
                // An object that left the cache with its shard still exists, and another replica reconciles it.
                if self.control_loop.note_deleted(&old.header) {
                    self.queue.add(old.header.key.clone(), priority_of(Priority::High, from_list));
                }
            }
            Change::Unchanged => {}
        }
    }

    /// Enqueues a primary after an update of it, with a priority and a trigger that depend on the significance of the update; `None`
    /// enqueues nothing. Only `Request` ends a backoff; the loop has already turned a user's change that does so into a `Request`.
    fn enqueue_changed(&self, key: ObjectKey, significance: Significance, from_list: bool) {
        match significance {
            Significance::None => {}
            Significance::OwnWrite => self.queue.add_for(key, priority_of(Priority::Normal, from_list), Trigger::Own),
            Significance::Finalizers | Significance::Accepted | Significance::UserChange => {
                self.enqueue_related(key, from_list)
            }
            Significance::Request => self.queue.add(key, Priority::High),
        }
    }

    /// Handles a change of a child: enqueues its owner if this is of the controller's kind, and records in the state of the owner that the
    /// child was deleted or lost the operator's label (`event.departed`).
    pub(crate) fn on_child_change(&self, kind: &Kind, owner: &OwnerRef, event: &ChildEvent<'_>) {
        let shared = &self.control_loop.shared;
        let Some(key) = owner.key_of_kind(self.control_loop.source.kind()) else { return };
        // Another controller of the same kind may apply children of a kind that is not in this tree.
        if let Some(departed) = event.departed.filter(|_| shared.children.contains_key(kind)) {
            // No state is created for an owner that is gone, because it would never be dropped.
            let is_cached = self.is_cached(&key, &owner.uid);
            let mut states = shared.owner_states();
            if is_cached || states.has_state(&key, &owner.uid) {
                states.add_departed_child(&key, &owner.uid, StrippedChild::new(kind, departed));
            }
        }
        self.enqueue_owner(key, event.from_list);
    }

    /// Returns whether the cache has the primary with this uid.
    pub(super) fn is_cached(&self, key: &ObjectKey, uid: &Uid) -> bool {
        self.control_loop.source.objects().store().get(key).is_some_and(|entry| entry.header.uid == *uid)
    }

    /// Enqueues the owner of a changed child.
    pub(crate) fn enqueue_owner(&self, owner: ObjectKey, from_list: bool) {
        self.queue.add_for(owner, priority_of(Priority::Normal, from_list), Trigger::Children);
    }

    /// Enqueues a primary because a related object changed that is not its child, such as a referenced object.
    pub(crate) fn enqueue_related(&self, key: ObjectKey, from_list: bool) {
        self.queue.add_for(key, priority_of(Priority::Normal, from_list), Trigger::Related);
    }

    /// Enqueues the primaries to which an event handler maps a changed object (`origin`). A primary that has created or just written this
    /// object is enqueued as the owner of a changed child. Any other primary continues the chain of own writes that led to the change, by
    /// which endless loops of controllers are found. Keys of cluster-scoped primaries lose their namespace.
    pub(crate) fn enqueue_keys<'a>(
        &self,
        keys: impl IntoIterator<Item = &'a ObjectKey>,
        origin: &ChangeOrigin<'_>,
        from_list: bool,
    ) {
        let kind = self.control_loop.source.kind();
        for key in keys {
            let key = if kind.namespaced { key.clone() } else { ObjectKey::cluster(key.name()) };
            if origin.is_output_of(&key) {
                self.enqueue_owner(key, from_list);
            } else {
                self.control_loop.shared.chains.extend_to(kind, &key, origin.chain);
                self.enqueue_related(key, from_list);
            }
        }
    }

    /// Returns the origin of a change of an object of another kind: whose output the object is, and the chain of own writes that led to it.
    pub(crate) fn origin_of<'a, V>(&'a self, kind: &'a Kind, change: &'a Change<V>) -> ChangeOrigin<'a> {
        ChangeOrigin::new(&self.control_loop.shared, self.control_loop.source.kind(), kind, change)
    }

    /// Does the same as [`Self::enqueue_keys`] for all primaries with a low priority, because the changed object maps to all of them.
    pub(crate) fn enqueue_all(&self, origin: &ChangeOrigin<'_>) {
        for key in self.control_loop.source.objects().store().keys() {
            let is_output = origin.is_output_of(&key);
            if !is_output {
                self.control_loop.shared.chains.extend_to(self.control_loop.source.kind(), &key, origin.chain);
            }
            self.queue.add_for(key, Priority::Low, if is_output { Trigger::Children } else { Trigger::Related });
        }
    }

    /// Enqueues all cached primaries of a shard that this replica has taken over. `count` is the number of shards.
    pub(crate) fn enqueue_shard(&self, count: ShardCount, shard: u16) {
        for entry in self.control_loop.source.objects().store().entries() {
            if count.shard_of(&entry.header.uid) == shard {
                self.queue.add(entry.header.key.clone(), Priority::Low);
            }
        }
    }

    /// Forgets a primary that left the cache because this replica no longer holds its shard. A pass that is still enqueued is skipped.
    pub(crate) fn on_primary_dropped(&self, key: &ObjectKey) {
        self.control_loop.forget_dropped(key);
    }

    /// Enqueues all primaries with the trigger `Request`, which ends their backoffs, because the cause of their failures may be gone.
    pub(crate) fn retry_all(&self) {
        for key in self.control_loop.source.objects().store().keys() {
            self.queue.add(key, Priority::Low);
        }
    }

    /// Enqueues the primaries whose keys are pushed into a channel. Ignores keys without a namespace if the kind is namespaced. Never
    /// returns.
    pub(crate) async fn run_channel(self: Arc<Self>, receiver: Arc<ChannelReceiver>) {
        let kind = self.control_loop.source.kind();
        loop {
            for key in receiver.next().await {
                match (kind.namespaced, key.namespace()) {
                    (true, None) => {
                        tracing::warn!(
                            %kind,
                            object = %key,
                            "ignored a key pushed into a channel: {kind} is namespaced, but the key has no namespace"
                        );
                    }
                    (true, Some(_)) => self.enqueue_related(key, false),
                    (false, _) => self.enqueue_related(ObjectKey::cluster(key.name()), false),
                }
            }
        }
    }

    /// Runs the workers until the queue is shut down and the running passes have ended. Replaces a worker that ends unexpectedly. If the
    /// future is dropped, its workers end at once.
    pub(crate) async fn run_workers(self: Arc<Self>) {
        self.is_working.store(true, Ordering::Relaxed);
        let mut workers = JoinSet::new();
        for _ in 0..self.settings.workers {
            workers.spawn(Self::run_worker(self.clone()));
        }
        while let Some(result) = workers.join_next().await {
            if let Err(error) = result {
                tracing::error!(%error, "a worker ended unexpectedly and is restarted");
                self.control_loop.shared.counters.count_task_restart();
                tokio::time::sleep(WORKER_RESTART_DELAY).await;
                workers.spawn(Self::run_worker(self.clone()));
            }
        }
    }

    /// Returns whether its workers have been started.
    pub(crate) fn is_working(&self) -> bool {
        self.is_working.load(Ordering::Relaxed)
    }

    /// Returns the state of the upgrade hook in words; `None` before it starts, after it has succeeded, and without a hook.
    pub(crate) fn upgrade_state(&self) -> Option<String> {
        self.upgrade_state.lock().clone()
    }

    /// Sets the state of the upgrade hook.
    pub(crate) fn set_upgrade_state(&self, state: Option<String>) {
        *self.upgrade_state.lock() = state;
    }

    /// Waits until the queue is shut down and no pass runs.
    pub(crate) async fn wait_until_stopped(&self) {
        self.queue.drained().await;
    }

    /// Shuts the queue down, so that no new pass starts.
    pub(crate) fn stop(&self) {
        self.queue.shutdown();
    }

    /// Returns the objects of the running passes, sorted.
    pub(crate) fn running_passes(&self) -> Vec<ObjectKey> {
        let mut keys = self.queue.running_keys();
        keys.sort();
        keys
    }

    /// Returns how long the longest running pass has been running.
    pub(crate) fn longest_running_pass(&self) -> Duration {
        self.metrics().timings.held_keys(Instant::now()).longest
    }

    /// Takes keys from the queue and runs a pass for each, one after the other, until the queue is shut down. After a panic in a pass, the
    /// worker continues, and the key is retried after [`DEFAULT_REQUEUE`].
    async fn run_worker(self: Arc<Self>) {
        let metrics = self.metrics();
        let worker = metrics.timings.worker();
        let mut next_item = self.queue.take().await;
        while let Some(item) = next_item {
            let start = worker.begin(&item);
            // The loop catches panics of user closures. This catches all others, so that every taken key returns to the queue.
            let processed = AssertUnwindSafe(self.process(&item)).catch_unwind().await;
            if let Err(payload) = &processed {
                let panicked = Panicked::new(Closure::Runtime, &**payload);
                let kind = self.control_loop.source.kind();
                tracing::error!(%kind, object = %item.key, error = %panicked, "the pass panicked");
                self.control_loop.shared.count_pass_panic(panicked.closure);
                self.queue.hold(item.key.clone(), DEFAULT_REQUEUE, item.priority.min(Priority::Normal));
            }
            let now = Instant::now();
            let (next, trace) = processed.unwrap_or((Next::Failed, None));
            self.count_pass(next, worker.end(start, now), trace.as_ref());
            next_item = self.queue.done_and_take(&item.key, now).await;
        }
    }

    /// Records a pass in the metrics of the controller: its result, and its duration with its trace. A skipped pass is only counted.
    fn count_pass(&self, next: Next, duration: Duration, trace: Option<&TraceContext>) {
        let metrics = self.metrics();
        match next {
            Next::Parked => metrics.terminal_errors.increment(),
            Next::Failed | Next::Retry => metrics.retries.increment(),
            _ => {}
        }
        match next.kind() {
            Some(kind) => metrics.count_pass(kind, duration, trace),
            None => metrics.skipped.increment(),
        }
    }

    pub(crate) fn metrics(&self) -> &ControllerMetrics {
        &self.control_loop.shared.metrics
    }

    /// Returns the current length and the totals of its queue.
    pub(crate) fn queue_stats(&self) -> Stats {
        self.queue.stats()
    }

    /// Runs one pass over an object, enqueues the object if it changed during the pass, and schedules the next pass. Returns when the next
    /// pass runs, and the trace of this pass if it is exported. Runs no pass unless this replica holds the shard of the object.
    async fn process(&self, item: &Item<ObjectKey>) -> (Next, Option<TraceContext>) {
        let key = &item.key;
        let trigger = self.begin_pass(item);
        let Some(shard) = self.control_loop.begin_shard_pass(key).await else { return (Next::OtherShard, None) };
        let environment = &self.control_loop.shared.environment;
        let on_end = environment.begin_pass(self.control_loop.source.kind(), key.namespace(), key.name());
        let PassResult { next, earlier_failures, significance, trace } =
            shard.run(self.control_loop.reconcile(key, trigger)).await;
        if next.when == Next::CatchUp {
            // The pass was skipped, so the chain of own writes that triggered it leads to the next pass.
            self.control_loop.shared.chains.extend_to(self.control_loop.source.kind(), key, trigger.chain);
        }
        if let Some(on_end) = on_end {
            on_end(next.when.description());
        }
        // This comes before the start of the backoff, so that a change by a user during the pass ends the backoff.
        self.enqueue_changed(key.clone(), significance, false);
        self.schedule_next(item, next, earlier_failures);
        (next.when, trace)
    }

    /// Returns what triggered the pass that begins now: the event, and the chain of passes whose writes triggered each other. A request by
    /// a user starts a new chain.
    fn begin_pass(&self, item: &Item<ObjectKey>) -> PassTrigger {
        let (kind, is_request) = (self.control_loop.source.kind(), item.trigger == Trigger::Request);
        let chain = self.control_loop.shared.chains.begin_pass(kind, &item.key, is_request);
        PassTrigger { event: item.trigger, chain, trace_start: None }
    }

    /// Adds the key to the queue again with the delay that `next` demands. `earlier_failures` is the number of consecutive passes before
    /// this one that failed in the same way. After a failed pass or a conflict (`hold`), only a change by a user starts a pass before the
    /// backoff ends.
    fn schedule_next(&self, item: &Item<ObjectKey>, next: NextPass, earlier_failures: u32) {
        let Item { key, priority, trigger, .. } = item.clone();
        // The high priority of a change by a user counts only for this pass.
        let repeated = priority.min(Priority::Normal);
        let (after, priority) = match next.when {
            Next::AwaitChange | Next::Parked | Next::OtherShard => return,
            Next::Resync => match self.settings.resync_period.or(next.at_most) {
                Some(period) => (self.backoff.spread(next.limit(period)), Priority::Low),
                None => return,
            },
            Next::Requeue => (self.backoff.spread(next.limit(self.settings.requeue_after)), repeated),
            Next::After(period) => (self.backoff.spread(next.limit(period)), repeated),
            Next::CatchUp => return self.queue.add_after_for(key, CATCH_UP, priority, trigger),
            Next::Failed => {
                let delay = next.limit(self.backoff.spread(self.settings.backoff.after(earlier_failures)));
                return self.queue.hold(key, delay.max(MIN_DELAY), repeated);
            }
            Next::Retry => {
                let delay = self.backoff.scatter(AFTER_CONFLICT.after(earlier_failures));
                return self.queue.hold(key, delay, priority);
            }
        };
        self.queue.add_after(key, after.max(MIN_DELAY), priority);
    }
}

/// Returns the priority of a change: low if the object comes from a list, where no user waits for the pass.
fn priority_of(change: Priority, from_list: bool) -> Priority {
    if from_list { Priority::Low } else { change }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manager_m40_sixteen_objects_are_reconciled_at_a_time_unless_an_option_sets_another_number() {
        // On purpose not 1 as in controller-runtime: a pass mostly waits for the API server, and 1 surprises many users.
        assert_eq!(Settings::default().workers, 16);
    }
}
