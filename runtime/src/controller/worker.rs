//! A controller at work: its queue, its workers, and what wakes them.

use crate::{
    cache::{Change, Encoded, ObjectKey},
    controller::{Settings, channel::Lane},
    environment::Environment,
    panic::{Closure, Panicked},
    predicate::Worth,
    queue::{Backoff, Item, Priority, Queue, Trigger},
    reconcile::{
        Ended,
        control_loop::Loop,
        next::{AFTER_CONFLICT, CATCH_UP, Next, REQUEUE},
    },
};
use futures::FutureExt;
use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::task::JoinSet;

/// The shortest time after which an object is looked at again: one that asks for none at all would take a core for itself.
const LEAST: Duration = Duration::from_millis(5);

/// How long after the unexpected end of a worker another one starts.
const RESTART: Duration = Duration::from_millis(200);

pub(crate) struct Running {
    pub(crate) inner: Loop,
    queue: Queue<ObjectKey>,
    /// Gives the jitter; the loop counts the failures of an object by its uid.
    backoff: Backoff<()>,
    settings: Settings,
    working: AtomicBool,
}

impl Running {
    pub(crate) fn new(inner: Loop, settings: Settings, environment: &Environment) -> Self {
        let dice = environment.clone();
        let backoff = Backoff::new(settings.errors, move || dice.random());
        Self { inner, queue: Queue::default(), backoff, settings, working: AtomicBool::new(false) }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A primary changed: worth a pass if what it wants, whether it goes, or who holds it is different. What a user did goes
    /// first, and ends a backoff; a list of what was there before goes last. Own writes end none.
    pub(crate) fn on_primary(&self, change: &Change<Encoded>, listing: bool) {
        self.inner.note_propagation(change);
        if let Some(shown) = change.new_entry().or(change.old()) {
            self.inner.was_shown(&shown.header.key);
        }
        match change {
            Change::Added { new } => self.queue.add(new.header.key.clone(), priority_of(Priority::High, listing)),
            Change::Updated { old, new } => {
                self.wake_for(new.header.key.clone(), self.inner.worth(old, new), listing);
            }
            Change::Deleted { old } => self.queue.add(old.header.key.clone(), priority_of(Priority::High, listing)),
            Change::Unchanged => {}
        }
    }

    /// The object itself changed.
    fn wake_for(&self, key: ObjectKey, worth: Worth, listing: bool) {
        match worth {
            Worth::Nothing => {}
            Worth::Own => self.queue.add_for(key, priority_of(Priority::Normal, listing), Trigger::Own),
            Worth::Finalizers | Worth::News | Worth::Wish => self.wake(key, listing),
            Worth::Request => self.queue.add(key, Priority::High),
        }
    }

    /// Something that an object is made of changed.
    pub(crate) fn wake_owner(&self, owner: ObjectKey, listing: bool) {
        self.queue.add_for(owner, priority_of(Priority::Normal, listing), Trigger::Children);
    }

    /// Something that concerns an object changed.
    pub(crate) fn wake(&self, key: ObjectKey, listing: bool) {
        self.queue.add_for(key, priority_of(Priority::Normal, listing), Trigger::Related);
    }

    /// Wakes those that a change of an object concerns: of a kind without namespaces, by their names alone. Whose work the change
    /// is, is woken as by a child.
    pub(crate) fn wake_named<'a>(
        &self,
        keys: impl IntoIterator<Item = &'a ObjectKey>,
        is_work_of: impl Fn(&ObjectKey) -> bool,
        listing: bool,
    ) {
        let namespaced = self.inner.source.kind().namespaced;
        for key in keys {
            let key = if namespaced { key.clone() } else { ObjectKey::cluster(key.name()) };
            if is_work_of(&key) { self.wake_owner(key, listing) } else { self.wake(key, listing) }
        }
    }

    /// Something that concerns all objects changed.
    pub(crate) fn wake_all(&self, is_work_of: impl Fn(&ObjectKey) -> bool) {
        for key in self.inner.source.objects().store().keys() {
            let trigger = if is_work_of(&key) { Trigger::Children } else { Trigger::Related };
            self.queue.add_for(key, Priority::Low, trigger);
        }
    }

    /// What all objects failed for may be over: nobody waits for the end of a backoff.
    pub(crate) fn try_all(&self) {
        for key in self.inner.source.objects().store().keys() {
            self.queue.add(key, Priority::Low);
        }
    }

    /// Wakes what is pushed into a channel, for ever.
    pub(crate) async fn listen(self: Arc<Self>, lane: Arc<Lane>) {
        let kind = self.inner.source.kind();
        loop {
            for key in lane.next().await {
                match (kind.namespaced, key.namespace()) {
                    (true, None) => {
                        tracing::warn!(%kind, object = %key, "was pushed without a namespace; nothing is it")
                    }
                    (true, Some(_)) => self.wake(key, false),
                    (false, _) => self.wake(ObjectKey::cluster(key.name()), false),
                }
            }
        }
    }

    /// Works until the queue is shut and what was begun has ended. Dropped before that, it takes its workers with it.
    pub(crate) async fn work(self: Arc<Self>) {
        self.working.store(true, Ordering::Relaxed);
        let mut workers = JoinSet::new();
        for _ in 0..self.settings.workers {
            workers.spawn(Self::worker(self.clone()));
        }
        while let Some(ended) = workers.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a worker ended unexpectedly, and another one is started");
                self.inner.shared.counters.count_task_restart();
                tokio::time::sleep(RESTART).await;
                workers.spawn(Self::worker(self.clone()));
            }
        }
    }

    /// Whether its workers run.
    pub(crate) fn is_working(&self) -> bool {
        self.working.load(Ordering::Relaxed)
    }

    /// Waits until no pass begins any more, and none runs.
    pub(crate) async fn stopped(&self) {
        self.queue.drained().await;
    }

    /// Begins no new pass.
    pub(crate) fn stop(&self) {
        self.queue.shutdown();
    }

    async fn worker(self: Arc<Self>) {
        while let Some(item) = self.queue.take().await {
            // The loop catches what closures of the user do; this is for all else, so that no key stays with a worker.
            if let Err(payload) = AssertUnwindSafe(self.attend(&item)).catch_unwind().await {
                let panicked = Panicked::new(Closure::Runtime, &*payload);
                let kind = self.inner.source.kind();
                tracing::error!(%kind, object = %item.key, error = %panicked, "the pass ended by a panic");
                self.inner.shared.counters.count_panic(panicked.closure);
                self.queue.hold(item.key.clone(), REQUEUE, item.priority.min(Priority::Normal));
            }
            self.queue.done(&item.key);
        }
    }

    /// One pass, and when the next one is.
    async fn attend(&self, item: &Item<ObjectKey>) {
        let key = &item.key;
        let environment = &self.inner.shared.environment;
        let passed = environment.begin_pass(self.inner.source.kind(), key.namespace(), key.name());
        let Ended { next, row, worth } = self.inner.pass(key, item.trigger).await;
        if let Some(passed) = passed {
            passed(next.words());
        }
        // Before the backoff begins: what a user did meanwhile ends it.
        self.wake_for(key.clone(), worth, false);
        self.schedule(item, (next, row));
    }

    /// Schedules the pass after one that ended so, as `row` others in a row before. A pass that achieved nothing is not repeated
    /// before its backoff ends, whatever changes meanwhile, unless a user asks for it.
    fn schedule(&self, item: &Item<ObjectKey>, (next, row): (Next, u32)) {
        let Item { key, priority, trigger, .. } = item.clone();
        // The user's change had its pass.
        let repeated = priority.min(Priority::Normal);
        let (after, priority) = match next {
            Next::AwaitChange => return,
            Next::Poll => match self.settings.poll {
                Some(period) => (self.backoff.spread(period), Priority::Low),
                None => return,
            },
            Next::Requeue => (self.backoff.spread(self.settings.requeue), repeated),
            Next::After(period) => (self.backoff.spread(period), repeated),
            Next::CatchUp => return self.queue.add_after_for(key, CATCH_UP, priority, trigger),
            Next::Failed => {
                let delay = self.backoff.spread(self.settings.errors.after(row));
                return self.queue.hold(key, delay.max(LEAST), repeated);
            }
            Next::Retry => {
                return self.queue.hold(key, self.backoff.scatter(AFTER_CONFLICT.after(row)), priority);
            }
        };
        self.queue.add_after(key, after.max(LEAST), priority);
    }
}

/// Nobody waits for what comes from a list.
fn priority_of(change: Priority, listing: bool) -> Priority {
    if listing { Priority::Low } else { change }
}
