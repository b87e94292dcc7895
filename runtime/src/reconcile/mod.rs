//! The loop: one level-triggered pass over one object.
//!
//! # Flow
//! 1. The object is read from the cache, and only if the cache has seen what the operator itself wrote last.
//! 2. Being deleted: once nothing names it any more, its tree is torn down, then what it names let go, then the finalizer
//!    removed. Paused: nothing at all; deletion wins over pause.
//! 3. The finalizer is stored before anything else happens.
//! 4. What the spec names is referenced, and waited for.
//! 5. The tree is provisioned; then what is no longer named is let go.
//! 6. The status is written once, and only if it differs. That of a foreign kind is left alone; events say the outcome.
//!
//! # Guarantees
//! A pass that finds everything as wanted makes no call. A crash between any two calls converges on restart. A panic of a
//! provisioner is an error of its pass.

pub(crate) mod concern;
mod conflict;
mod reference;
mod status;
mod stray;
mod teardown;
pub(crate) mod tree;

use crate::{
    cache::{Encoded, Entry, Header, ObjectKey, ReadError, ResourceVersion, Seen, Uid},
    condition::{Direction, Verdict},
    error::{Error, Result},
    event::EventType,
    kind::Kind,
    pass::{Again, Core, Identity, Left, Shared},
    provisioner::shape::Shape,
    reference::{Named, Pointer},
    source::{Selection, Source},
};
pub use concern::{News, RECONCILE};
use conflict::Conflicts;
use futures::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use status::Stored;
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

/// What a pass ends with: when the object is looked at again, unless something changes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Only when something changes.
    AwaitChange,
    /// After the controller's poll period, if it has one.
    Poll,
    /// After the requeue interval.
    Requeue,
    /// After the time that the pass, or the object, asks for.
    After(Duration),
    /// After an error.
    Failed,
    /// As soon as the cache has caught up, or somebody else's write has arrived.
    Soon,
}

impl Next {
    /// For whoever is told of passes.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::AwaitChange => "again when something changes",
            Self::Poll => "again after the poll period",
            Self::Requeue => "not done yet, again after the requeue interval",
            Self::After(_) => "again after the time that it asked for",
            Self::Failed => "failed, again after the interval for errors",
            Self::Soon => "again as soon as the cache has caught up",
        }
    }
}

impl Again {
    /// What a pass asked for holds unless it has to be repeated anyway: at once, or after an error.
    fn in_place_of(self, next: Next) -> Next {
        match (next, self.after) {
            (Next::Requeue, Some(after)) if self.soon => Next::After(after.min(REQUEUE)),
            (Next::Poll | Next::After(_) | Next::Requeue, Some(after)) => Next::After(after),
            (next, _) => next,
        }
    }
}

/// The typed part of a controller: a tree for a kind.
pub(crate) trait Reconciler: Send + Sync {
    /// Decodes an object.
    fn open(&self, entry: &Entry<Encoded>) -> Result<Box<dyn Opened + '_>, ReadError>;
    /// The object is gone.
    fn forget(&self, key: &ObjectKey);
    /// The tree, as data.
    fn shape(&self) -> &'static Shape;
    /// Whether the kind is the operator's own; the status of another is not to be written.
    fn owns_status(&self) -> bool;
}

/// A decoded object.
pub(crate) trait Opened: Stored {
    fn paused(&self) -> bool;
    /// How soon it is looked at again although all is well, if that is the object's own matter.
    fn period(&self) -> Option<Duration>;
    /// What the spec says of other objects.
    fn named(&self) -> Vec<Pointer>;
    /// Runs the tree; gives the status as the provisioners left it, unless it is as it is stored. A panic of a provisioner is an
    /// outcome, too.
    fn run<'a>(&'a self, core: Core<'a>, direction: Direction) -> BoxFuture<'a, (Result<()>, Option<Value>)>;
}

/// What the loop of one controller needs.
pub(crate) struct Loop {
    pub(crate) shared: Arc<Shared>,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) reconciler: Box<dyn Reconciler>,
    pub(crate) finalizer: String,
    /// The objects that are meant.
    selection: Selection,
    /// What was wanted of an object when it was parked: nothing is done for it until something else is.
    parked: Mutex<HashMap<ObjectKey, String>>,
    /// What was said last of objects whose status is not ours.
    said: Mutex<HashMap<ObjectKey, String>>,
    /// Objects that are to go, from which our finalizer was taken; until they are seen to be gone.
    released: Mutex<HashMap<ObjectKey, Uid>>,
    /// Objects whose status may be another than they show: nobody knows whether the last one was written.
    doubted: Mutex<HashSet<ObjectKey>>,
    /// How often in a row each tree met somebody else's write.
    conflicts: Conflicts,
    /// Which changes are worth a pass, where the controller says so.
    news: Option<News>,
}

/// How long after an unfinished pass the object is looked at again, if nothing happens before (unikorn §1.3).
pub const REQUEUE: Duration = Duration::from_secs(10);

/// How soon a pass is tried again that would have acted on an old state [Y1].
pub(crate) const CATCH_UP: Duration = Duration::from_millis(100);

impl Loop {
    pub(crate) fn new(
        shared: Arc<Shared>,
        source: Arc<dyn Source>,
        reconciler: Box<dyn Reconciler>,
        finalizer: String,
        selection: Selection,
        news: Option<News>,
    ) -> Self {
        let (parked, said, released, doubted, conflicts) = Default::default();
        Self { shared, source, reconciler, finalizer, selection, parked, said, released, doubted, conflicts, news }
    }

    /// One pass.
    pub(crate) async fn pass(&self, key: &ObjectKey) -> Next {
        // Asked before the object is read: else its next state could arrive in between, and the older one be acted on.
        let behind = self.is_behind(key);
        let Some(entry) = self.source.objects().store().get(key) else {
            let passed = self.pass_over_stray(key).await;
            return passed.unwrap_or_else(|error| self.interrupted(key, error));
        };
        if behind {
            return Next::Soon;
        }
        let header = &entry.header;
        let goes = header.deleting || !self.is_meant(header);
        if goes && (!header.finalizers.contains(&self.finalizer) || self.is_released(header)) {
            // Nothing of ours is left on it; others may still hold it.
            return Next::AwaitChange;
        }
        if !goes && self.is_parked(&entry) {
            return Next::AwaitChange;
        }
        let next = match self.reconciler.open(&entry) {
            Ok(opened) if header.deleting => self.tear_down(header, opened.as_ref()).await,
            Ok(opened) if opened.paused() => Ok(Next::AwaitChange),
            Ok(opened) if goes => self.tear_down(header, opened.as_ref()).await,
            Ok(opened) => self.build_up(&entry, opened.as_ref()).await,
            Err(error) if goes => self.tear_down_unread(&entry, error).await,
            Err(error) => self.say_unreadable(&entry, error).await,
        };
        next.unwrap_or_else(|error| self.interrupted(key, error))
    }

    async fn build_up(&self, entry: &Entry<Encoded>, opened: &dyn Opened) -> Result<Next> {
        let header = &entry.header;
        let mut claimed = Cow::Borrowed(header);
        if !self.finalizer.is_empty() && !header.finalizers.contains(&self.finalizer) {
            let version = self.source.claim(header, &self.finalizer).await?;
            self.wrote(header, &version);
            claimed.to_mut().resource_version = version;
            if !self.reconciler.owns_status() {
                self.said().insert(header.key.clone(), String::new());
            }
        }
        let (named, held) = self.hold_named(header, &self.named(opened)).await;
        let (outcome, status, left) = match held {
            Ok(()) => self.run(header, opened, &named, Direction::Up).await,
            Err(error) => (Err(error), None, Arc::default()),
        };
        if let Some(version) = left.version.lock().take() {
            claimed.to_mut().resource_version = version;
        }
        if outcome.is_ok() {
            let by_nodes = std::mem::take(&mut *left.referenced.lock());
            self.let_go_of_unnamed(&header.key, &named, &by_nodes).await?;
        }
        if outcome.is_ok() && *left.deleted.lock() {
            return Ok(Next::AwaitChange);
        }
        let said = left.said.lock().take();
        self.conclude(&claimed, Direction::Up, &outcome, said, (opened, status)).await?;
        let again = *left.again.lock();
        let next = match outcome {
            Ok(()) if again.soon => Next::Requeue,
            Ok(()) => opened.period().map_or(Next::Poll, Next::After),
            Err(error) => self.after(entry, error),
        };
        Ok(again.in_place_of(next))
    }

    /// Gives the outcome, the status if it is to be another, and what else is left.
    async fn run(
        &self,
        header: &Header,
        opened: &dyn Opened,
        named: &[Named],
        direction: Direction,
    ) -> (Result<()>, Option<Value>, Arc<Left>) {
        let mut core = Core::new(&self.shared, self.identity(header), &header.resource_version);
        core.named = named.iter().map(|named| (named.kind.clone(), named.key.clone())).collect();
        let left = core.left.clone();
        let (outcome, status) = opened.run(core, direction).await;
        (self.conflicts.judge(&header.key, outcome), status, left)
    }

    /// Writes the status and records the event of an outcome.
    async fn conclude(
        &self,
        header: &Header,
        direction: Direction,
        outcome: &Result<()>,
        said: Option<(String, String)>,
        (stored, left): (&dyn Stored, Option<Value>),
    ) -> Result<()> {
        let Some(mut verdict) = Verdict::of(direction, outcome) else { return Ok(()) };
        if outcome.is_ok()
            && let Some(said) = said
        {
            (verdict.reason, verdict.message) = said;
        }
        if let Err(error) = outcome
            && verdict.is_failure()
        {
            let (kind, object) = (self.source.kind(), &header.key);
            tracing::error!(%kind, %object, reason = verdict.reason, %error, "the pass failed");
        }
        if self.reconciler.owns_status() {
            return self.write_status(header, &verdict, stored, left).await;
        }
        self.say(header, &verdict);
        Ok(())
    }

    /// Tells an outcome where no status can: by an event, if it is another than before. That all is well is no news after a
    /// restart.
    fn say(&self, header: &Header, verdict: &Verdict) {
        let before = self.said().insert(header.key.clone(), verdict.reason.clone());
        if before.as_ref().map_or(verdict.is_ready(), |before| *before == verdict.reason) {
            return;
        }
        self.record(header, verdict);
    }

    fn record(&self, header: &Header, verdict: &Verdict) {
        let type_ = if verdict.is_failure() { EventType::Warning } else { EventType::Normal };
        let regarding = self.identity(header).regarding();
        self.shared.recorder.record(&regarding, type_, &verdict.reason, "Reconcile", &verdict.message);
    }

    async fn say_unreadable(&self, entry: &Entry<Encoded>, error: ReadError) -> Result<Next> {
        let outcome = Err(unreadable(&error));
        self.conclude(&entry.header, Direction::Up, &outcome, None, (&self.stored_status(entry), None)).await?;
        Ok(outcome.map_or_else(|error| self.after(entry, error), |()| Next::AwaitChange))
    }

    fn after(&self, entry: &Entry<Encoded>, error: Error) -> Next {
        match error {
            Error::Yield { .. } => Next::Requeue,
            Error::Conflict(_) => Next::Soon,
            Error::Unexpected(_) => Next::Failed,
            Error::UserAction { .. } | Error::Terminal { .. } => {
                self.parked().insert(entry.header.key.clone(), self.parked_at(entry));
                Next::AwaitChange
            }
        }
    }

    /// A call of the loop's own failed: finalizer or status.
    fn interrupted(&self, key: &ObjectKey, error: Error) -> Next {
        let kind = self.source.kind();
        match &error {
            Error::Conflict(_) => {
                tracing::debug!(%kind, object = %key, %error, "somebody else wrote it meanwhile");
                Next::Soon
            }
            Error::Unexpected(source) if is_gone(source.as_ref()) => Next::Soon,
            Error::Unexpected(source) => {
                let (reason, why) = crate::client::safe_sentence(source.as_ref());
                tracing::error!(%kind, object = %key, reason, why, %error, "the pass was cut short");
                Next::Failed
            }
            _ => Next::Requeue,
        }
    }

    fn is_behind(&self, key: &ObjectKey) -> bool {
        let behind = self.shared.own_writes.behind(key, |kind: &Option<Kind>| match kind {
            // What left the selection isn't shown any more.
            None if self.source.selects() && self.source.objects().store().get(key).is_none() => Seen::Incomparable,
            None => self.source.health().seen(self.source.objects().store().seen()),
            Some(kind) => match self.shared.children.get(kind) {
                Some(children) => children.health.seen(children.store.seen()),
                None => Seen::Incomparable,
            },
        });
        behind.is_some()
    }

    fn wrote(&self, header: &Header, version: &ResourceVersion) {
        self.shared.own_writes.record(&header.key, &header.uid, None, version);
    }

    fn identity(&self, header: &Header) -> Identity {
        Identity { kind: self.source.kind().clone(), key: header.key.clone(), uid: header.uid.clone() }
    }

    fn is_parked(&self, entry: &Entry<Encoded>) -> bool {
        let mut parked = self.parked();
        match parked.get(&entry.header.key) {
            Some(held) if *held == self.parked_at(entry) => true,
            Some(_) => parked.remove(&entry.header.key).is_none(),
            None => false,
        }
    }

    fn parked(&self) -> MutexGuard<'_, HashMap<ObjectKey, String>> {
        self.parked.lock()
    }

    fn said(&self) -> MutexGuard<'_, HashMap<ObjectKey, String>> {
        self.said.lock()
    }
}

fn unreadable(error: &ReadError) -> Error {
    let why = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    Error::terminal("Undecodable", format!("the object doesn't have the form of its kind: {why}"))
}

/// The object vanished under the pass; the watch will say so.
fn is_gone(source: &(dyn std::error::Error + 'static)) -> bool {
    source.downcast_ref::<crate::client::CallError>().is_some_and(crate::client::CallError::is_not_found)
}
