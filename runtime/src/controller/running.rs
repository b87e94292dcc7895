//! A controller at work: its queue, its workers, and what wakes them.

use super::{Settings, channel::Lane};
use crate::{
    cache::{Change, Encoded, ObjectKey},
    environment::Environment,
    queue::{Backoff, Priority, Queue},
    reconcile::{CATCH_UP, Loop, Next},
};
use futures::FutureExt;
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::task::JoinSet;

/// The shortest time after which an object is looked at again: one that asks for none at all would take a core for itself.
const LEAST: Duration = Duration::from_millis(5);

pub(crate) struct Running {
    pub(crate) inner: Loop,
    queue: Queue<ObjectKey>,
    backoff: Backoff<ObjectKey>,
    settings: Settings,
}

impl Running {
    pub(crate) fn new(inner: Loop, settings: Settings, environment: &Environment) -> Self {
        let dice = environment.clone();
        let backoff = Backoff::new(settings.errors, move || dice.random());
        Self { inner, queue: Queue::default(), backoff, settings }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A primary changed: worth a pass if what it wants, whether it goes, or who holds it is different.
    pub(crate) fn on_primary(&self, change: &Change<Encoded>, listing: bool) {
        let priority = if listing { Priority::Low } else { Priority::Normal };
        match change {
            Change::Added { new } => self.queue.add(new.header.key.clone(), priority),
            Change::Updated { old, new } if self.inner.is_news(old, new) => {
                self.queue.add(new.header.key.clone(), priority);
            }
            Change::Deleted { old } => self.queue.add(old.header.key.clone(), priority),
            Change::Updated { .. } | Change::Unchanged => {}
        }
    }

    /// Something that an object is made of changed.
    pub(crate) fn wake(&self, owner: ObjectKey) {
        self.queue.add(owner, Priority::Normal);
    }

    /// Wakes those that a function has named: of a kind without namespaces, by their names alone.
    pub(crate) fn wake_named<'a>(&self, keys: impl IntoIterator<Item = &'a ObjectKey>) {
        let namespaced = self.inner.source.kind().namespaced;
        for key in keys {
            self.wake(if namespaced { key.clone() } else { ObjectKey::cluster(key.name()) });
        }
    }

    /// Something that concerns all objects changed.
    pub(crate) fn wake_all(&self) {
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
                    (true, Some(_)) => self.wake(key),
                    (false, _) => self.wake(ObjectKey::cluster(key.name())),
                }
            }
        }
    }

    /// Works until the queue is shut and what was begun has ended. Dropped before that, it takes its workers with it.
    pub(crate) async fn work(self: Arc<Self>) {
        let mut workers = JoinSet::new();
        for _ in 0..self.settings.workers {
            workers.spawn(Self::worker(self.clone()));
        }
        while let Some(ended) = workers.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a worker ended early");
            }
        }
    }

    /// Begins no new pass.
    pub(crate) fn stop(&self) {
        self.queue.shutdown();
    }

    async fn worker(self: Arc<Self>) {
        while let Some(item) = self.queue.take().await {
            let key = item.key;
            let environment = &self.inner.shared.environment;
            let passed = environment.begin_pass(self.inner.source.kind(), key.namespace(), key.name());
            let pass = AssertUnwindSafe(self.inner.pass(&key)).catch_unwind();
            let next = pass.await.unwrap_or_else(|_| {
                tracing::error!(kind = %self.inner.source.kind(), object = %key, "the loop itself panicked in this pass");
                Next::Failed
            });
            if let Some(passed) = passed {
                passed(next.words());
            }
            self.schedule(&key, next, item.priority);
            self.queue.done(&key);
        }
    }

    fn schedule(&self, key: &ObjectKey, next: Next, priority: Priority) {
        if next != Next::Failed && next != Next::Soon {
            self.backoff.forget(key);
        }
        let after = match next {
            Next::AwaitChange => return,
            Next::Poll => match self.settings.poll {
                Some(period) => self.backoff.spread(period),
                None => return,
            },
            Next::Requeue => self.backoff.spread(self.settings.requeue),
            Next::After(period) => self.backoff.spread(period),
            Next::Failed => self.backoff.failed(key),
            Next::Soon => CATCH_UP,
        };
        self.queue.add_after(key.clone(), after.max(LEAST), priority);
    }
}
