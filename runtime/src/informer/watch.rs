//! `Health` of each watch, and the store of the children that it fills.

use crate::{
    cache::{ObjectKey, ResourceVersion, Revision, Seen, Store, Unowned},
    client::MissingRule,
    error::{Error, Result},
    kind::Kind,
};
use parking_lot::Mutex;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tokio::{sync::watch, time::Instant};

/// How the watch of a kind is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchState {
    /// The first list is on its way.
    Starting,
    /// Listed, and following changes.
    Following,
    /// The cluster doesn't know the kind; it is waited for.
    Missing,
    /// The role doesn't allow it.
    Forbidden(MissingRule),
    /// The API server can't be reached, or answers with errors; what was seen before is still there.
    Failing(String),
}

/// The state of one watch. The log has one line when trouble begins and one when it ends. Clones are of the same watch.
#[derive(Clone, Debug)]
pub struct Health {
    kind: Kind,
    state: watch::Sender<WatchState>,
    opened_at: Arc<AtomicU64>,
    trouble: Arc<Mutex<Option<FailureStreak>>>,
}

/// Failures in a row, since the watch was last in order; none if it only began anew.
#[derive(Debug)]
struct FailureStreak {
    since: Instant,
    failures: u64,
}

impl Health {
    /// A watch that has not begun.
    pub fn new(kind: Kind) -> Self {
        let state = watch::Sender::new(WatchState::Starting);
        Self { kind, state, opened_at: Arc::default(), trouble: Arc::default() }
    }

    /// What is watched.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The state now.
    pub fn state(&self) -> WatchState {
        self.state.borrow().clone()
    }

    /// Takes note of a state.
    pub fn set(&self, state: WatchState) {
        self.state.send_if_modified(|held| {
            self.log(&state, *held != state);
            let differs = *held != state;
            *held = state;
            differs
        });
    }

    /// Takes note of an answer after which the watch begins anew and which is no trouble: it expired, or the API server asked for
    /// time. The log says no more of it than for debugging.
    pub(crate) fn begins_anew(&self, why: String) {
        tracing::debug!(kind = %self.kind, %why, "the watch begins anew");
        self.trouble.lock().get_or_insert_with(|| FailureStreak { since: Instant::now(), failures: 0 });
        self.state.send_replace(WatchState::Failing(why));
    }

    fn log(&self, state: &WatchState, differs: bool) {
        let (kind, mut trouble) = (&self.kind, self.trouble.lock());
        let only_began_anew = trouble.take_if(|trouble| trouble.failures == 0).is_some();
        match (state, trouble.as_mut()) {
            (WatchState::Failing(why), None) => {
                *trouble = Some(FailureStreak { since: Instant::now(), failures: 1 });
                tracing::warn!(%kind, error = %why, "the watch failed and is tried again until it works");
            }
            (WatchState::Failing(why), Some(trouble)) => {
                trouble.failures += 1;
                tracing::debug!(%kind, error = %why, "the watch failed again");
            }
            (WatchState::Following, Some(ended)) => {
                let (failures, seconds) = (ended.failures, ended.since.elapsed().as_secs());
                tracing::info!(%kind, failures, seconds, "the watch works again");
                *trouble = None;
            }
            _ if !differs => {}
            (WatchState::Following, None) if only_began_anew => {
                tracing::debug!(%kind, "the watch is open again")
            }
            (WatchState::Starting, _) => {}
            (WatchState::Following, None) => tracing::info!(%kind, "watching"),
            (WatchState::Missing, _) => tracing::warn!(%kind, "the cluster has no such kind; waiting for it"),
            (WatchState::Forbidden(rule), _) => tracing::error!(%kind, "{rule}"),
        }
    }

    /// Takes note of a watch that is open, and tells what happens after `version`.
    pub fn open(&self, version: &ResourceVersion) {
        self.opened_at.fetch_max(version.number().unwrap_or_default(), Ordering::Relaxed);
        self.set(WatchState::Following);
    }

    /// How far a store has come that this watch fills, where the objects in it show `shown`.
    ///
    /// A listing has no version of what is gone by then; the watch that begins after it does. A watch that shows nothing
    /// any more never catches up, so nothing is waited for.
    pub(crate) fn seen(&self, shown: Seen) -> Seen {
        if self.is_blocked() { Seen::Incomparable } else { shown.at_least(self.opened_at.load(Ordering::Relaxed)) }
    }

    /// Whether the kind is missing or not allowed.
    pub fn is_blocked(&self) -> bool {
        matches!(*self.state.borrow(), WatchState::Missing | WatchState::Forbidden(_))
    }

    /// Follows the state.
    pub fn subscribe(&self) -> watch::Receiver<WatchState> {
        self.state.subscribe()
    }

    /// Whether there is something to wait for before work can begin. What may take for ever (a missing kind, a missing
    /// permission) is not waited for: passes say it.
    pub fn is_undecided(&self) -> bool {
        matches!(*self.state.borrow(), WatchState::Starting | WatchState::Failing(_))
    }
}

/// The children of one kind, as a watch shows them.
#[derive(Debug)]
pub(crate) struct Watched<V> {
    pub(crate) kind: Kind,
    pub(crate) store: Store<V>,
    pub(crate) health: Health,
    /// Whether objects are kept as a whole, since a node reads them.
    pub(crate) whole: bool,
    /// Objects whose owner reference somebody else removed.
    pub(crate) unowned: Unowned,
    /// Whether every node of the kind can do without it.
    pub(crate) optional: bool,
}

impl<V> Watched<V> {
    pub(crate) fn new(kind: Kind, whole: bool) -> Self {
        let (store, unowned) = Default::default();
        Self { store, unowned, health: Health::new(kind.clone()), kind, whole, optional: false }
    }

    /// Whether the store can be read: it has been listed once, and its kind is there.
    ///
    /// # Errors
    /// A yield that says what is waited for.
    pub(crate) fn readable(&self) -> Result<()> {
        let kind = &self.kind;
        match self.health.state() {
            WatchState::Missing => Err(Error::yielding("KindMissing", format!("the cluster has no kind {kind}"))),
            WatchState::Forbidden(rule) => Err(Error::yielding("Forbidden", rule.to_string())),
            _ if self.store.synced() => Ok(()),
            _ => Err(Error::yielding("CacheNotSynced", format!("waiting for the first list of {kind}"))),
        }
    }
}

/// What a watch shows of the objects of a kind, whatever else is kept of them.
pub(crate) trait Shows: Send + Sync {
    fn kind(&self) -> &Kind;
    /// The revision of an object; `None` if the watch does not show it.
    fn revision(&self, key: &ObjectKey) -> Option<Revision>;
}

impl<V: Send + Sync> Shows for Watched<V> {
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
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
        }
        health.set(WatchState::Following);
        health.set(WatchState::Following);
        // An expired watch is no trouble, and one that expires while there is trouble does not end it.
        health.begins_anew("too old".to_owned());
        health.set(WatchState::Following);
        assert_eq!(
            log.lines(),
            [
                "INFO watching kind=Pod",
                "WARN the watch failed and is tried again until it works kind=Pod error=refused, attempt 0",
                "INFO the watch works again kind=Pod failures=20 seconds=20",
            ]
        );
    }
}
