//! The end of what nobody tears down: children, as the garbage collector does it for owner references, by their marks; and
//! references of objects that are gone.
//!
//! # Flow
//! 1. Once the watches are decided, and again whenever one of them recovers, all marked children are looked through; when a
//!    primary leaves the cache, its own are.
//! 2. A child is an orphan if its mark names a kind that this operator controls, in the scope that it watches, and an owner
//!    that the cache doesn't have.
//! 3. The cache is not believed alone: another replica may have seen a new owner earlier. A live look for the owner decides;
//!    then the child is deleted, and no other that may have taken its name.
//!
//! Of a kind whose watch is not in order nothing is swept: an empty cache proves nothing.

use crate::{
    cache::{Change, Encoded, Entry, Uid},
    client::{CallError, Client, Target},
    controller::running::Running,
    error::{Error, Result},
    kind::Kind,
    provisioner::{child::Child, mark::Mark, removal::of_this},
    watch::{Health, WatchState, Watched},
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::mpsc;

/// How long after an owner has left the cache its children are looked for: what a teardown removed is gone from theirs by then.
const GRACE: Duration = Duration::from_secs(1);
/// How soon after a failed call all is looked through again.
const RETRY: Duration = Duration::from_secs(30);

/// What is looked through.
#[derive(Debug)]
pub(crate) enum Search {
    /// The children of one owner.
    Owner(Uid),
    /// All marked children.
    All,
}

/// Tells the sweep of what happens.
#[derive(Clone, Debug)]
pub(crate) struct Broom(mpsc::UnboundedSender<Search>);

impl Broom {
    /// A broom, and what it asks for.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Search>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// A primary changed.
    pub(crate) fn on_primary(&self, change: &Change<Encoded>) {
        match change {
            Change::Deleted { old } => self.ask(Search::Owner(old.header.uid.clone())),
            Change::Updated { old, new } if old.header.uid != new.header.uid => {
                self.ask(Search::Owner(old.header.uid.clone()));
            }
            Change::Added { .. } | Change::Updated { .. } | Change::Unchanged => {}
        }
    }

    /// Asks for a look at everything whenever a watch is in order again, for ever.
    pub(crate) async fn follow(self, health: Health) {
        let mut state = health.subscribe();
        while state.changed().await.is_ok() {
            if is_in_order(&state.borrow_and_update()) {
                self.on_recovery();
            }
        }
    }

    /// A watch is in order again, or for the first time.
    pub(crate) fn on_recovery(&self) {
        self.ask(Search::All);
    }

    fn ask(&self, search: Search) {
        // Nobody sweeps any more once the operator ends.
        let _ = self.0.send(search);
    }
}

/// What the sweep looks through.
pub(crate) struct Sweep {
    pub(crate) client: Client,
    /// The only namespace that is watched, if there is one.
    pub(crate) namespace: Option<String>,
    pub(crate) children: BTreeMap<Kind, Arc<Watched<Child>>>,
    pub(crate) controllers: Vec<Arc<Running>>,
}

impl Sweep {
    /// Sweeps for ever.
    pub(crate) async fn run(self, broom: Broom, mut searches: mpsc::UnboundedReceiver<Search>) {
        while let Some(first) = searches.recv().await {
            tokio::time::sleep(GRACE).await;
            let mut waiting = vec![first];
            while let Ok(search) = searches.try_recv() {
                waiting.push(search);
            }
            let swept = self.sweep(&waiting).await.map_err(Error::from);
            if let Err(error) = swept.and(self.release(&waiting).await) {
                tracing::warn!(%error, "what objects that are gone left behind could not be removed; it is tried again");
                let broom = broom.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(RETRY).await;
                    broom.on_recovery();
                });
            }
        }
    }

    async fn sweep(&self, searches: &[Search]) -> Result<(), CallError> {
        for children in self.children.values().filter(|children| is_in_order(&children.health.state())) {
            for child in found(children, searches) {
                if let Some(mark) = Mark::of(&child.header)
                    && let Some(kind) = self.is_unknown(&mark)
                    && !child.header.deleting
                    && self.is_gone(&kind, &mark).await?
                {
                    self.delete(&children.kind, &child, &mark).await?;
                }
            }
        }
        Ok(())
    }

    /// What is referenced by an object that went while nobody looked, and what left a selection then.
    async fn release(&self, searches: &[Search]) -> Result<()> {
        if !searches.iter().any(|search| matches!(search, Search::All)) {
            return Ok(());
        }
        for controller in &self.controllers {
            controller.inner.strays().await?.into_iter().for_each(|key| controller.wake(key));
            let (source, targets) = (&controller.inner.source, &controller.inner.shared.targets);
            let in_order = |health: &Health| is_in_order(&health.state());
            if in_order(source.health()) && targets.values().all(|targets| in_order(&targets.watched.health)) {
                controller.inner.release_stuck(self.namespace.as_deref()).await?;
            }
        }
        Ok(())
    }

    /// The kind of an owner that should be in the cache and isn't.
    fn is_unknown(&self, mark: &Mark<'_>) -> Option<Kind> {
        if self.namespace.as_deref().is_some_and(|namespace| namespace != mark.namespace) {
            return None;
        }
        let of_kind = |controller: &&Arc<Running>| controller.inner.source.kind().full_name() == mark.kind;
        let source = &self.controllers.iter().find(of_kind)?.inner.source;
        let store = source.objects().store();
        if !is_in_order(&source.health().state()) || !store.synced() {
            return None;
        }
        let known = store.get(&mark.key()).is_some_and(|owner| owner.header.uid == mark.uid());
        (!known).then(|| source.kind().clone())
    }

    async fn is_gone(&self, kind: &Kind, mark: &Mark<'_>) -> Result<bool, CallError> {
        let namespace = Some(mark.namespace).filter(|namespace| !namespace.is_empty());
        let target = Target { kind, namespace, name: mark.name };
        let owners = self.client.list_named(target).await?;
        let uids = owners["items"].as_array().into_iter().flatten().map(|owner| owner["metadata"]["uid"].as_str());
        Ok(!uids.flatten().any(|uid| uid == mark.uid))
    }

    async fn delete(&self, kind: &Kind, child: &Entry<Child>, mark: &Mark<'_>) -> Result<(), CallError> {
        let header = &child.header;
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        match self.client.delete(target, &of_this(kind, &header.uid)).await {
            Ok(_) => tracing::info!(%kind, object = %header.key, owner = %mark, "deleted, since its owner is gone"),
            // Another object has taken its name.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn is_in_order(state: &WatchState) -> bool {
    *state == WatchState::Following
}

fn found(children: &Watched<Child>, searches: &[Search]) -> Vec<Arc<Entry<Child>>> {
    if searches.iter().any(|search| matches!(search, Search::All)) {
        return children.store.entries();
    }
    let owned = |search: &Search| match search {
        Search::Owner(uid) => children.store.owned_by(uid),
        Search::All => Vec::new(),
    };
    searches.iter().flat_map(owned).collect()
}
