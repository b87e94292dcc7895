//! Implements the reconcile loop: runs a level-triggered pass over one primary.
//!
//! # Flow of a pass
//! 1. Read the object from the cache. If the cache does not show the last own write yet, try again later.
//! 2. If the object is being deleted or no longer selected: wait until no other object references it, tear its tree down, release
//!    its references, and remove the finalizer. If it is paused, do nothing; deletion has precedence over a pause.
//! 3. Add the finalizer, before any other side effect.
//! 4. Add a reference to each object that the spec references, and wait until each is ready.
//! 5. Provision the tree. Then release the references that neither the spec nor a node has any more.
//! 6. Write the status, at most once and only if it differs. For a foreign kind, record an event instead.
//!
//! # Guarantees
//! - A pass that finds the wanted state makes no call.
//! - After a crash between any two calls, the next passes converge.
//! - A panic of a provisioner is an error of its pass.
//! - A pass that failed (by an error, a conflict, or a repair that another client undoes repeatedly) is repeated only after its
//!   backoff, whatever enqueues the object. Only a change by a user ends the backoff.
//! - The state that the loop keeps of an object ends with the uid of the object.

mod backoff;
pub(crate) mod change;
pub(crate) mod control_loop;
pub(crate) mod deselected;
mod interrupted;
pub(crate) mod next;
mod orphan;
pub(crate) mod other_operators;
mod outcome;
pub(crate) mod panics;
mod pass_span;
mod recent;
pub(crate) mod reconciler;
mod reference;
mod repetition;
mod settled;
mod shard;
mod state;
mod status;
mod status_merge;
pub(crate) mod stored_status;
mod teardown;
pub(crate) mod tree;
pub(crate) mod trigger;
mod undecodable;
pub(crate) mod verdict;

use crate::{
    cache::{Encoded, Entry, Header, ObjectKey, ReadError, ResourceVersion, Uid, WatchProgress},
    engine::{
        chain::Chain,
        controller_state::ControllerState,
        identity::{Identity, OwnerNaming},
        pass::{PassCore, PassTrigger},
        repair::RepairReason,
    },
    error::{Error, Result},
    informer::source::{Selection, Source},
    kind::Kind,
    panic::{Closure, Panicked, Panics, catch},
    predicate::Significance,
    queue::Backoff,
    reconcile::{
        change::RecentStates,
        control_loop::{Loop, LoopOptions},
        outcome::OutcomeReport,
        pass_span::TracedPass,
        reconciler::{DecodedPrimary, Reconciler, TreeResult},
        repetition::Repeated,
        settled::SettledKeys,
        stored_status::StoredStatus,
    },
    reference::NamedTarget,
    spans::{bridge, context::TraceContext, pass},
};
use futures::FutureExt;
use next::{Next, NextPass};
use panics::PanicReports;
use state::ObjectStates;
use std::{borrow::Cow, panic::AssertUnwindSafe, sync::Arc};
use tokio::{sync::Notify, time::Instant};
use tracing::Instrument as _;
use verdict::Direction;

/// The result of a pass.
pub(crate) struct PassResult {
    pub(crate) next: NextPass,
    /// The number of consecutive passes before this one with the same kind of failure: errors, or conflicts.
    pub(crate) earlier_failures: u32,
    /// The significance of the changes of the object that the watch delivered during the pass.
    pub(crate) significance: Significance,
    /// The span of the pass; `None` if its trace is not exported.
    pub(crate) trace: Option<TraceContext>,
}

impl Loop {
    /// Creates the reconcile loop of a controller, which has no state of any object yet.
    pub(crate) fn new(
        shared: Arc<ControllerState>,
        source: Arc<dyn Source>,
        reconciler: Box<dyn Reconciler>,
        options: LoopOptions,
    ) -> Self {
        let LoopOptions { finalizer, selection, predicate, condition_prefix } = options;
        Self {
            shared,
            source,
            reconciler,
            finalizer,
            selection,
            states: ObjectStates::default(),
            settled: SettledKeys::default(),
            recent_states: RecentStates::default(),
            predicate,
            condition_prefix,
            panic_reports: PanicReports::default(),
            other_operator: Notify::new(),
        }
    }

    /// Runs one pass over the object of this key: tears it down, provisions it, or does nothing. Skips the pass while the cache does not
    /// show an own write yet. Counts the result, and applies the changes of the object that the watch delivered during the pass. Workers
    /// call this; it never panics.
    pub(crate) async fn reconcile(&self, key: &ObjectKey, trigger: PassTrigger) -> PassResult {
        // Before the object is read: its next state could arrive in between, and the pass would act on the older one.
        let is_stale = self.is_cache_stale(key);
        let entry = self.source.objects().store().get(key);
        // The state of an object that the cache does not have is found under its last known uid.
        let last_uid = || self.states.uid_of(key).unwrap_or_default();
        let uid = entry.as_ref().map_or_else(last_uid, |entry| entry.header.uid.clone());
        if entry.is_some() {
            self.shared.own_write_events.begin_pass(key, &uid);
        }
        let traced = match &entry {
            Some(entry) if !is_stale => self.begin_span(&entry.header, trigger),
            _ => TracedPass::unrecorded(),
        };
        let trigger = traced.with_trace(trigger);
        let pass = async {
            match &entry {
                Some(_) if is_stale => Ok(Next::CatchUp.into()),
                Some(entry) => self.reconcile_cached(entry, trigger).await,
                None => self.reconcile_uncached(key).await,
            }
        };
        let outcome = AssertUnwindSafe(pass).catch_unwind().instrument(traced.span.span.clone()).await;
        let next = traced.span.span.in_scope(|| match outcome {
            Ok(next) => next.unwrap_or_else(|error| self.next_after_loop_error(key, &uid, error).into()),
            Err(payload) => {
                let error = Panicked::new(Closure::Runtime, &*payload);
                tracing::error!(kind = %self.source.kind(), object = %key, %error, "the control loop panicked in this pass");
                self.shared.count_pass_panic(error.closure);
                self.note_readiness(key, &uid, false);
                Next::Failed.into()
            }
        });
        // A pass over an uncached object may have learned its uid.
        let uid = if entry.is_some() { uid } else { last_uid() };
        let earlier_failures = self.states.count_failures(key, &uid, next.when);
        let Some(header) = entry.as_ref().map(|entry| &entry.header) else {
            return PassResult { next, earlier_failures, significance: Significance::None, trace: None };
        };
        let trace = self.end_span(traced, header, next.when);
        let version = &header.resource_version;
        let significance = self.shared.own_write_events.end_pass(key, &uid, version, Significance::OwnWrite);
        PassResult { next, earlier_failures, significance: self.apply_change(header, significance), trace }
    }

    /// Runs a pass over an object that the cache has: tears it down, provisions it, or reports that it can't be decoded. Does nothing for
    /// a paused object, which counts as ready, for a parked one (it waits for a change by a user), and after the teardown.
    async fn reconcile_cached(&self, entry: &Entry<Encoded>, trigger: PassTrigger) -> Result<NextPass> {
        let header = &entry.header;
        let is_ending = header.deleting || !self.is_selected(header);
        if is_ending && (!header.finalizers.contains(&self.finalizer) || self.is_finalizer_removed(header)) {
            // The teardown is done; finalizers of other controllers may still keep the object.
            return Ok(Next::AwaitChange.into());
        }
        if !is_ending && self.is_parked(header) {
            return Ok(Next::AwaitChange.into());
        }
        let next = match self.decode(entry) {
            Ok(primary) if header.deleting => return self.tear_down(entry, primary.as_ref()).await,
            Ok(primary) => match catch(Closure::Object, || primary.paused()) {
                Ok(true) => {
                    // Nobody expects a paused object to become ready.
                    self.note_readiness(&header.key, &header.uid, true);
                    Ok(Next::AwaitChange)
                }
                Ok(false) if is_ending => return self.tear_down(entry, primary.as_ref()).await,
                Ok(false) => return self.provision(entry, primary.as_ref(), trigger).await,
                // If the object left the selection, its tree would stay for as long as this panics.
                Err(panicked) if is_ending => {
                    self.panic_reports.report(&self.shared, self.source.kind(), header, &Panics(vec![panicked]));
                    return self.tear_down(entry, primary.as_ref()).await;
                }
                Err(panicked) => self.report_undecodable(entry, Error::unexpected(panicked)).await,
            },
            Err(error) if is_ending => self.tear_down_undecodable(entry, error).await,
            Err(error) => self.report_undecodable(entry, error).await,
        };
        next.map(NextPass::from)
    }

    /// Adds the finalizer, acquires the references of the spec, runs the tree, releases old references if the tree succeeded, and writes
    /// the status. A status write counts as a repair, which slows down the passes if it recurs, if only an earlier status write or a cycle
    /// of own writes caused the pass. Returns when the next pass runs.
    async fn provision(
        &self,
        entry: &Entry<Encoded>,
        primary: &dyn DecodedPrimary,
        trigger: PassTrigger,
    ) -> Result<NextPass> {
        let (header, start) = (&entry.header, Instant::now());
        let mut version = Cow::Borrowed(&header.resource_version);
        if let Some(with_finalizer) = self.ensure_finalizer(header).await? {
            version = Cow::Owned(with_finalizer);
        }
        let (references, acquired) = match self.references_of(primary) {
            Ok(pointers) => self.acquire_references(header, &pointers).await,
            Err(error) => (Vec::new(), Err(error)),
        };
        let TreeResult { outcome, status, side_effects } = match acquired {
            Ok(()) => self.run_tree(header, primary, &references, Direction::Up, trigger).await,
            Err(error) => TreeResult::failed(error),
        };
        let (outcome, period) = match outcome {
            Ok(()) => primary.resync_period().map_or_else(|error| (Err(error), None), |period| (Ok(()), period)),
            failed => (failed, None),
        };
        // If a node has written the object, the status write is based on the version after the node's write. If the status differed in that
        // version, another client wrote the status: then the version of the cache stays, so that the status write is a conflict.
        if let Some(write) = side_effects.owner_write
            && write.status == self.stored_status(entry).status()
        {
            version = Cow::Owned(write.version);
        }
        if outcome.is_ok() {
            self.release_unreferenced(&header.key, &references, &side_effects.added_references).await?;
            if side_effects.owner_deleted {
                return Ok(Next::AwaitChange.into());
            }
        }
        let (outcome, rest_of_fight) = self.escalate_fight(header, start, outcome);
        let is_status_of_nodes = status.is_some() || matches!(outcome, Ok(()) | Err(Error::Yield { .. }));
        let report = OutcomeReport::new(entry, Direction::Up, &outcome, primary);
        let is_written = self
            .report_outcome(OutcomeReport {
                version: &version,
                message: side_effects.report,
                timeouts: side_effects.timeouts,
                status,
                // The report of an error is no part of the chain: a report of its cycle would extend it.
                chain: if is_status_of_nodes { trigger.chain } else { Chain::default() },
                ..report
            })
            .await?;
        if let Some(reason) = backoff::repair_of_status(trigger).filter(|_| is_written && is_status_of_nodes) {
            let (owner, kind) = (self.identity(header), self.source.kind());
            self.shared.owner_states().record_repair(&owner, kind, &header.key, reason);
        }
        let next = match outcome {
            Ok(()) if side_effects.requeue.soon => Next::Requeue,
            Ok(()) => period.map_or(Next::Resync, Next::After),
            Err(error) => self.next_after_error(entry, error),
        };
        // A pass that wrote the status is not without repairs, so the end of the fight does not limit its backoff.
        Ok(side_effects.requeue.apply_to(next, rest_of_fight.filter(|_| !is_written)))
    }

    /// Adds the finalizer if the object lacks it, and records the own write. For a kind whose status the operator doesn't write, the first
    /// outcome then becomes an event even if it is ready. Returns the version of the object after the write; `None` without a write.
    async fn ensure_finalizer(&self, header: &Header) -> Result<Option<ResourceVersion>> {
        if self.finalizer.is_empty() || header.finalizers.contains(&self.finalizer) {
            return Ok(None);
        }
        let version = self.source.add_finalizer(header, &self.finalizer).await?;
        self.note_finalizer_write(header, self.source.kind(), &header.key);
        self.note_own_write(header, &version);
        if !self.reconciler.owns_status() {
            self.states.set_reported_reason(header, "");
        }
        Ok(Some(version))
    }

    /// Creates the state of a pass and runs the tree: provisions it (`Up`), or tears it down (`Down`), for which it first restores the
    /// owner references that other clients have removed from children. A conflict that recurs in many passes becomes an error.
    async fn run_tree(
        &self,
        header: &Header,
        primary: &dyn DecodedPrimary,
        references: &[NamedTarget],
        direction: Direction,
        trigger: PassTrigger,
    ) -> TreeResult {
        let mut core = PassCore::new(&self.shared, self.identity(header), &header.resource_version);
        core.spec_references = references.iter().map(|named| (named.kind.clone(), named.key.clone())).collect();
        core.trigger = trigger;
        core.unavailable_since = self.unavailable_since(primary);
        core.is_recorded = bridge::is_recorded();
        let prepared = match direction {
            Direction::Up => Ok(()),
            Direction::Down => {
                core.torn_down_tree = Some(self.reconciler.shape());
                core.restore_owner_references(header.deleting).await
            }
        };
        let result = match prepared {
            Ok(()) => primary.run_tree(core, direction).await,
            Err(error) => TreeResult::failed(error),
        };
        TreeResult { outcome: self.states.escalate_conflict(&header.key, &header.uid, result.outcome), ..result }
    }

    /// Returns when the next pass runs after an error of the tree. An error that only a user can resolve parks the object: no pass runs
    /// until a user changes it.
    fn next_after_error(&self, entry: &Entry<Encoded>, error: Error) -> Next {
        match error {
            Error::Yield { .. } => Next::Requeue,
            Error::Conflict(_) => Next::Retry,
            Error::Unexpected(_) => Next::Failed,
            Error::UserAction { .. } | Error::Terminal { .. } => {
                self.park(&entry.header);
                Next::Parked
            }
        }
    }

    /// Returns when the next pass runs after a call of the loop itself failed, for example a write of the finalizer or the status. A
    /// conflict or a "not found" is retried soon, and an error only if it recurs. Logs and counts an error; the object is unready then.
    fn next_after_loop_error(&self, key: &ObjectKey, uid: &Uid, error: Error) -> Next {
        let kind = self.source.kind();
        match &error {
            Error::Conflict(_) if !self.states.has_persistent_conflict(key, uid) => {
                tracing::debug!(%kind, object = %key, %error, "another client wrote the object meanwhile");
                Next::Retry
            }
            Error::Unexpected(source)
                if is_not_found(source.as_ref()) && !self.states.has_persistent_conflict(key, uid) =>
            {
                Next::Retry
            }
            Error::Conflict(source) | Error::Unexpected(source) => {
                let (reason, why) = crate::client::condition_text(source.as_ref());
                let repeated = self.states.count_report(key, uid, true, (reason, &why));
                if repeated != Repeated::Silent {
                    let repeated = repeated.times();
                    tracing::error!(%kind, object = %key, reason, why, %error, repeated, "the pass was interrupted");
                }
                pass::record_reason(reason, Some(&why));
                self.shared.metrics.errors.count(reason);
                self.note_readiness(key, uid, false);
                Next::Failed
            }
            _ => Next::Requeue,
        }
    }

    /// Returns whether a cache, in any cluster, lacks an own write of an earlier pass over the object, so that the next pass has to wait.
    fn is_cache_stale(&self, key: &ObjectKey) -> bool {
        let stale = self.shared.own_writes.behind(key, |kind: &Option<Kind>| match kind {
            // The watch does not deliver an object that is no longer selected, so no pass waits for its version.
            None if self.source.has_selector() && self.source.objects().store().get(key).is_none() => {
                WatchProgress::Incomparable
            }
            None => self.source.health().watch_progress(self.source.objects().store().watch_progress()),
            Some(kind) => match self.shared.children.get(kind) {
                Some(children) => children.health.watch_progress(children.store.watch_progress()),
                None => WatchProgress::Incomparable,
            },
        });
        stale.is_some() || self.shared.remote_states().iter().any(|state| state.is_behind(key))
    }

    /// Records a write of a finalizer, on the primary or on an object that it references. If the same write recurs, another client
    /// removes the finalizer again and again, which counts as a repair.
    fn note_finalizer_write(&self, header: &Header, kind: &Kind, key: &ObjectKey) {
        let owner = self.identity(header);
        let mut owner_states = self.shared.owner_states();
        if owner_states.record_write(&owner, kind, key) {
            let reason = RepairReason::FieldChanged { path: "metadata.finalizers".into(), manager: None };
            owner_states.record_repair(&owner, kind, key, reason);
        }
    }

    /// Records a write of the primary, so that its event counts as an own write and the next pass waits for it.
    fn note_own_write(&self, header: &Header, version: &ResourceVersion) {
        self.shared.record_primary_write(&header.key, &header.uid, version);
    }

    /// Returns the primary as the owner of its children, which name an owner in a bucket by a mark (annotation), else by reference.
    fn identity(&self, header: &Header) -> Identity {
        let kind = self.source.kind();
        let naming = if self.shared.client.is_in_bucket(kind) { OwnerNaming::Mark } else { OwnerNaming::Reference };
        Identity { kind: kind.clone(), key: header.key.clone(), uid: header.uid.clone(), naming }
    }
}

/// Returns whether the API server responded "not found". The object was deleted during the pass, and the watch will deliver the deletion.
fn is_not_found(source: &(dyn std::error::Error + 'static)) -> bool {
    source.downcast_ref::<crate::client::CallError>().is_some_and(crate::client::CallError::is_not_found)
}
