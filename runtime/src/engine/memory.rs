//! What a controller remembers of an owner's children between passes, and the cache can't know.

use crate::{
    cache::{Header, ObjectKey, PerObject, Revision, Uid},
    engine::{
        hand_written::{ByHand, Effect},
        identity::Identity,
        repair::{Damage, Fight, Repairs},
    },
    kind::Kind,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};
use tokio::time::Instant;

/// Notes by owner; they end with the owner, and a restart may lose them all.
#[derive(Debug, Default)]
pub(crate) struct Memory(PerObject<Notes>);

#[derive(Debug, Default, PartialEq)]
struct Notes {
    departing: Vec<Departing>,
    /// Of each child the fields that our own apply left us with, where they are fewer than were applied.
    settled: BTreeMap<Kind, PerObject<Option<u64>>>,
    /// What each resource node built last, and from which inputs.
    built: HashMap<(Kind, Arc<str>), BuiltFrom>,
    /// Digests of kind and key of the children that were created, and of what else was written for the first time.
    written: Vec<u64>,
    by_hand: ByHand,
    repairs: Repairs,
}

/// What a node has built, behind the number of its inputs.
type BuiltFrom = (u64, Arc<[Built]>);

/// An object that a node has built.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Built {
    pub(crate) key: ObjectKey,
    /// Digest of what was applied.
    pub(crate) digest: Box<str>,
}

/// A child whose deletion was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Departing {
    pub(crate) kind: Kind,
    pub(crate) node: Box<str>,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
    /// The server has said that it is removed; the cache may not know yet.
    pub(crate) gone: bool,
}

impl Departing {
    pub(crate) fn new(kind: &Kind, node: &str, header: &Header) -> Self {
        Self { kind: kind.clone(), node: node.into(), key: header.key.clone(), uid: header.uid.clone(), gone: false }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.uid == other.uid && self.key == other.key && self.kind == other.kind
    }
}

impl Memory {
    pub(crate) fn depart(&mut self, owner: &Identity, child: Departing) {
        self.update(owner, |notes| match notes.departing.iter_mut().find(|held| held.is_same(&child)) {
            Some(held) => held.gone |= child.gone,
            None => notes.departing.push(child),
        });
    }

    pub(crate) fn is_gone(&self, owner: &Identity, child: &Departing) -> bool {
        let departing = self.known(owner).map(|notes| notes.departing.as_slice()).unwrap_or_default();
        departing.iter().any(|held| held.gone && held.is_same(child))
    }

    pub(crate) fn departing(&self, owner: &Identity, kind: &Kind, node: &str) -> Vec<Departing> {
        let departing = self.known(owner).map(|notes| notes.departing.as_slice()).unwrap_or_default();
        departing.iter().filter(|child| child.kind == *kind && *child.node == *node).cloned().collect()
    }

    pub(crate) fn departed(&mut self, owner: &Identity, child: &Departing) {
        self.update(owner, |notes| notes.departing.retain(|held| !held.is_same(child)));
    }

    /// Notes the fields that our own apply left us with, where they are fewer than were applied.
    pub(crate) fn settle(&mut self, owner: &Identity, kind: &Kind, child: &Header, fields: u64) {
        self.update(owner, |notes| {
            let settled = notes.settled.entry(kind.clone()).or_default();
            settled.update(&child.key, &child.uid, |held| *held = Some(fields));
        });
    }

    pub(crate) fn is_settled(&self, owner: &Identity, kind: &Kind, child: &Header, fields: u64) -> bool {
        let settled = self.known(owner).and_then(|notes| notes.settled.get(kind));
        settled.and_then(|settled| settled.get(&child.key, &child.uid)) == Some(&Some(fields))
    }

    /// Notes that something is written for the owner: `false` if that is the first time, for this object.
    pub(crate) fn is_written_again(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey) -> bool {
        let digest = digest_of(kind, key);
        self.update(owner, |notes| {
            let is_again = notes.written.contains(&digest);
            if !is_again {
                notes.written.push(digest);
            }
            is_again
        })
    }

    /// Notes that the owner's own tree removes an object: to make it again is no repair.
    pub(crate) fn removed(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey) {
        let digest = digest_of(kind, key);
        self.update(owner, |notes| notes.written.retain(|held| *held != digest));
    }

    /// A hand-written node begins to write an object; gives the revision that the write before has left.
    pub(crate) fn begin_by_hand(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey) -> Option<Revision> {
        self.update(owner, |notes| notes.by_hand.begin(digest_of(kind, key)))
    }

    /// The write failed.
    pub(crate) fn failed_by_hand(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey, before: Option<Revision>) {
        self.update(owner, |notes| notes.by_hand.failed(digest_of(kind, key), before));
    }

    /// The write of `sent` left the object at a revision; see [`ByHand::wrote`].
    pub(crate) fn wrote_by_hand(
        &mut self,
        owner: &Identity,
        (kind, key): (&Kind, &ObjectKey),
        sent: &Value,
        known: [Option<Revision>; 2],
        left: Revision,
    ) -> Effect {
        self.update(owner, |notes| notes.by_hand.wrote(digest_of(kind, key), sent, known, left))
    }

    /// Whether a state of an object, or that it is gone, is the work of the owner's hand-written nodes.
    pub(crate) fn is_by_hand(
        &self,
        owner: &ObjectKey,
        kind: &Kind,
        (key, shown): (&ObjectKey, Option<&Header>),
    ) -> bool {
        let notes = self.0.uid_of(owner).and_then(|uid| self.0.get(owner, uid));
        notes.is_some_and(|notes| notes.by_hand.is_own(digest_of(kind, key), shown))
    }

    /// Counts a repair.
    pub(crate) fn repaired(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey, damage: Damage) {
        self.update(owner, |notes| notes.repairs.add(kind, key, damage, Instant::now()));
    }

    /// The fight over children of the owner, if there is one.
    pub(crate) fn fight(&mut self, owner: &ObjectKey, uid: &Uid) -> Option<Fight> {
        let has_repairs = self.has_repairs(owner, uid);
        has_repairs.then(|| self.0.update(owner, uid, |notes| notes.repairs.fight(Instant::now()))).flatten()
    }

    /// Whether repairs are being counted.
    pub(crate) fn has_repairs(&self, owner: &ObjectKey, uid: &Uid) -> bool {
        self.0.get(owner, uid).is_some_and(|notes| !notes.repairs.is_empty())
    }

    /// Begins to count repairs anew: a user wants something else.
    pub(crate) fn forget_repairs(&mut self, owner: &Identity) {
        if self.has_repairs(&owner.key, &owner.uid) {
            self.update(owner, |notes| notes.repairs.clear());
        }
    }

    /// Notes what a node has built; without inputs it is not to be relied on.
    pub(crate) fn built(
        &mut self,
        owner: &Identity,
        kind: &Kind,
        node: &Arc<str>,
        inputs: Option<u64>,
        built: Vec<Built>,
    ) {
        let place = (kind.clone(), node.clone());
        self.update(owner, |notes| match inputs {
            Some(inputs) => drop(notes.built.insert(place, (inputs, built.into()))),
            None => drop(notes.built.remove(&place)),
        });
    }

    /// What a node has built from these inputs.
    pub(crate) fn is_built(&self, owner: &Identity, kind: &Kind, node: &Arc<str>, inputs: u64) -> Option<Arc<[Built]>> {
        let (from, built) = self.known(owner)?.built.get(&(kind.clone(), node.clone()))?;
        (*from == inputs).then(|| built.clone())
    }

    /// The nodes with objects of a kind whose deletion was asked for.
    pub(crate) fn departing_of(&self, owner: &Identity, kind: &Kind) -> Vec<String> {
        let departing = self.known(owner).map(|notes| notes.departing.as_slice()).unwrap_or_default();
        departing.iter().filter(|child| child.kind == *kind).map(|child| child.node.to_string()).collect()
    }

    /// The owner is gone.
    pub(crate) fn forget(&mut self, owner: &ObjectKey) {
        self.0.forget(owner);
    }

    fn known(&self, owner: &Identity) -> Option<&Notes> {
        self.0.get(&owner.key, &owner.uid)
    }

    fn update<R>(&mut self, owner: &Identity, change: impl FnOnce(&mut Notes) -> R) -> R {
        self.0.update(&owner.key, &owner.uid, change)
    }
}

fn digest_of(kind: &Kind, key: &ObjectKey) -> u64 {
    let mut hasher = DefaultHasher::new();
    (kind, key).hash(&mut hasher);
    hasher.finish()
}
