//! `Members`: decides by the Leases of an operator's replicas which replicas are alive. Its caller passes the Leases; it does no I/O.

use super::hash::ShardCount;
use crate::lease::record;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::time::Instant;

/// The label of the Lease of a member, with the number of shards as its value.
pub(crate) const SHARDS_LABEL: &str = "opgen.dev/shards";

/// The number of lease durations after which the Lease of a member that is gone is deleted.
const DURATIONS_UNTIL_DELETION: u32 = 20;

/// The members of an operator, as one of them knows them.
#[derive(Debug)]
pub(super) struct Members {
    /// The name of the own Lease.
    own: String,
    /// The prefix of the names of all members' Leases.
    prefix: String,
    count: ShardCount,
    lease_duration: Duration,
    others: BTreeMap<String, OtherMember>,
    /// The members that the current list contains, until it is complete.
    listed: Option<BTreeSet<String>>,
    is_loaded: bool,
}

/// Another member.
#[derive(Debug)]
struct OtherMember {
    /// The last known spec of its Lease, which each renewal changes.
    spec: LeaseSpec,
    /// The number of shards in its label.
    shards: Option<u16>,
    version: Option<String>,
    /// The time at which its Lease expires, unless it is renewed before.
    expires_at: Instant,
    /// Whether a live read after the expiry has shown an unchanged spec.
    has_ended: bool,
}

impl Members {
    pub(super) fn new(own: String, prefix: String, count: ShardCount, lease_duration: Duration) -> Self {
        Self { own, prefix, count, lease_duration, others: BTreeMap::new(), listed: None, is_loaded: false }
    }

    /// Begins a list of all members: the members that are observed until [`Members::end_list`] are in it.
    pub(super) fn begin_list(&mut self) {
        self.listed = Some(BTreeSet::new());
    }

    /// Ends the list. Removes the members that the list did not contain.
    pub(super) fn end_list(&mut self) {
        if let Some(listed) = self.listed.take() {
            self.others.retain(|name, _| listed.contains(name));
        }
        self.is_loaded = true;
    }

    /// Returns whether the list of the members has been loaded once.
    pub(super) fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// Records the Lease of another member from a list or an event of the watch. A changed spec is a renewal, so the Lease expires one
    /// lease duration after now. A Lease without a holder was released, and its member is removed.
    pub(super) fn observe(&mut self, lease: Lease, now: Instant) {
        let name = lease.metadata.name.clone().unwrap_or_default();
        if name == self.own || !name.starts_with(&self.prefix) {
            return;
        }
        if let Some(listed) = &mut self.listed {
            listed.insert(name.clone());
        }
        if record::holder(&lease).is_none() {
            self.others.remove(&name);
            return;
        }
        let expires_at = now + record::duration(&lease).unwrap_or(self.lease_duration);
        let labels = lease.metadata.labels.as_ref();
        let shards = labels.and_then(|labels| labels.get(SHARDS_LABEL)?.parse().ok());
        let (version, spec) = (lease.metadata.resource_version, lease.spec.unwrap_or_default());
        match self.others.get_mut(&name) {
            // The Lease was not renewed, so its expiry stays.
            Some(member) if member.spec == spec => (member.version, member.shards) = (version, shards),
            _ => drop(self.others.insert(name, OtherMember { spec, shards, version, expires_at, has_ended: false })),
        }
    }

    /// Records that the Lease of a member was deleted.
    pub(super) fn forget(&mut self, name: &str) {
        self.others.remove(name);
    }

    /// Records the Lease that a live read after its expiry has returned. If the spec is unchanged, the member has ended: it has missed its
    /// renew deadline and does not write any more. A changed spec counts as a renewal.
    pub(super) fn confirm(&mut self, lease: Lease, now: Instant) {
        let name = lease.metadata.name.clone().unwrap_or_default();
        self.observe(lease, now);
        if let Some(member) = self.others.get_mut(&name).filter(|member| member.expires_at <= now) {
            member.has_ended = true;
        }
    }

    /// Returns the members whose Leases have expired, but of which no live read has confirmed yet that they have ended: the renewal may be
    /// in a late event of the watch.
    pub(super) fn expired(&self, now: Instant) -> Vec<String> {
        let expired = self.others.iter().filter(|(_, member)| member.expires_at <= now && !member.has_ended);
        expired.map(|(name, _)| name.clone()).collect()
    }

    /// Returns the identities (the `holderIdentity` of their Leases) of the members that have ended.
    pub(super) fn ended(&self) -> BTreeSet<String> {
        let ended = self.others.values().filter(|member| member.has_ended);
        ended.filter_map(|member| member.spec.holder_identity.clone()).collect()
    }

    /// Returns the names of the Leases of the live members that have the same number of shards as this one. This replica is always one of
    /// them.
    pub(super) fn live(&self) -> BTreeSet<String> {
        let others = self.others.iter().filter(|(_, member)| !member.has_ended && self.has_same_shard_count(member));
        others.map(|(name, _)| name.clone()).chain([self.own.clone()]).collect()
    }

    /// Returns the Lease name of a live member with another number of shards, and its number; `None` if all have the same number.
    pub(super) fn other_shard_count(&self) -> Option<(&str, u16)> {
        let mut others =
            self.others.iter().filter(|(_, member)| !member.has_ended && !self.has_same_shard_count(member));
        others.next().map(|(name, member)| (name.as_str(), member.shards.unwrap_or_default()))
    }

    /// Returns whether a member is configured with the same number of shards as this replica.
    fn has_same_shard_count(&self, member: &OtherMember) -> bool {
        member.shards == Some(self.count.get())
    }

    /// Returns the next time after `now` at which the Lease of a member expires, or is old enough to be deleted.
    pub(super) fn next_expiry(&self, now: Instant) -> Option<Instant> {
        let times = self.others.values().flat_map(|member| [member.expires_at, self.deleted_at(member)]);
        times.filter(|time| *time > now).min()
    }

    /// Returns the Leases that expired so long ago that they are to be deleted: their names and resourceVersions.
    pub(super) fn abandoned(&self, now: Instant) -> Vec<(String, Option<String>)> {
        let abandoned = self.others.iter().filter(|(_, member)| self.deleted_at(member) <= now);
        abandoned.map(|(name, member)| (name.clone(), member.version.clone())).collect()
    }

    /// Returns the time at which the Lease of a member is to be deleted, unless it is renewed before.
    fn deleted_at(&self, member: &OtherMember) -> Instant {
        member.expires_at + self.lease_duration * DURATIONS_UNTIL_DELETION
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tokio::time::advance;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the members as the member `shop-member-a` with 4 shards knows them at first.
    fn members() -> Members {
        let count = ShardCount::new(4).unwrap();
        Members::new("shop-member-a".to_owned(), "shop-member-".to_owned(), count, SECOND * 15)
    }

    /// Returns the held Lease of a member. Another number of transitions makes another spec, as a renewal does.
    fn lease(name: &str, shards: u16, transitions: i32) -> Lease {
        let mut lease = Lease::default();
        lease.metadata.name = Some(name.to_owned());
        lease.metadata.labels = Some([(SHARDS_LABEL.to_owned(), shards.to_string())].into());
        let spec = lease.spec.get_or_insert_default();
        (spec.holder_identity, spec.lease_duration_seconds) = (Some(name.to_owned()), Some(15));
        spec.lease_transitions = Some(transitions);
        lease
    }

    fn live(members: &Members) -> Vec<String> {
        members.live().into_iter().collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_member_has_ended_if_a_read_shows_the_same_record_after_the_lease_duration() {
        let mut members = members();
        members.observe(lease("shop-member-b", 4, 0), Instant::now());
        members.observe(lease("other-member-c", 4, 0), Instant::now());
        assert_eq!(live(&members), ["shop-member-a", "shop-member-b"]);
        advance(SECOND * 10).await;
        members.observe(lease("shop-member-b", 4, 0), Instant::now());
        advance(SECOND * 5).await;
        assert_eq!(members.expired(Instant::now()), ["shop-member-b"], "the same record is no renewal");
        members.confirm(lease("shop-member-b", 4, 1), Instant::now());
        assert!(members.expired(Instant::now()).is_empty() && members.ended().is_empty(), "the watch was late");
        assert_eq!(members.next_expiry(Instant::now()), Some(Instant::now() + SECOND * 15));
        advance(SECOND * 15).await;
        assert_eq!(live(&members), ["shop-member-a", "shop-member-b"], "no read has confirmed it");
        members.confirm(lease("shop-member-b", 4, 1), Instant::now());
        assert_eq!(live(&members), ["shop-member-a"]);
        assert_eq!(members.ended(), BTreeSet::from(["shop-member-b".to_owned()]));
        assert!(members.abandoned(Instant::now()).is_empty());
        advance(SECOND * 15 * DURATIONS_UNTIL_DELETION).await;
        assert_eq!(members.abandoned(Instant::now()), [("shop-member-b".to_owned(), None)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_member_that_released_its_lease_or_is_not_listed_is_gone() {
        let mut members = members();
        for name in ["shop-member-b", "shop-member-c", "shop-member-d"] {
            members.observe(lease(name, 4, 0), Instant::now());
        }
        let mut released = lease("shop-member-b", 4, 0);
        released.spec.as_mut().unwrap().holder_identity = Some(String::new());
        members.observe(released, Instant::now());
        members.forget("shop-member-d");
        assert_eq!(live(&members), ["shop-member-a", "shop-member-c"]);
        members.begin_list();
        assert!(!members.is_loaded());
        members.observe(lease("shop-member-d", 4, 0), Instant::now());
        members.end_list();
        assert!(members.is_loaded());
        assert_eq!(live(&members), ["shop-member-a", "shop-member-d"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_member_with_another_number_of_shards_is_reported_and_gets_no_shard() {
        let mut members = members();
        members.observe(lease("shop-member-b", 8, 0), Instant::now());
        assert_eq!(members.other_shard_count(), Some(("shop-member-b", 8)));
        assert_eq!(live(&members), ["shop-member-a"]);
        advance(SECOND * 15).await;
        members.confirm(lease("shop-member-b", 8, 0), Instant::now());
        assert_eq!(members.other_shard_count(), None);
    }
}
