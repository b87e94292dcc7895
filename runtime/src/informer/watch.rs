//! `WatchedKind`: the store that a watch fills, with the `Health` that tracks the state of the watch.

use crate::{
    cache::{ObjectKey, ResourceVersion, Revision, Store, WatchProgress},
    client::MissingRule,
    error::{Error, Result},
    kind::Kind,
};
use parking_lot::Mutex;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{sync::watch, time::Instant};

/// The time that the restart of a watch may take. A watch that expires is open again much sooner.
pub(crate) const MAX_RESTART: Duration = Duration::from_secs(3);

/// The state of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum WatchState {
    /// The first list is not complete.
    Starting,
    /// The list is complete and the watch is open.
    Following,
    /// The cluster doesn't have the kind; the watch retries until it has.
    Missing,
    /// The role doesn't allow to list or watch the kind.
    Forbidden(MissingRule),
    /// The watch is closed and retries: the API server can't be reached, responds with errors, or has ended the watch. The store
    /// keeps the objects of before.
    Failing(String),
}

/// The health of one watch. It logs one line when the watch begins to fail and one when it works again. Clones share the state.
#[derive(Clone, Debug)]
pub(crate) struct Health {
    kind: Kind,
    state: watch::Sender<WatchState>,
    /// The highest resourceVersion at which the watch was opened.
    opened_at: Arc<AtomicU64>,
    outage: Arc<Mutex<Option<Outage>>>,
    /// The number of restarts, for any reason.
    restarts: Arc<AtomicU64>,
    /// The number of objects whose processing panicked.
    panics: Arc<AtomicU64>,
}

/// The time since the watch was last open.
#[derive(Debug)]
struct Outage {
    since: Instant,
    /// The number of failures; 0 if the watch only expired or was throttled.
    failures: u64,
}

impl Health {
    /// Returns the health of a watch that has not started.
    pub(crate) fn new(kind: Kind) -> Self {
        let state = watch::Sender::new(WatchState::Starting);
        Self {
            kind,
            state,
            opened_at: Arc::default(),
            outage: Arc::default(),
            restarts: Arc::default(),
            panics: Arc::default(),
        }
    }

    /// Returns the kind of the watched objects.
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Counts an object whose processing panicked.
    pub(crate) fn count_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of objects whose processing panicked.
    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Returns the current state.
    pub(crate) fn state(&self) -> WatchState {
        self.state.borrow().clone()
    }

    /// Sets the state. Logs it if it is new, and counts and logs each failure, also if it repeats the last one.
    pub(crate) fn set(&self, state: WatchState) {
        self.state.send_if_modified(|current| {
            let is_new = *current != state;
            self.log(&state, is_new);
            *current = state;
            is_new
        });
    }

    /// Sets the state `Failing` without a warning: the watch expired, or the API server throttled it, as happens in a healthy
    /// cluster. Logs at debug level, and counts no failure.
    pub(crate) fn set_restarting(&self, why: String) {
        tracing::debug!(kind = %self.kind, %why, "the watch restarts");
        self.outage.lock().get_or_insert_with(|| Outage { since: Instant::now(), failures: 0 });
        // The store gets no changes until the watch is open again, so readers see the same state as after a failure.
        self.state.send_replace(WatchState::Failing(why));
    }

    /// Counts a restart of the watch, for any reason.
    pub(crate) fn count_restart(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of restarts of the watch.
    pub(crate) fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }

    /// Returns whether both are the health of the same watch.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.restarts, &other.restarts)
    }

    /// Logs a state, and counts the failures of the current outage; `is_new` if the state differs from the one before. A failing watch
    /// gets one warning when its outage begins and one message when it recovers.
    fn log(&self, state: &WatchState, is_new: bool) {
        let (kind, mut outage) = (&self.kind, self.outage.lock());
        // An outage without failures is a watch that only expired or was throttled. It is not reported.
        let only_restarted = outage.take_if(|outage| outage.failures == 0).is_some();
        match (state, outage.as_mut()) {
            (WatchState::Failing(why), None) => {
                *outage = Some(Outage { since: Instant::now(), failures: 1 });
                tracing::warn!(%kind, error = %why, "the watch failed; retrying until it recovers");
            }
            (WatchState::Failing(why), Some(outage)) => {
                outage.failures += 1;
                tracing::debug!(%kind, error = %why, "the watch failed again");
            }
            (WatchState::Following, Some(failed)) => {
                let (failures, seconds) = (failed.failures, failed.since.elapsed().as_secs());
                tracing::info!(%kind, failures, seconds, "the watch recovered");
                *outage = None;
            }
            _ if !is_new => {}
            (WatchState::Following, None) if only_restarted => {
                tracing::debug!(%kind, "the watch is open again")
            }
            (WatchState::Starting, _) => {}
            (WatchState::Following, None) => tracing::info!(%kind, "watching"),
            (WatchState::Missing, _) => tracing::warn!(%kind, "the cluster does not serve this kind; waiting for it"),
            (WatchState::Forbidden(rule), _) => tracing::error!(%kind, "{rule}"),
        }
    }

    /// Returns whether the watch has been closed for longer than a restart takes.
    pub(crate) fn has_failed(&self) -> bool {
        self.outage.lock().as_ref().is_some_and(|outage| outage.since.elapsed() >= MAX_RESTART)
    }

    /// Records that the API server has opened a watch, which delivers the changes after `version`.
    pub(crate) fn open(&self, version: &ResourceVersion) {
        self.opened_at.fetch_max(version.number().unwrap_or_default(), Ordering::Relaxed);
        self.set(WatchState::Following);
    }

    /// Returns the resourceVersion up to which the store of this watch is current. `store_progress` is the version that the store itself
    /// knows from its objects.
    ///
    /// The watch opens at the version of the list, which may be higher than those of the listed objects, for example after deletions. A
    /// watch of a missing or forbidden kind never catches up, so its store is incomparable, and no pass waits for it.
    pub(crate) fn watch_progress(&self, store_progress: WatchProgress) -> WatchProgress {
        if self.is_blocked() {
            WatchProgress::Incomparable
        } else {
            store_progress.at_least(self.opened_at.load(Ordering::Relaxed))
        }
    }

    /// Returns whether the kind is missing or forbidden.
    pub(crate) fn is_blocked(&self) -> bool {
        matches!(*self.state.borrow(), WatchState::Missing | WatchState::Forbidden(_))
    }

    /// Subscribes to changes of the state.
    pub(crate) fn subscribe(&self) -> watch::Receiver<WatchState> {
        self.state.subscribe()
    }

    /// Returns whether a controller has to wait for this watch before it starts. It doesn't wait for a missing kind or a missing
    /// permission, which may take forever: its passes report them.
    pub(crate) fn is_undecided(&self) -> bool {
        matches!(*self.state.borrow(), WatchState::Starting | WatchState::Failing(_))
    }
}

/// The objects of one kind: the store that a watch fills with projections `V`, and the health of that watch.
#[derive(Debug)]
pub(crate) struct WatchedKind<V> {
    pub(crate) kind: Kind,
    pub(crate) store: Store<V>,
    pub(crate) health: Health,
    /// Whether the store keeps whole objects, because a node reads them.
    pub(crate) keeps_objects: bool,
    /// Whether every node of the kind works without it.
    pub(crate) optional: bool,
}

impl<V> WatchedKind<V> {
    pub(crate) fn new(kind: Kind, keeps_objects: bool) -> Self {
        let store = Store::default();
        Self { store, health: Health::new(kind.clone()), kind, keeps_objects, optional: false }
    }

    /// Checks that the store can be read: its first list is complete, and the kind is neither missing nor forbidden.
    ///
    /// # Errors
    /// A yield with the reason if it can't.
    pub(crate) fn check_readable(&self) -> Result<()> {
        let kind = &self.kind;
        match self.health.state() {
            WatchState::Missing => Err(Error::yielding("KindMissing", format!("the cluster does not serve {kind}"))),
            WatchState::Forbidden(rule) => Err(Error::yielding("Forbidden", rule.to_string())),
            _ if self.store.synced() => Ok(()),
            _ => Err(Error::yielding("CacheNotSynced", format!("waiting for the first list of {kind}"))),
        }
    }
}

/// The revisions of the objects in the store of a watch, whatever the projection.
pub(crate) trait WatchedRevisions: Send + Sync {
    fn kind(&self) -> &Kind;
    /// Returns the revision of an object; `None` if the store doesn't have it.
    fn revision(&self, key: &ObjectKey) -> Option<Revision>;
}

impl<V: Send + Sync> WatchedRevisions for WatchedKind<V> {
    fn kind(&self) -> &Kind {
        &self.kind
    }

    fn revision(&self, key: &ObjectKey) -> Option<Revision> {
        self.store.get(key).map(|entry| Revision::of(&entry.header))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kind::kind_of, log::Log};
    use k8s_openapi::api::core::v1::Pod;

    #[tokio::test(start_paused = true)]
    async fn trouble_is_one_line_when_it_begins_and_one_when_it_ends() {
        let (log, health) = (Log::capture(), Health::new(kind_of::<Pod>()));
        health.set(WatchState::Following);
        for number in 0..20 {
            health.set(WatchState::Failing(format!("refused, attempt {number}")));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        health.set(WatchState::Following);
        health.set(WatchState::Following);
        // An expired watch is no trouble, and one that expires while there is trouble does not end it.
        health.set_restarting("too old".to_owned());
        health.set(WatchState::Following);
        assert_eq!(
            log.lines(),
            [
                "INFO watching kind=Pod",
                "WARN the watch failed; retrying until it recovers kind=Pod error=refused, attempt 0",
                "INFO the watch recovered kind=Pod failures=20 seconds=20",
            ]
        );
    }
}
