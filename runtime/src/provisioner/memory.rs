//! What a controller remembers of an owner's children between passes, and the cache can't know.

use crate::{
    cache::{Header, ObjectKey, Uid},
    kind::Kind,
    pass::Identity,
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Notes by owner; they end with the owner, and a restart may lose them all.
#[derive(Debug, Default)]
pub(crate) struct Memory(HashMap<ObjectKey, (Uid, Notes)>);

#[derive(Debug, Default)]
struct Notes {
    departing: Vec<Departing>,
    settled: BTreeMap<(Kind, ObjectKey), u64>,
    /// What each resource node built last, and from which inputs.
    built: HashMap<Place, (u64, Arc<[Built]>)>,
}

/// A resource node of an owner.
type Place = (Kind, Arc<str>);

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
        let notes = self.notes(owner);
        match notes.departing.iter_mut().find(|held| held.is_same(&child)) {
            Some(held) => held.gone |= child.gone,
            None => notes.departing.push(child),
        }
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
        self.notes(owner).departing.retain(|held| !held.is_same(child));
    }

    /// Notes the fields that our own apply left us with, where they are fewer than were applied.
    pub(crate) fn settle(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey, fields: u64) {
        self.notes(owner).settled.insert((kind.clone(), key.clone()), fields);
    }

    pub(crate) fn is_settled(&self, owner: &Identity, kind: &Kind, key: &ObjectKey, fields: u64) -> bool {
        self.known(owner).and_then(|notes| notes.settled.get(&(kind.clone(), key.clone()))) == Some(&fields)
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
        match inputs {
            Some(inputs) => drop(self.notes(owner).built.insert(place, (inputs, built.into()))),
            None => drop(self.notes(owner).built.remove(&place)),
        }
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
        self.0.remove(owner);
    }

    fn known(&self, owner: &Identity) -> Option<&Notes> {
        self.0.get(&owner.key).filter(|(uid, _)| *uid == owner.uid).map(|(_, notes)| notes)
    }

    /// An owner made anew under its name begins without notes.
    fn notes(&mut self, owner: &Identity) -> &mut Notes {
        let held = self.0.entry(owner.key.clone()).or_default();
        if held.0 != owner.uid {
            *held = (owner.uid.clone(), Notes::default());
        }
        &mut held.1
    }
}
