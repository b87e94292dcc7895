//! How watches are doing, and what they show of children.

use crate::{
    cache::{ResourceVersion, Seen, Store},
    client::MissingRule,
    error::{Error, Result},
    kind::Kind,
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tokio::sync::watch;

/// How the watch of a kind is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The state of one watch; changes are said in the log, once. Clones are of the same watch.
#[derive(Clone, Debug)]
pub struct Health {
    kind: Kind,
    state: watch::Sender<WatchState>,
    opened_at: Arc<AtomicU64>,
}

impl Health {
    /// A watch that has not begun.
    pub fn new(kind: Kind) -> Self {
        Self { kind, state: watch::Sender::new(WatchState::Starting), opened_at: Arc::default() }
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
            if *held == state {
                return false;
            }
            let kind = &self.kind;
            match &state {
                WatchState::Starting => {}
                WatchState::Following => tracing::info!(%kind, "watching"),
                WatchState::Missing => tracing::warn!(%kind, "the cluster has no such kind; waiting for it"),
                WatchState::Forbidden(rule) => tracing::error!(%kind, "{rule}"),
                WatchState::Failing(why) => tracing::warn!(%kind, error = %why, "the watch failed and is tried again"),
            }
            *held = state;
            true
        });
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
    /// Whether every node of the kind can do without it.
    pub(crate) optional: bool,
}

impl<V> Watched<V> {
    pub(crate) fn new(kind: Kind, whole: bool) -> Self {
        Self { store: Store::default(), health: Health::new(kind.clone()), kind, whole, optional: false }
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
