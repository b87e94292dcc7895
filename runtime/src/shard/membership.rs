//! `Membership` watches the Leases of all members (the replicas), and deletes those of members that have been gone for a long time.

use super::{
    gate::WaitReason,
    hash::ShardCount,
    members::{Members, SHARDS_LABEL},
};
use crate::{error::ErrorChain, lease::options::LeaderElection};
use futures::{StreamExt as _, stream::BoxStream};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api,
    api::{DeleteParams, Preconditions},
    runtime::watcher,
};
use std::{collections::BTreeSet, time::Duration};
use tokio::time::{Instant, sleep_until, timeout};

/// The maximum time of a read or a deletion of a Lease.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// The delay after an error of the watch.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The members of an operator, with the watch of their Leases.
pub(super) struct Membership {
    members: Members,
    leases: Api<Lease>,
    events: BoxStream<'static, watcher::Result<watcher::Event<Lease>>>,
    /// The time before which the watch is not used, because it failed.
    retry_at: Option<Instant>,
    /// The time at which a failed read of an expired Lease is repeated.
    retry_read_at: Option<Instant>,
    /// The text of the last failure, which is logged once.
    last_failure: Option<String>,
}

impl Membership {
    /// Starts to watch the Leases of the members. `own` is the name of the Lease of this member, and the names of all Leases begin with
    /// `prefix`.
    pub(super) fn new(
        leases: Api<Lease>,
        (own, prefix): (String, String),
        count: ShardCount,
        options: &LeaderElection,
    ) -> Self {
        let members = Members::new(own, prefix, count, options.times.lease_duration);
        let events = watcher(leases.clone(), watcher::Config::default().labels(SHARDS_LABEL)).boxed();
        Self { members, leases, events, retry_at: None, retry_read_at: None, last_failure: None }
    }

    /// Returns the names of the Leases of the live members with the same number of shards.
    pub(super) fn live(&self) -> BTreeSet<String> {
        self.members.live()
    }

    /// Returns the identities of the members that have ended.
    pub(super) fn ended(&self) -> BTreeSet<String> {
        self.members.ended()
    }

    /// Waits until this member may acquire shards: the list of the members is loaded, and all live members are configured with the same
    /// number of shards. Calls `on_wait` with each reason for waiting.
    pub(super) async fn wait_until_same_shard_count(&mut self, mut on_wait: impl FnMut(WaitReason)) {
        loop {
            if !self.members.is_loaded() {
                on_wait(WaitReason::MembersUnknown);
            } else if let Some((member, count)) = self.members.other_shard_count() {
                on_wait(WaitReason::OtherShardCount { member: member.to_owned(), count });
            } else {
                return;
            }
            self.next_event().await;
        }
    }

    /// Waits until the set of live members changes. The future may be dropped at any time, and the function called again.
    pub(super) async fn changed(&mut self) {
        let live = self.live();
        while self.live() == live {
            self.next_event().await;
        }
    }

    /// Waits for the next event of the watch and records it. If a Lease expires before, it reads the expired Leases again and deletes the
    /// old ones instead.
    async fn next_event(&mut self) {
        let now = Instant::now();
        let retry_at = self.retry_at.filter(|retry_at| *retry_at > now);
        let retry_read_at = self.retry_read_at.filter(|retry_at| *retry_at > now);
        // An expired Lease that was not read again is read at once, unless its read has just failed.
        let unconfirmed = (retry_read_at.is_none() && !self.members.expired(now).is_empty()).then_some(now);
        let times = [self.members.next_expiry(now), retry_at, retry_read_at, unconfirmed];
        let wake_at = times.into_iter().flatten().min();
        tokio::select! {
            biased;
            () = sleep_until(wake_at.unwrap_or(now)), if wake_at.is_some() => {
                self.confirm_expired().await;
                self.delete_abandoned().await;
            }
            event = self.events.next(), if retry_at.is_none() => self.on_event(event),
        }
    }

    /// Handles an event or an error of the watch. After an error, the watch is not polled for [`RETRY_DELAY`].
    fn on_event(&mut self, event: Option<watcher::Result<watcher::Event<Lease>>>) {
        let now = Instant::now();
        match event {
            Some(Ok(event)) => self.on_watch_event(event, now),
            // The watcher lists or watches again when it is polled.
            Some(Err(error)) => {
                self.retry_at = Some(now + RETRY_DELAY);
                self.log_once(format!("failed to watch the Leases of the members: {}", ErrorChain(&error)));
            }
            None => self.retry_at = Some(now + RETRY_DELAY),
        }
    }

    /// Records the Leases in an event of the watch.
    fn on_watch_event(&mut self, event: watcher::Event<Lease>, now: Instant) {
        match event {
            watcher::Event::Init => self.members.begin_list(),
            watcher::Event::InitDone => {
                self.members.end_list();
                self.last_failure = None;
            }
            watcher::Event::InitApply(lease) | watcher::Event::Apply(lease) => self.members.observe(lease, now),
            watcher::Event::Delete(lease) => self.members.forget(lease.metadata.name.as_deref().unwrap_or_default()),
        }
    }

    /// Reads the expired Leases from the API server to confirm that their members have ended, since the watch may deliver a renewal late. A
    /// failed read is repeated after [`RETRY_DELAY`].
    async fn confirm_expired(&mut self) {
        for name in self.members.expired(Instant::now()) {
            let read = timeout(REQUEST_TIMEOUT, self.leases.get_opt(&name)).await;
            let now = Instant::now();
            match read {
                Ok(Ok(Some(lease))) => self.members.confirm(lease, now),
                Ok(Ok(None)) => self.members.forget(&name),
                Ok(Err(error)) => {
                    self.retry_read_at = Some(now + RETRY_DELAY);
                    self.log_once(format!("failed to read the Lease of a member: {}", ErrorChain(&error)));
                }
                Err(_) => self.retry_read_at = Some(now + RETRY_DELAY),
            }
        }
    }

    /// Deletes the Leases of members that ended long ago. The precondition on the resourceVersion spares a Lease that has changed since.
    async fn delete_abandoned(&mut self) {
        for (name, resource_version) in self.members.abandoned(Instant::now()) {
            let preconditions = Preconditions { resource_version, uid: None };
            let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
            match timeout(REQUEST_TIMEOUT, self.leases.delete(&name, &params)).await {
                Ok(Err(kube::Error::Api(status))) if matches!(status.code, 404 | 409) => {}
                Ok(Err(error)) => {
                    self.log_once(format!("failed to delete the Lease of an ended member: {}", ErrorChain(&error)));
                }
                Ok(Ok(_)) | Err(_) => {}
            }
            // If the Lease still exists, a later event or list of the watch adds the member again.
            self.members.forget(&name);
        }
    }

    /// Logs a failure, unless the previous attempt failed with the same text.
    fn log_once(&mut self, failure: String) {
        if self.last_failure.as_ref() != Some(&failure) {
            tracing::warn!("{failure}");
            self.last_failure = Some(failure);
        }
    }
}
