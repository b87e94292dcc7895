//! Assigns each shard to a member by rendezvous hashing, so that the members' numbers of shards differ by at most one.
//!
//! Rendezvous hashing gives a shard to the member with the highest score for it, so a member that joins or leaves moves few
//! shards. With few shards, some members would get much more than others. So no member gets more than its share: the pairs of
//! member and shard are considered from the highest score to the lowest one, and a member whose share is complete gets no more.

use super::{
    hash::{Fnv1a, ShardCount},
    set::ShardSet,
};
use std::{cmp::Reverse, collections::BTreeSet};

/// Returns the shards that `member` should hold if `members` are the names of all live members. All members compute the same assignment.
pub(super) fn shards_of(member: &str, members: &BTreeSet<String>, count: ShardCount) -> ShardSet {
    let owners = assign(members, count);
    let own = owners.iter().zip(0_u16..).filter(|(owner, _)| **owner == Some(member));
    own.map(|(_, shard)| shard).collect()
}

/// Returns the member that each shard is assigned to, by shard; `None` only if there are no members. The pairs of member and shard are
/// tried from the highest score to the lowest, and a pair is skipped if the shard has a member or the member has its share of the shards.
fn assign(members: &BTreeSet<String>, count: ShardCount) -> Vec<Option<&str>> {
    let shards = usize::from(count.get());
    // Each member gets `share` shards, and `extra` of them get one more.
    let (share, mut extra) = (shards / members.len().max(1), shards % members.len().max(1));
    let mut pairs: Vec<_> = members
        .iter()
        .enumerate()
        .flat_map(|(index, member)| (0..count.get()).map(move |shard| (score(member, shard), index, shard)))
        .collect();
    pairs.sort_unstable_by_key(|pair| Reverse(*pair));
    let names: Vec<&str> = members.iter().map(String::as_str).collect();
    let (mut owners, mut held_counts) = (vec![None; shards], vec![0_usize; names.len()]);
    for (_, index, shard) in pairs {
        let (owner, held) = (&mut owners[usize::from(shard)], &mut held_counts[index]);
        // The member has one shard more than `share`, or `share` shards and no extra one is left.
        if owner.is_some() || *held > share || *held == share && extra == 0 {
            continue;
        }
        extra -= usize::from(*held == share);
        *held += 1;
        *owner = Some(names[index]);
    }
    owners
}

/// Returns the rendezvous score of a member for a shard, which is a hash of both: the member with the highest score should get the shard.
fn score(member: &str, shard: u16) -> u64 {
    // The last byte hardly changes the high bits of an FNV hash. The constants and shifts are the finalizer of SplitMix64, which mixes all
    // bits.
    let hash = Fnv1a::new().add(member.as_bytes()).add(&shard.to_be_bytes()).value();
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::queue::{Jitter as _, Seeded};
    use std::collections::BTreeMap;

    /// Returns random members.
    fn members(dice: &Seeded, count: usize) -> BTreeSet<String> {
        (0..count).map(|_| format!("shop.opgen.dev-member-{:016x}", dice.bits())).collect()
    }

    /// Returns the member of each shard.
    fn owners(members: &BTreeSet<String>, count: ShardCount) -> Vec<String> {
        assign(members, count).into_iter().map(|owner| owner.unwrap().to_owned()).collect()
    }

    /// Returns the number of shards whose member differs between two assignments.
    fn moved(before: &[String], after: &[String]) -> usize {
        before.iter().zip(after).filter(|(before, after)| before != after).count()
    }

    #[test]
    fn every_shard_has_one_member_and_every_member_its_share() {
        let dice = Seeded::new(1);
        for (members_count, shards) in (1..=9).flat_map(|members| (1..=40).map(move |shards| (members, shards))) {
            let (members, count) = (members(&dice, members_count), ShardCount::new(shards).unwrap());
            let mut held: BTreeMap<String, usize> = members.iter().map(|member| (member.clone(), 0)).collect();
            owners(&members, count).into_iter().for_each(|owner| *held.get_mut(&owner).unwrap() += 1);
            let share = usize::from(shards) / members_count;
            assert!(held.values().all(|held| *held == share || *held == share + 1), "{held:?}");
            let all: ShardSet = members
                .iter()
                .flat_map(|member| shards_of(member, &members, count).iter().collect::<Vec<_>>())
                .collect();
            assert_eq!(all, (0..shards).collect());
        }
    }

    /// A member that joins takes its share. Few shards move between the others, because the shares of these shrink.
    #[test]
    fn a_member_that_joins_or_leaves_moves_few_shards() {
        let dice = Seeded::new(2);
        let (mut total, mut necessary) = (0, 0);
        for round in 0..200 {
            let before = members(&dice, 1 + round % 8);
            let count = ShardCount::new(60).unwrap();
            let mut after = before.clone();
            after.extend(members(&dice, 1));
            let (old, new) = (owners(&before, count), owners(&after, count));
            let share = 60 / after.len();
            let moved = moved(&old, &new);
            assert!(moved >= share && moved <= 2 * (share + 1), "{moved} shards moved, the share is {share}");
            (total, necessary) = (total + moved, necessary + share);
        }
        assert!(total * 2 <= necessary * 3, "{total} shards moved, {necessary} had to");
    }

    #[test]
    fn without_members_nobody_has_a_shard() {
        assert!(assign(&BTreeSet::new(), ShardCount::new(3).unwrap()).iter().all(Option::is_none));
        assert!(shards_of("a", &BTreeSet::new(), ShardCount::new(3).unwrap()).is_empty());
    }
}
