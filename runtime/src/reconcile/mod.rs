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
//! provisioner is an error of its pass. A pass that achieved nothing for good (an error, a conflict, a repair that another client
//! undoes again and again) is repeated at most as often as its backoff says, whoever wakes it; only a user's change ends the
//! backoff. What is known of an object ends with its uid.

mod brake;
pub(crate) mod change;
pub(crate) mod control_loop;
pub(crate) mod deselected;
pub(crate) mod next;
mod orphan;
pub(crate) mod panics;
mod recent;
pub(crate) mod reconciler;
mod reference;
mod settled;
mod state;
mod status;
mod status_merge;
pub(crate) mod stored_status;
mod teardown;
pub(crate) mod tree;
pub(crate) mod trigger;
mod unreadable;

pub(crate) use crate::reconcile::change::News;
use crate::{
    cache::{Encoded, Entry, Header, ObjectKey, ReadError, ResourceVersion, Seen, Uid},
    condition::{Direction, Verdict},
    engine::{
        identity::Identity,
        pass::{Core, Left, Shared},
        repair::Damage,
    },
    error::{Error, Result},
    event::EventType,
    informer::source::{Selection, Source},
    kind::Kind,
    panic::{Closure, Panicked, catch},
    predicate::Worth,
    queue::{Delay, Trigger},
    reconcile::{
        control_loop::Loop,
        reconciler::{Opened, Reconciler},
        stored_status::Stored,
    },
    reference::Named,
};
use futures::FutureExt;
pub(crate) use next::Next;
use panics::Reported;
use serde_json::Value;
use state::States;
use std::{borrow::Cow, panic::AssertUnwindSafe, sync::Arc};
use tokio::time::Instant;

/// How a pass ended.
pub(crate) struct Ended {
    pub(crate) next: Next,
    /// How many passes before it ended alike, in a row.
    pub(crate) row: u32,
    /// What the changes of the object during the pass are worth.
    pub(crate) worth: Worth,
}

impl Loop {
    pub(crate) fn new(
        shared: Arc<Shared>,
        source: Arc<dyn Source>,
        reconciler: Box<dyn Reconciler>,
        finalizer: String,
        selection: Selection,
        news: Option<News>,
    ) -> Self {
        let (states, reported, settled, recent) = Default::default();
        Self {
            shared,
            source,
            reconciler,
            finalizer,
            selection,
            states,
            settled,
            recent,
            news,
            reported,
            condition_prefix: String::new(),
        }
    }

    /// One pass.
    pub(crate) async fn pass(&self, key: &ObjectKey, trigger: Trigger) -> Ended {
        // Asked before the object is read: else its next state could arrive in between, and the older one be acted on.
        let behind = self.is_behind(key);
        let entry = self.source.objects().store().get(key);
        // An object that the cache does not have counts under the uid that is known of it, if any.
        let known = || self.states.uid_of(key).unwrap_or_default();
        let uid = entry.as_ref().map_or_else(known, |entry| entry.header.uid.clone());
        if entry.is_some() {
            self.shared.echoes.begin(key, &uid);
        }
        let pass = async {
            match &entry {
                Some(_) if behind => Ok(Next::CatchUp),
                Some(entry) => self.pass_over(entry, trigger).await,
                None => self.pass_over_stray(key).await,
            }
        };
        let next = match AssertUnwindSafe(pass).catch_unwind().await {
            Ok(next) => next.unwrap_or_else(|error| self.interrupted(key, &uid, error)),
            Err(payload) => {
                let error = Panicked::new(Closure::Runtime, &*payload);
                tracing::error!(kind = %self.source.kind(), object = %key, %error, "the loop itself panicked in this pass");
                self.shared.counters.count_panic(error.closure);
                Next::Failed
            }
        };
        // The pass may have found out the uid.
        let uid = if entry.is_some() { uid } else { known() };
        let row = self.states.count(key, &uid, next);
        let worth = entry.map_or(Worth::Nothing, |entry| {
            let version = &entry.header.resource_version;
            self.heed(&entry.header, self.shared.echoes.end(key, &uid, version, Worth::Own))
        });
        Ended { next, row, worth }
    }

    async fn pass_over(&self, entry: &Entry<Encoded>, trigger: Trigger) -> Result<Next> {
        let header = &entry.header;
        let goes = header.deleting || !self.is_meant(header);
        if goes && (!header.finalizers.contains(&self.finalizer) || self.is_released(header)) {
            // Nothing of ours is left on it; others may still hold it.
            return Ok(Next::AwaitChange);
        }
        if !goes && self.is_parked(header) {
            return Ok(Next::AwaitChange);
        }
        match self.open(entry) {
            Ok(opened) if header.deleting => self.tear_down(entry, opened.as_ref()).await,
            Ok(opened) => match catch(Closure::Object, || opened.paused()) {
                Ok(true) => Ok(Next::AwaitChange),
                Ok(false) if goes => self.tear_down(entry, opened.as_ref()).await,
                Ok(false) => self.build_up(entry, opened.as_ref(), trigger).await,
                Err(panicked) => self.say_unreadable(entry, Error::unexpected(panicked)).await,
            },
            Err(error) if goes => self.tear_down_unread(entry, error).await,
            Err(error) => self.say_unreadable(entry, error).await,
        }
    }

    async fn build_up(&self, entry: &Entry<Encoded>, opened: &dyn Opened, trigger: Trigger) -> Result<Next> {
        let (header, began) = (&entry.header, Instant::now());
        let mut claimed = Cow::Borrowed(header);
        if !self.finalizer.is_empty() && !header.finalizers.contains(&self.finalizer) {
            let version = self.source.claim(header, &self.finalizer).await?;
            self.note_write(header, self.source.kind(), &header.key);
            self.wrote(header, &version);
            claimed.to_mut().resource_version = version;
            if !self.reconciler.owns_status() {
                self.states.report(header, "");
            }
        }
        let (named, held) = match self.named(opened) {
            Ok(pointers) => self.hold_named(header, &pointers).await,
            Err(error) => (Vec::new(), Err(error)),
        };
        let (outcome, status, left) = match held {
            Ok(()) => self.run(header, opened, &named, (Direction::Up, trigger)).await,
            Err(error) => (Err(error), None, Arc::default()),
        };
        let (outcome, period) = match outcome {
            Ok(()) => opened.period().map_or_else(|error| (Err(error), None), |period| (Ok(()), period)),
            failed => (failed, None),
        };
        // With the status of another version, that of the cache stays: what another client wrote into it is a conflict then.
        if let Some((version, status)) = left.written.lock().take()
            && status == self.stored_status(entry).status()
        {
            claimed.to_mut().resource_version = version;
        }
        if outcome.is_ok() {
            let by_nodes = std::mem::take(&mut *left.referenced.lock());
            self.let_go_of_unnamed(&header.key, &named, &by_nodes).await?;
        }
        if outcome.is_ok() && *left.deleted.lock() {
            return Ok(Next::AwaitChange);
        }
        let (outcome, over) = self.with_fight(header, began, outcome);
        let said = left.said.lock().take();
        let at = (entry, &claimed.resource_version);
        let is_of_nodes = status.is_some() || matches!(outcome, Ok(()) | Err(Error::Yield { .. }));
        let is_written = self.conclude(at, Direction::Up, &outcome, said, (opened, status)).await?;
        // Nothing else has caused this pass, and it causes the next one.
        if is_written && is_of_nodes && trigger == Trigger::Own {
            let (owner, kind) = (self.identity(header), self.source.kind());
            self.shared.memory().repaired(&owner, kind, &header.key, Damage::Status);
        }
        let again = *left.again.lock();
        let next = match outcome {
            Ok(()) if again.soon => Next::Requeue,
            Ok(()) => period.map_or(Next::Poll, Next::After),
            Err(error) => over.unwrap_or_else(|| self.after(entry, error)),
        };
        Ok(again.in_place_of(next))
    }

    /// Gives the outcome, the status if it is to be another, and what else is left.
    async fn run(
        &self,
        header: &Header,
        opened: &dyn Opened,
        named: &[Named],
        (direction, trigger): (Direction, Trigger),
    ) -> (Result<()>, Option<Value>, Arc<Left>) {
        let mut core = Core::new(&self.shared, self.identity(header), &header.resource_version);
        core.named = named.iter().map(|named| (named.kind.clone(), named.key.clone())).collect();
        core.trigger = trigger;
        let left = core.left.clone();
        let (outcome, status) = opened.run(core, direction).await;
        (self.states.escalate(&header.key, &header.uid, outcome), status, left)
    }

    /// Writes the status and records the event of an outcome; whether the status was written.
    async fn conclude(
        &self,
        (entry, version): (&Entry<Encoded>, &ResourceVersion),
        direction: Direction,
        outcome: &Result<()>,
        said: Option<(String, String)>,
        (stored, left): (&dyn Stored, Option<Value>),
    ) -> Result<bool> {
        let header = &entry.header;
        let Some(mut verdict) = Verdict::of(direction, outcome) else { return Ok(false) };
        verdict.prefix.clone_from(&self.condition_prefix);
        if outcome.is_ok()
            && let Some(said) = said
        {
            verdict = verdict.in_words(&said);
        }
        if let Err(error) = outcome
            && verdict.is_failure()
        {
            let (kind, object) = (self.source.kind(), &header.key);
            panics::count(&self.shared, error);
            tracing::error!(%kind, %object, reason = verdict.reason, %error, "the pass failed");
        }
        if self.reconciler.owns_status() {
            return self.write_status((entry, version), &verdict, stored, left).await;
        }
        self.say(header, &verdict);
        Ok(false)
    }

    /// Tells an outcome where no status can: by an event, if it is another than before. That all is well is no news after a
    /// restart.
    fn say(&self, header: &Header, verdict: &Verdict) {
        let before = self.states.report(header, &verdict.reason);
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

    fn after(&self, entry: &Entry<Encoded>, error: Error) -> Next {
        match error {
            Error::Yield { .. } => Next::Requeue,
            Error::Conflict(_) => Next::Retry,
            Error::Unexpected(_) => Next::Failed,
            Error::UserAction { .. } | Error::Terminal { .. } => {
                self.park(&entry.header);
                Next::AwaitChange
            }
        }
    }

    /// A call of the loop's own failed: finalizer or status. A conflict, or that the object is not there, is an error only if it
    /// does not end.
    fn interrupted(&self, key: &ObjectKey, uid: &Uid, error: Error) -> Next {
        let kind = self.source.kind();
        match &error {
            Error::Conflict(_) if !self.states.is_persistent(key, uid) => {
                tracing::debug!(%kind, object = %key, %error, "another client wrote the object meanwhile");
                Next::Retry
            }
            Error::Unexpected(source) if is_gone(source.as_ref()) && !self.states.is_persistent(key, uid) => {
                Next::Retry
            }
            Error::Conflict(source) | Error::Unexpected(source) => {
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

    /// Notes that the finalizer is written, on the object itself or on one that it names: again and again, it is a fight.
    fn note_write(&self, header: &Header, kind: &Kind, key: &ObjectKey) {
        let owner = self.identity(header);
        let mut memory = self.shared.memory();
        if memory.is_written_again(&owner, kind, key) {
            memory.repaired(&owner, kind, key, Damage::Field { path: "metadata.finalizers".into(), manager: None });
        }
    }

    fn wrote(&self, header: &Header, version: &ResourceVersion) {
        self.shared.wrote(&header.key, &header.uid, version);
    }

    fn identity(&self, header: &Header) -> Identity {
        Identity { kind: self.source.kind().clone(), key: header.key.clone(), uid: header.uid.clone() }
    }
}

/// The object vanished under the pass; the watch will say so.
fn is_gone(source: &(dyn std::error::Error + 'static)) -> bool {
    source.downcast_ref::<crate::client::CallError>().is_some_and(crate::client::CallError::is_not_found)
}
