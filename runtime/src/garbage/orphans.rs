//! Collects orphans: children whose owner is gone, by their marks, as the garbage collector does it by owner references; and
//! references of objects that are gone.
//!
//! # Flow
//! 1. Once the watches are decided, and again whenever one of them recovers, all marked children are looked through; when a
//!    primary leaves the cache, its own are.
//! 2. A child is an orphan if its mark names a kind that this operator controls, in the scope that it watches, and an owner
//!    that the cache doesn't have.
//! 3. The cache is not believed alone: another replica may have seen a new owner earlier. A live look for the owner decides;
//!    then the child is deleted, and no other that may have taken its name.
//! 4. Each kind of children, and the references of each controller, is a part of its own: one that fails is tried again with
//!    growing delays, where it stopped, and the others go on.
//!
//! A kind whose watch is not healthy is not collected, because an empty cache proves nothing.

use crate::{
    cache::{Change, Encoded, Entry, ObjectKey, Uid},
    client::{CallError, Client, Target},
    controller::worker::Running,
    counters::Counters,
    engine::{child::Child, deletion::of_this, owner_mark::Mark},
    error::{Error, Result},
    informer::watch::{Health, WatchState, Watched},
    kind::Kind,
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{sync::mpsc, time::Instant};

/// How long after an owner has left the cache its children are looked for: what a teardown removed is gone from theirs by then.
const GRACE: Duration = Duration::from_secs(1);
/// How soon after a failed call its part is looked through again: at first, and at most.
const RETRY: Duration = Duration::from_secs(30);
const LONGEST_RETRY: Duration = Duration::from_secs(600);
/// How many children in a row may fail before the rest of their kind waits for the next try.
const FAILURES: u32 = 5;

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
    pub(crate) counters: Counters,
}

/// A part of the collection, which fails and is tried again by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SearchPart {
    /// The children of a kind.
    Children(Kind),
    /// The references of the objects of a controller, by its number.
    References(usize),
}

/// A part that failed.
#[derive(Clone, Debug)]
struct Retry {
    failures: u32,
    at: Instant,
    /// The child after which it goes on.
    after: Option<ObjectKey>,
}

impl Retry {
    fn new(before: Option<&Self>, after: Option<ObjectKey>) -> Self {
        let failures = before.map_or(0, |before| before.failures);
        let delay = RETRY.saturating_mul(1 << failures.min(8)).min(LONGEST_RETRY);
        Self { failures: failures + 1, at: Instant::now() + delay, after }
    }
}

/// Why a part failed, and the child at which it stopped.
struct Failure {
    error: Error,
    at: Option<ObjectKey>,
}

impl Sweep {
    /// Collects for ever.
    pub(crate) async fn run(&self, searches: &mut mpsc::UnboundedReceiver<Search>) {
        let mut retries = BTreeMap::<SearchPart, Retry>::new();
        loop {
            let next = retries.values().map(|retry| retry.at).min();
            let mut waiting = Vec::new();
            tokio::select! {
                biased;
                search = searches.recv() => match search {
                    Some(search) => waiting.push(search),
                    None => return,
                },
                () = tokio::time::sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
            }
            if !waiting.is_empty() {
                tokio::time::sleep(GRACE).await;
            }
            while let Ok(search) = searches.try_recv() {
                waiting.push(search);
            }
            for part in self.parts() {
                let before = retries.get(&part).cloned();
                let is_due = before.as_ref().is_some_and(|retry| retry.at <= Instant::now());
                let searches = if is_due { &[Search::All][..] } else { &waiting };
                if searches.is_empty() {
                    continue;
                }
                match self.collect(&part, searches, before.as_ref().and_then(|retry| retry.after.as_ref())).await {
                    // What was asked for is only some of what failed before.
                    Ok(()) if before.is_some() && !has_all(searches) => {}
                    Ok(()) => drop(retries.remove(&part)),
                    Err(Failure { error, at }) => {
                        // A search for less than all does not put off the search for all.
                        let retry = match before {
                            Some(before) if !is_due => before,
                            before => Retry::new(before.as_ref(), at),
                        };
                        self.say_failed(&part, &error, &retry);
                        retries.insert(part, retry);
                    }
                }
            }
        }
    }

    fn parts(&self) -> Vec<SearchPart> {
        let children = self.children.keys().cloned().map(SearchPart::Children);
        children.chain((0..self.controllers.len()).map(SearchPart::References)).collect()
    }

    async fn collect(&self, part: &SearchPart, searches: &[Search], after: Option<&ObjectKey>) -> Result<(), Failure> {
        match part {
            SearchPart::Children(kind) => match self.children.get(kind) {
                Some(children) => self.sweep(children, searches, after).await,
                None => Ok(()),
            },
            SearchPart::References(number) => match self.controllers.get(*number).filter(|_| has_all(searches)) {
                Some(controller) => self.release(controller).await.map_err(|error| Failure { error, at: None }),
                None => Ok(()),
            },
        }
    }

    fn say_failed(&self, part: &SearchPart, error: &Error, retry: &Retry) {
        let (failures, again) = (retry.failures, retry.at.saturating_duration_since(Instant::now()).as_secs());
        match part {
            SearchPart::Children(kind) => {
                tracing::warn!(%kind, %error, failures, "failed to collect orphans; trying again in {again} s");
            }
            SearchPart::References(number) => {
                let kind = self.controllers.get(*number).map(|controller| controller.inner.source.kind().to_string());
                tracing::warn!(kind, %error, failures, "failed to release references; trying again in {again} s");
            }
        }
    }

    /// Deletes the orphans of a kind: those after a child first. One that fails does not keep the next from being deleted.
    async fn sweep(
        &self,
        children: &Watched<Child>,
        searches: &[Search],
        after: Option<&ObjectKey>,
    ) -> Result<(), Failure> {
        if !is_in_order(&children.health.state()) {
            return Ok(());
        }
        let (mut failure, mut in_a_row) = (None, 0);
        let (mut first, found): (Vec<_>, Vec<_>) = found(children, searches)
            .into_iter()
            .partition(|child| after.is_some_and(|after| child.header.key > *after));
        first.extend(found);
        for child in first {
            match self.sweep_one(children, &child).await {
                Ok(()) => in_a_row = 0,
                Err(error) => {
                    self.counters.count_orphan(&children.kind, false);
                    in_a_row += 1;
                    failure = Some(Failure { error: error.into(), at: Some(child.header.key.clone()) });
                    if in_a_row == FAILURES {
                        break;
                    }
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    async fn sweep_one(&self, children: &Watched<Child>, child: &Entry<Child>) -> Result<(), CallError> {
        if let Some(mark) = Mark::of(&child.header)
            && let Some(kind) = self.is_unknown(&mark)
            && !child.header.deleting
            && self.is_gone(&kind, &mark).await?
        {
            self.delete(&children.kind, child, &mark).await?;
        }
        Ok(())
    }

    /// What is referenced by an object that went while nobody looked, and what left a selection then.
    async fn release(&self, controller: &Arc<Running>) -> Result<()> {
        controller.inner.strays().await?.into_iter().for_each(|key| controller.wake(key, true));
        let (source, targets) = (&controller.inner.source, &controller.inner.shared.targets);
        let in_order = |health: &Health| is_in_order(&health.state());
        if in_order(source.health()) && targets.values().all(|targets| in_order(&targets.watched.health)) {
            controller.inner.release_stuck(self.namespace.as_deref()).await?;
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
        let owner = self.client.list_named(target).await?;
        Ok(owner.is_none_or(|owner| owner["metadata"]["uid"] != mark.uid))
    }

    async fn delete(&self, kind: &Kind, child: &Entry<Child>, mark: &Mark<'_>) -> Result<(), CallError> {
        let header = &child.header;
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        match self.client.delete(target, &of_this(kind, &header.uid)).await {
            Ok(_) => {
                self.counters.count_orphan(kind, true);
                tracing::info!(%kind, object = %header.key, owner = %mark, "deleted, since its owner is gone");
            }
            // Another object has taken its name.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn has_all(searches: &[Search]) -> bool {
    searches.iter().any(|search| matches!(search, Search::All))
}

fn is_in_order(state: &WatchState) -> bool {
    *state == WatchState::Following
}

fn found(children: &Watched<Child>, searches: &[Search]) -> Vec<Arc<Entry<Child>>> {
    if has_all(searches) {
        return children.store.entries();
    }
    let owned = |search: &Search| match search {
        Search::Owner(uid) => children.store.owned_by(uid),
        Search::All => Vec::new(),
    };
    searches.iter().flat_map(owned).collect()
}
