//! `Shards`: the shards that this replica holds, and the passes (reconciles) over their objects that run.

use super::{
    hash::ShardCount,
    watch::{CachedShards, ShardedWatch},
};
use crate::{
    cache::Uid,
    informer::watch::Health,
    lease::{
        lead::Lead,
        leads::{Leads, with_lead},
    },
};
use parking_lot::Mutex;
use std::{collections::BTreeMap, pin::pin, sync::Arc};
use tokio::sync::{Notify, watch};

/// The shards of this replica. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Shards(Arc<HeldShards>);

#[derive(Debug)]
struct HeldShards {
    count: ShardCount,
    leads: Leads,
    cached: watch::Sender<CachedShards>,
    gates: Mutex<BTreeMap<u16, ShardGate>>,
    /// Wakes the callers of [`Shards::drain`].
    pass_ended: Notify,
    watches: Mutex<Vec<Arc<ShardedWatch>>>,
    /// Why this replica has no shards yet; `None` once it takes shards.
    waiting: Mutex<Option<WaitReason>>,
}

/// The reason why a replica takes no shards yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WaitReason {
    /// Its Lease is not held, or those of the others are not listed.
    #[error("waiting for the Leases of the members")]
    MembersUnknown,
    /// A live member has another number of shards.
    #[error("waiting for the end of member {member}, which has {count} shards")]
    OtherShardCount {
        /// The Lease of the member.
        member: String,
        /// Its number of shards.
        count: u16,
    },
}

/// A held shard.
#[derive(Debug)]
struct ShardGate {
    lead: Lead,
    /// Whether passes may begin: the caches have the objects, and the shard is not being handed over.
    is_open: bool,
    running_passes: usize,
}

impl Shards {
    /// Creates the state of a replica that holds no shard yet. `leads` has the leadership of each held shard, which writes check.
    pub(crate) fn new(count: ShardCount, leads: Leads) -> Self {
        Self(Arc::new(HeldShards {
            count,
            leads,
            cached: watch::Sender::default(),
            gates: Mutex::default(),
            pass_ended: Notify::new(),
            watches: Mutex::default(),
            waiting: Mutex::new(Some(WaitReason::MembersUnknown)),
        }))
    }

    pub(crate) fn count(&self) -> ShardCount {
        self.0.count
    }

    /// Returns the leadership of the process and of each held shard, which writes check.
    pub(crate) fn leads(&self) -> &Leads {
        &self.0.leads
    }

    /// Creates the state of a watch whose cache has only objects of the held shards. `selects` is true if the API server may select the
    /// objects by the parameter `shardSelector`.
    pub(crate) fn add_watch(&self, health: &Health, selects: bool) -> Arc<ShardedWatch> {
        let watch = ShardedWatch::new(self.0.count, self.0.cached.subscribe(), health.clone(), selects);
        self.0.watches.lock().push(watch.clone());
        watch
    }

    /// Returns whether the object with this uid is in a shard that this replica holds, so that the caches have it or are loading it.
    pub(crate) fn contains(&self, uid: &Uid) -> bool {
        self.0.cached.borrow().set.contains(self.0.count.shard_of(uid))
    }

    /// Begins a pass (a reconcile) over the object with this uid. Returns `None` if this replica does not hold the shard of the object, if
    /// the caches don't have the objects of the shard yet, or if the shard is being handed over.
    pub(crate) fn begin_pass(&self, uid: &Uid) -> Option<ShardPass> {
        let shard = self.0.count.shard_of(uid);
        let mut gates = self.0.gates.lock();
        let gate = gates.get_mut(&shard).filter(|gate| gate.is_open)?;
        gate.running_passes += 1;
        Some(ShardPass(Some(PassPermit { shards: self.clone(), shard, lead: gate.lead.clone() })))
    }

    /// Adds a shard whose Lease this replica has acquired. The watches then load the objects of the shard. Passes over these objects begin
    /// only after [`Shards::open`]. Returns the number of additions so far, for [`Shards::wait_until_cached`].
    pub(crate) fn add(&self, shard: u16, lead: &Lead) -> u64 {
        self.0.leads.add(lead.clone());
        let gate = ShardGate { lead: lead.clone(), is_open: false, running_passes: 0 };
        self.0.gates.lock().insert(shard, gate);
        let mut additions = 0;
        self.0.cached.send_modify(|cached| {
            cached.set.insert(shard);
            (cached.additions, cached.changes) = (cached.additions + 1, cached.changes + 1);
            additions = cached.additions;
        });
        additions
    }

    /// Waits until all caches have the objects of the shard whose [`Shards::add`] returned `additions`.
    pub(super) async fn wait_until_cached(&self, additions: u64) {
        let watches = self.0.watches.lock().clone();
        for watch in watches {
            watch.wait_until_listed(additions).await;
        }
    }

    /// Lets passes over the objects of a shard begin.
    pub(super) fn open(&self, shard: u16) {
        self.set_open(shard, true);
    }

    /// Closes a shard, so that no further pass over one of its objects begins, and waits until the running passes have ended.
    pub(super) async fn drain(&self, shard: u16) {
        self.set_open(shard, false);
        loop {
            let mut pass_ended = pin!(self.0.pass_ended.notified());
            // Waiting starts before the check, so that a pass that ends after it is not missed.
            pass_ended.as_mut().enable();
            if self.0.gates.lock().get(&shard).is_none_or(|gate| gate.running_passes == 0) {
                return;
            }
            pass_ended.await;
        }
    }

    /// Sets whether passes over the objects of a held shard may begin.
    fn set_open(&self, shard: u16, is_open: bool) {
        if let Some(gate) = self.0.gates.lock().get_mut(&shard) {
            gate.is_open = is_open;
        }
    }

    /// Removes a shard without running passes. The caches then drop the objects of the shard.
    pub(super) fn remove(&self, shard: u16) {
        if let Some(gate) = self.0.gates.lock().remove(&shard) {
            self.0.leads.remove(&gate.lead);
        }
        self.0.cached.send_modify(|cached| {
            cached.set.remove(shard);
            cached.changes += 1;
        });
    }

    /// Returns whether this replica holds a shard.
    pub(super) fn holds(&self, shard: u16) -> bool {
        self.0.gates.lock().contains_key(&shard)
    }

    /// Returns the number of held shards.
    pub(crate) fn held_number(&self) -> u16 {
        u16::try_from(self.0.gates.lock().len()).unwrap_or(ShardCount::MAX)
    }

    /// Returns whether a pass over an object of the shard could write now: the shard is open, and the leadership of the shard and of the
    /// process has not expired.
    #[cfg(test)]
    pub(super) fn may_write(&self, shard: u16) -> bool {
        let gates = self.0.gates.lock();
        let lead = gates.get(&shard).filter(|gate| gate.is_open).map(|gate| &gate.lead);
        lead.is_some_and(|lead| lead.check().is_ok()) && self.0.leads.process().check().is_ok()
    }

    /// Sets the reason why this replica takes no shards; `None` once it does.
    pub(super) fn set_waiting(&self, reason: Option<WaitReason>) {
        *self.0.waiting.lock() = reason;
    }

    /// Returns a line if this replica acquires no shards because a live member is configured with another number of shards. The replica
    /// counts as ready meanwhile, so that a rolling update goes on and ends the other members.
    pub(crate) fn describe_waiting(&self) -> Option<String> {
        match &*self.0.waiting.lock() {
            Some(reason @ WaitReason::OtherShardCount { .. }) => Some(format!("{reason}\n")),
            Some(WaitReason::MembersUnknown) | None => None,
        }
    }

    /// Returns a line for each reason why this replica is not ready; empty if it is ready.
    pub(crate) fn describe_unready(&self) -> String {
        if let Some(reason @ WaitReason::MembersUnknown) = &*self.0.waiting.lock() {
            return format!("{reason}\n");
        }
        let gates = self.0.gates.lock();
        let closed = gates.iter().filter(|(_, gate)| !gate.is_open);
        closed.map(|(shard, _)| format!("shard {shard}: its objects are not listed yet\n")).collect()
    }
}

/// A running pass (reconcile), whose writes check the leadership of its shard. The pass ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ShardPass(Option<PassPermit>);

/// The permission of a pass over an object of a held shard.
#[derive(Debug)]
struct PassPermit {
    shards: Shards,
    shard: u16,
    lead: Lead,
}

impl ShardPass {
    /// Returns the pass of an operator without shards.
    pub(crate) fn without_shards() -> Self {
        Self(None)
    }

    /// Runs the work of the pass. While it runs, its writes check that the Lease of the shard is held.
    pub(crate) async fn run<F: Future>(self, work: F) -> F::Output {
        match &self.0 {
            Some(permit) => with_lead(permit.lead.clone(), work).await,
            None => work.await,
        }
    }
}

impl Drop for PassPermit {
    /// Counts the pass as ended, and wakes [`Shards::drain`].
    fn drop(&mut self) {
        if let Some(gate) = self.shards.0.gates.lock().get_mut(&self.shard) {
            gate.running_passes = gate.running_passes.saturating_sub(1);
        }
        self.shards.0.pass_ended.notify_waiters();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use futures::FutureExt as _;
    use k8s_openapi::api::core::v1::Pod;

    /// Returns the only shard, and an object of it.
    fn single() -> (Shards, Uid) {
        (Shards::new(ShardCount::new(1).unwrap(), Leads::new()), Uid::from("a"))
    }

    #[tokio::test]
    async fn a_pass_begins_only_while_the_shard_is_held_and_cached() {
        let (shards, uid) = single();
        assert!(shards.begin_pass(&uid).is_none() && !shards.contains(&uid));
        shards.add(0, &Lead::new());
        assert!(shards.begin_pass(&uid).is_none() && shards.contains(&uid));
        shards.open(0);
        assert!(shards.begin_pass(&uid).is_some());
        shards.remove(0);
        assert!(shards.begin_pass(&uid).is_none() && !shards.contains(&uid));
    }

    #[tokio::test]
    async fn a_shard_is_drained_when_its_last_pass_has_ended() {
        let (shards, uid) = single();
        shards.add(0, &Lead::new());
        shards.open(0);
        let passes = [shards.begin_pass(&uid).unwrap(), shards.begin_pass(&uid).unwrap()];
        let mut drained = pin!(shards.drain(0));
        assert!(drained.as_mut().now_or_never().is_none());
        assert!(shards.begin_pass(&uid).is_none(), "no pass begins while the others end");
        let [first, last] = passes;
        drop(first);
        assert!(drained.as_mut().now_or_never().is_none());
        drop(last);
        assert!(drained.as_mut().now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_shard_is_cached_when_every_watch_has_listed_it_or_can_not() {
        let (shards, _) = single();
        let [first, second] = [(); 2].map(|()| Health::new(kind_of::<Pod>()));
        let (listed, _blocked) = (shards.add_watch(&first, true), shards.add_watch(&second, false));
        let before = listed.cached();
        let additions = shards.add(0, &Lead::new());
        let mut cached = pin!(shards.wait_until_cached(additions));
        listed.note_listed(&before);
        assert!(cached.as_mut().now_or_never().is_none(), "the list began before");
        listed.note_listed(&listed.cached());
        assert!(cached.as_mut().now_or_never().is_none(), "the other watch has not listed it");
        second.set(crate::informer::watch::WatchState::Missing);
        assert!(cached.as_mut().now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_replica_is_ready_when_it_takes_shards_and_has_listed_those_that_it_holds() {
        let (shards, _) = single();
        assert_eq!(shards.describe_unready(), "waiting for the Leases of the members\n");
        shards.set_waiting(Some(WaitReason::OtherShardCount { member: "other".to_owned(), count: 8 }));
        assert_eq!(shards.describe_unready(), "", "a rolling update waits until it is ready");
        assert!(shards.describe_waiting().unwrap().contains("which has 8 shards"));
        shards.set_waiting(None);
        assert_eq!((shards.describe_unready(), shards.describe_waiting()), (String::new(), None));
        shards.add(0, &Lead::new());
        assert_eq!(shards.describe_unready(), "shard 0: its objects are not listed yet\n");
        shards.open(0);
        assert_eq!(shards.describe_unready(), "");
    }
}
