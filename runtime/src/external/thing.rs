//! Creates, observes, updates and deletes the external resource that an external node owns, such as a DNS record.
//!
//! # Flow
//! 1. Between two observations, a pass with the same spec makes no call.
//! 2. The record is read from the API server. A thing whose deletion has begun is deleted first.
//! 3. The thing is observed, by its id or by its token.
//! 4. If it does not exist, the record is written, and then the thing is created. The record is written with the version that was read
//!    before the observation, so that of two processes only one creates the thing.
//! 5. If it differs from the spec, or if the last spec that was applied differs, it is updated or replaced. Before an update to another
//!    spec, the record loses the hash of the last one.

use super::{
    record::{ExternalPhase, ExternalRecord, RecordStore, StoredRecord},
    resource::{DeletionPolicy, ExternalContext, ExternalKey, ExternalResource, Observed, UpdateOutcome},
};
use crate::{
    context::Cause,
    engine::{desired::digest, external_state::ExternalState, pass::PassCore},
    error::{Error, Result, yield_because},
    text_hash::text_hash,
};
use jiff::Timestamp;
use std::{any::Any, sync::Arc, time::Duration};
use tokio::time::Instant;

/// The number of times that one pass replaces the thing. A further replacement is left to the next pass.
const MAX_REPLACEMENTS: usize = 1;

/// The thing of an external node, in one pass.
pub(super) struct Thing<'a, T: ExternalResource> {
    core: &'a PassCore<'a>,
    cx: ExternalContext<'a, T>,
    records: RecordStore<'a>,
}

impl<'a, T: ExternalResource> Thing<'a, T> {
    pub(super) fn new(core: &'a PassCore<'a>, cx: ExternalContext<'a, T>, node: String) -> Self {
        Self { core, cx, records: RecordStore::new(core, node, T::NAME) }
    }

    /// Brings the external resource to the state that `spec` wants, and publishes its observed state as the output of the node. `import` is
    /// the id of an existing resource that the node takes over. Makes no call if the last observation is recent enough.
    ///
    /// # Errors
    /// A yield while the resource is not in the wanted state. The error of a failed call.
    pub(super) async fn provision(&self, spec: &T::Spec, import: Option<&str>) -> Result<()> {
        let digest = digest(&serde_json::to_value(spec)?);
        if self.is_known(&digest) {
            return Ok(());
        }
        // A pass that fails from here on leaves no remembered state, so that the next pass observes again.
        self.forget();
        let state = self.converge(spec, import, &digest).await?;
        let (observed, output): (_, Arc<dyn Any + Send + Sync>) = (Instant::now(), Arc::new(state));
        self.publish(&output, T::PERIOD);
        self.remember(ExternalState::UpToDate { digest, observed, output });
        Ok(())
    }

    /// Deletes the external resource, unless its deletion policy retains it, and then its record (the ConfigMap with its id).
    ///
    /// # Errors
    /// A yield while the resource exists, or may become visible. The error of a failed call.
    pub(super) async fn deprovision(&self, cause: Cause) -> Result<()> {
        // Decides how long the observation that the thing is gone holds: see `is_known_gone`.
        let owner_deleting = cause == Cause::Deleting;
        if self.is_known_gone(owner_deleting) {
            return Ok(());
        }
        self.forget();
        let mut stored = self.records.read().await?;
        if T::DELETION_POLICY == DeletionPolicy::Delete {
            stored = self.delete_thing(stored).await?;
        }
        if let Some(stored) = &stored {
            self.records.delete(stored).await?;
        }
        // A node whose item has left the list of its `each` is not deprovisioned again, so its state would never be read.
        if cause != Cause::KeyGone {
            self.remember(ExternalState::Gone { observed: Instant::now(), owner_deleting });
        }
        Ok(())
    }

    /// Returns whether the last observation, made less than `T::PERIOD` ago, found the external resource in the state with the digest
    /// `wanted`. If so, also publishes the output of this observation, so that the pass needs no call.
    fn is_known(&self, wanted: &str) -> bool {
        let (elapsed, output) = match self.core.owner_states().external(&self.core.owner) {
            Some(states) => match states.state(self.records.node()) {
                Some(ExternalState::UpToDate { digest, observed, output }) if digest == wanted => {
                    (observed.elapsed(), output.clone())
                }
                _ => return false,
            },
            None => return false,
        };
        let Some(rest) = T::PERIOD.checked_sub(elapsed).filter(|rest| !rest.is_zero()) else { return false };
        self.publish(&output, rest);
        true
    }

    /// Returns whether the external resource is known to be gone, so that this pass makes no call. An observation made while the owner was
    /// being deleted holds forever, because no replica creates the resource again. An earlier observation holds for `T::PERIOD`, and not
    /// once the owner is being deleted: another replica may have created the resource in the meantime.
    fn is_known_gone(&self, owner_deleting: bool) -> bool {
        let states = self.core.owner_states();
        let state = states.external(&self.core.owner).and_then(|states| states.state(self.records.node()));
        match state {
            Some(ExternalState::Gone { owner_deleting: true, .. }) => true,
            Some(ExternalState::Gone { observed, .. }) => !owner_deleting && observed.elapsed() < T::PERIOD,
            _ => false,
        }
    }

    /// Stores the observed state of the external resource for later passes.
    fn remember(&self, state: ExternalState) {
        let node = self.records.node();
        self.core.owner_states().update_external(&self.core.owner, |states| states.set_state(node, state));
    }

    /// Removes the stored state of the external resource, so that it has to be observed again.
    fn forget(&self) {
        let node = self.records.node();
        self.core.owner_states().update_external(&self.core.owner, |states| states.forget(node));
    }

    /// Sets the output of the node, and requests a pass after `rest`, in which the external resource is observed again.
    fn publish(&self, output: &Arc<dyn Any + Send + Sync>, rest: Duration) {
        self.core.outputs.set_value(self.records.node(), output.clone());
        self.core.side_effects().requeue.request_at_most(rest);
    }

    /// Creates, updates or replaces the external resource, until it is in the wanted state. Returns its observed state. `digest` is the
    /// digest of `spec`.
    ///
    /// # Errors
    /// A yield if the thing has to be replaced more than [`MAX_REPLACEMENTS`] times, and the errors of the steps.
    async fn converge(&self, spec: &T::Spec, import: Option<&str>, digest: &str) -> Result<T::Output> {
        for _ in 0..=MAX_REPLACEMENTS {
            let (stored, observed) = self.ensure(spec, import, digest).await?;
            if let Some(state) = self.update(stored, observed, spec, import, digest).await? {
                return Ok(state);
            }
            // `update` has begun a replacement, which the next `ensure` finishes.
        }
        yield_because("WaitingFor", format!("waiting to replace the {} of node {}", T::NAME, self.records.node()))
    }

    /// Returns the external resource with its record, the ConfigMap that keeps its id. Finds the resource by its id or its token, and
    /// creates it if it does not exist.
    async fn ensure(
        &self,
        spec: &T::Spec,
        import: Option<&str>,
        digest: &str,
    ) -> Result<(StoredRecord, Observed<T::Output>)> {
        let stored = self.finish_deletion(self.records.read().await?).await?;
        let token = self.token_of(stored.as_ref());
        let had_id = stored.as_ref().is_some_and(|stored| stored.record.id.is_some());
        if let Some(observed) = self.find(stored.as_ref(), import, &token).await? {
            return self.adopt(stored, token, observed).await;
        }
        if let Some(stored) = &stored {
            self.await_visibility(stored)?;
        }
        if let Some(id) = import {
            return yield_because("ImportNotFound", format!("waiting for {} {id}, which is to be imported", T::NAME));
        }
        // If the process ends after this write, the next pass finds the resource by the token in the record.
        let now = self.core.shared.environment.now();
        let intent = ExternalRecord::pending(&token, Some(salted_digest(&token, digest)), now);
        let stored = self.records.write(stored.as_ref(), &intent).await?;
        // The resource with the recorded id is gone, but another one may exist that was created with the same token.
        if had_id && let Some(observed) = self.observe(None, &token).await? {
            // The spec with which it was created is not known, so that it has to be updated.
            let mut without_digest = stored;
            without_digest.record.digest = None;
            return self.adopt(Some(without_digest), token, observed).await;
        }
        tracing::debug!(node = self.records.node(), thing = T::NAME, "creating an external thing");
        let id = T::create(&self.cx, spec, &token).await?;
        // The grace period begins again, since a slow call may have created the resource at its end.
        let since = self.core.shared.environment.now();
        let created = ExternalRecord { phase: ExternalPhase::Created, id: Some(id), since, ..intent };
        let stored = self.records.write(Some(&stored), &created).await?;
        match self.observe(created.id.as_deref(), &token).await? {
            Some(observed) => Ok((stored, observed)),
            None => {
                self.await_visibility(&stored)?;
                Err(self.not_visible())
            }
        }
    }

    /// Finds the external resource of the record by its id, or by the token if the record has no id. If there is none, finds the resource
    /// that is to be imported.
    async fn find(
        &self,
        stored: Option<&StoredRecord>,
        import: Option<&str>,
        token: &str,
    ) -> Result<Option<Observed<T::Output>>> {
        let known_id = stored.and_then(|stored| stored.record.id.as_deref());
        // With an import and without a record, only the resource to import is read. A record without an id may belong to a resource that
        // was created before the user asked for the import.
        if (stored.is_some() || import.is_none())
            && let Some(observed) = self.observe(known_id, token).await?
        {
            return Ok(Some(observed));
        }
        match import.filter(|id| known_id != Some(*id)) {
            Some(id) => self.observe(Some(id), token).await,
            None => Ok(None),
        }
    }

    /// Finishes the deletion of an external resource if its record shows that the deletion has begun: the resource is to be replaced, or is
    /// wanted again. Returns the new record, which has no id; returns any other record unchanged.
    async fn finish_deletion(&self, stored: Option<StoredRecord>) -> Result<Option<StoredRecord>> {
        let Some(deleting) = &stored else { return Ok(stored) };
        let ExternalRecord { phase: ExternalPhase::Deleting, id: Some(id), token, .. } = &deleting.record else {
            return Ok(stored);
        };
        self.remove(id, token, Some(deleting)).await?;
        // No call has created a new resource yet, so that there is no grace period: it ended at the UNIX epoch.
        let gone = ExternalRecord::pending(token, None, Timestamp::UNIX_EPOCH);
        Ok(Some(self.records.write(Some(deleting), &gone).await?))
    }

    /// Writes the id of an observed external resource into its record, unless the record has it already. Returns both.
    async fn adopt(
        &self,
        stored: Option<StoredRecord>,
        token: String,
        observed: Observed<T::Output>,
    ) -> Result<(StoredRecord, Observed<T::Output>)> {
        let id = Some(observed.id.clone());
        let stored = match stored {
            Some(stored) if stored.record.id == id => stored,
            earlier => {
                let (digest, since) = match &earlier {
                    Some(earlier) => (earlier.record.digest.clone(), earlier.record.since),
                    None => (None, self.core.shared.environment.now()),
                };
                let record = ExternalRecord { phase: ExternalPhase::Created, token, id, digest, since };
                self.records.write(earlier.as_ref(), &record).await?
            }
        };
        Ok((stored, observed))
    }

    /// Updates the external resource if its observed state or the last applied spec (by its digest in the record) differs from `spec`.
    /// Returns its state; `None` if it has to be replaced, after the record was marked as `Deleting`.
    async fn update(
        &self,
        stored: StoredRecord,
        observed: Observed<T::Output>,
        spec: &T::Spec,
        import: Option<&str>,
        digest: &str,
    ) -> Result<Option<T::Output>> {
        let applied = Some(salted_digest(&stored.record.token, digest));
        let Observed { id, state } = observed;
        if stored.record.digest == applied && T::is_up_to_date(spec, &state) {
            return Ok(Some(state));
        }
        let stored = self.begin_update(stored, applied.as_deref()).await?;
        let record = &stored.record;
        match T::update(&self.cx, &id, spec).await? {
            UpdateOutcome::Updated => {
                if record.digest != applied {
                    self.records.write(Some(&stored), &ExternalRecord { digest: applied, ..record.clone() }).await?;
                }
                match self.observe(Some(&id), &record.token).await? {
                    Some(Observed { state, .. }) if T::is_up_to_date(spec, &state) => Ok(Some(state)),
                    _ => {
                        let message = format!("waiting for {} {id} to be up to date", T::NAME);
                        Err(Error::yielding("WaitingFor", message))
                    }
                }
            }
            UpdateOutcome::Replace if import.is_some() => {
                let message =
                    format!("{} {id} can't be changed to the spec, and an imported one is not replaced", T::NAME);
                Err(Error::user_action("ImportNotReplaceable", message))
            }
            UpdateOutcome::Replace => {
                let deleting = ExternalRecord { phase: ExternalPhase::Deleting, ..record.clone() };
                self.records.write(Some(&stored), &deleting).await?;
                Ok(None)
            }
        }
    }

    /// Removes the digest of the last applied spec from the record before an update to another spec. So if the update fails halfway and the
    /// user restores the last spec, the resource is updated again, even if no observation shows a difference (a changed password).
    async fn begin_update(&self, stored: StoredRecord, applied: Option<&str>) -> Result<StoredRecord> {
        if stored.record.digest.is_none() || stored.record.digest.as_deref() == applied {
            return Ok(stored);
        }
        let without_digest = ExternalRecord { digest: None, ..stored.record.clone() };
        self.records.write(Some(&stored), &without_digest).await
    }

    /// Deletes the external resource, which it finds by the id in the record or by the token, and confirms that it is gone. Returns its
    /// record, which the caller deletes.
    async fn delete_thing(&self, stored: Option<StoredRecord>) -> Result<Option<StoredRecord>> {
        let token = self.token_of(stored.as_ref());
        let known_id = stored.as_ref().and_then(|stored| stored.record.id.clone());
        let id = match known_id {
            Some(id) => id,
            None => match self.observe(None, &token).await? {
                Some(observed) => observed.id,
                None => {
                    if let Some(stored) = &stored {
                        self.await_visibility(stored)?;
                    }
                    return Ok(stored);
                }
            },
        };
        let stored = match stored {
            Some(stored) if stored.record.phase != ExternalPhase::Deleting => {
                let id = Some(id.clone());
                let deleting = ExternalRecord { phase: ExternalPhase::Deleting, id, ..stored.record.clone() };
                Some(self.records.write(Some(&stored), &deleting).await?)
            }
            stored => stored,
        };
        self.remove(&id, &token, stored.as_ref()).await?;
        Ok(stored)
    }

    /// Deletes the external resource with this id, and observes whether it is gone.
    ///
    /// # Errors
    /// A yield while the resource exists, or may become visible.
    async fn remove(&self, id: &str, token: &str, stored: Option<&StoredRecord>) -> Result<()> {
        T::delete(&self.cx, id).await?;
        match self.observe(Some(id), token).await? {
            // The deletion of a resource that is not visible yet may have no effect.
            None => stored.map_or(Ok(()), |stored| self.await_visibility(stored)),
            Some(_) => yield_because("WaitingFor", format!("waiting for {} {id} to be gone", T::NAME)),
        }
    }

    async fn observe(&self, id: Option<&str>, token: &str) -> Result<Option<Observed<T::Output>>> {
        T::observe(&self.cx, ExternalKey::new(id, token)).await
    }

    fn token_of(&self, stored: Option<&StoredRecord>) -> String {
        stored.map_or_else(|| self.records.derive_token(), |stored| stored.record.token.clone())
    }

    /// Checks that [`ExternalResource::CREATE_GRACE`] has passed since the last creation, so that observations show a created resource.
    ///
    /// # Errors
    /// A yield until this time has passed.
    fn await_visibility(&self, stored: &StoredRecord) -> Result<()> {
        let now = self.core.shared.environment.now();
        let elapsed = Duration::try_from(now.duration_since(stored.record.since)).unwrap_or_default();
        match T::CREATE_GRACE.checked_sub(elapsed).filter(|rest| !rest.is_zero()) {
            None => Ok(()),
            Some(rest) => {
                let mut effects = self.core.side_effects();
                // The next pass runs after the rest of the grace period or the requeue interval, whichever is shorter.
                effects.requeue.soon = true;
                effects.requeue.request_after(rest);
                drop(effects);
                Err(self.not_visible())
            }
        }
    }

    /// Returns the yield with which the node waits until an external resource that may have been created is visible.
    fn not_visible(&self) -> Error {
        let (thing, node) = (T::NAME, self.records.node());
        Error::yielding("WaitingFor", format!("waiting for the {thing} of node {node}, which may have been created"))
    }
}

/// Returns the digest of a spec for the record, salted with the token of the node, so that equal specs of different owners differ.
fn salted_digest(token: &str, digest: &str) -> String {
    text_hash([token, digest], 12)
}
