//! `Leads`: the Leases that must be held for a write: that of the process and, during the reconciliation of an object, that of the shard of
//! the object.

use super::lead::Lead;
use crate::error::not_leading::NotLeading;
use parking_lot::Mutex;
use std::sync::Arc;

tokio::task_local! {
    /// The lead of the pass that the current task runs.
    static PASS_LEAD: Lead;
}

/// The lead of the process, and with shards also the leads of the shards that it holds. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Leads {
    process: Lead,
    shards: Arc<Mutex<Vec<Lead>>>,
}

impl Leads {
    /// Returns the leads of a process that holds none.
    pub(crate) fn new() -> Self {
        Self { process: Lead::new(), shards: Arc::default() }
    }

    /// Returns the lead of the process: that of the leader election, or with shards that of the member.
    pub(crate) fn process(&self) -> &Lead {
        &self.process
    }

    /// Adds the lead of a shard that was taken.
    pub(crate) fn add(&self, lead: Lead) {
        self.shards.lock().push(lead);
    }

    /// Removes the lead of a shard that is handed over.
    pub(crate) fn remove(&self, lead: &Lead) {
        self.shards.lock().retain(|other| !other.is_same(lead));
    }

    /// Returns the leaderships that a write of the current task needs: that of the process, and while an object of a shard is reconciled,
    /// that of the shard.
    pub(super) fn of_write(&self) -> WriteLeads {
        WriteLeads { process_lead: self.process.clone(), shard_lead: PASS_LEAD.try_with(Lead::clone).ok() }
    }

    /// Returns whether the deadline of any lead has passed, as [`Lead::has_expired`] does.
    pub(super) fn has_expired(&self) -> bool {
        self.process.has_expired() || self.shards.lock().iter().any(Lead::has_expired)
    }

    /// Returns whether any lead is held although it should have been renewed or lost long ago.
    pub(crate) fn is_overdue(&self) -> bool {
        self.process.is_overdue() || self.shards.lock().iter().any(Lead::is_overdue)
    }
}

/// The leads that one write needs.
pub(super) struct WriteLeads {
    process_lead: Lead,
    shard_lead: Option<Lead>,
}

impl WriteLeads {
    /// Checks that the write may be sent now.
    ///
    /// # Errors
    /// Fails if a lead is not held or its deadline has passed.
    pub(super) fn check(&self) -> Result<(), NotLeading> {
        self.process_lead.check()?;
        self.shard_lead.as_ref().map_or(Ok(()), Lead::check)
    }

    /// Waits until the write must be given up, because the leadership of the process or that of the shard was not renewed or has ended.
    pub(super) async fn wait_until_given_up(&self) {
        let Some(shard_lead) = &self.shard_lead else { return self.process_lead.wait_until_given_up().await };
        tokio::select! {
            biased;
            () = self.process_lead.wait_until_given_up() => {}
            () = shard_lead.wait_until_given_up() => {}
        }
    }
}

/// Runs the work of a pass (one reconcile of an object of a shard), whose writes need the leadership `lead` of the shard.
pub(crate) async fn with_lead<F: Future>(lead: Lead, work: F) -> F::Output {
    PASS_LEAD.scope(lead, work).await
}
