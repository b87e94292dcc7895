//! `CausalChains`: counts the own writes that lead from one primary to the next, so that passes that cause each other are found.
//!
//! A pass writes a child, the change of the child enqueues another primary, whose pass writes a child, and so on. Such a chain is
//! as long as the kinds of an operator depend on each other. A longer one is a cycle: two primaries that are built from each
//! other's children, which change without end.

use crate::{
    cache::{Change, Header, ObjectKey},
    engine::{applied_mark::APPLIED_ANNOTATION, write_traces::WriteTraces},
    kind::Kind,
};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};

/// The number of own writes in a chain from which on it is a cycle.
pub(crate) const CYCLE_LENGTH: u32 = 30;

/// The chains of own writes of all controllers of an operator.
#[derive(Debug, Default)]
pub(crate) struct CausalChains {
    chains: Mutex<Chains>,
    /// The traces of these writes.
    pub(crate) traces: WriteTraces,
}

#[derive(Debug, Default)]
struct Chains {
    /// The kinds whose changes enqueue primaries that are not their owners. Only writes of these are recorded.
    related_kinds: HashSet<Kind>,
    /// The last own write of each object.
    writes: HashMap<(Kind, ObjectKey), ChainedWrite>,
    /// The longest chain that leads to the next pass of a primary. A primary without an entry is at the start of a chain.
    next_passes: HashMap<(Kind, ObjectKey), u32>,
}

/// An own write, found in the watch event by the digest that the operator puts into an annotation. The version that the API
/// server returns would not do: the event may come before the response.
#[derive(Debug)]
struct ChainedWrite {
    digest: Box<str>,
    length: u32,
}

impl CausalChains {
    /// Adds a kind whose changes enqueue primaries that are not their owners.
    pub(crate) fn add_related_kind(&self, kind: &Kind) {
        self.chains.lock().related_kinds.insert(kind.clone());
    }

    /// Records a write of a child before it is sent. `pass` is the length of the chain that led to the pass.
    pub(crate) fn record_write(&self, kind: &Kind, key: &ObjectKey, digest: &str, pass: u32) {
        let mut chains = self.chains.lock();
        if chains.related_kinds.contains(kind) {
            let write = ChainedWrite { digest: digest.into(), length: pass.saturating_add(1) };
            chains.writes.insert((kind.clone(), key.clone()), write);
        }
    }

    /// Returns the length of the chain that a changed object ends; 0 if the change is not an own write. Drops what is recorded of
    /// a deleted object.
    pub(crate) fn length_at<V>(&self, kind: &Kind, change: &Change<V>) -> u32 {
        let digest_of = |header: &Header| header.annotations.get(APPLIED_ANNOTATION).map(str::to_owned);
        let mut chains = self.chains.lock();
        if chains.writes.is_empty() {
            return 0;
        }
        let Some(new) = change.new_entry() else {
            if let Some(old) = change.old() {
                chains.writes.remove(&(kind.clone(), old.header.key.clone()));
            }
            return 0;
        };
        let digest = digest_of(&new.header);
        let is_content_change = digest.is_some() && digest != change.old().and_then(|old| digest_of(&old.header));
        let write = || chains.writes.get(&(kind.clone(), new.header.key.clone()));
        let own_write = is_content_change.then(write).flatten();
        own_write.filter(|write| Some(&*write.digest) == digest.as_deref()).map_or(0, |write| write.length)
    }

    /// Records that a chain of this length leads to the next pass of a primary.
    pub(crate) fn extend_to(&self, kind: &Kind, primary: &ObjectKey, length: u32) {
        if length > 0 {
            let mut chains = self.chains.lock();
            let longest = chains.next_passes.entry((kind.clone(), primary.clone())).or_default();
            *longest = length.max(*longest);
        }
    }

    /// Returns the length of the longest chain that leads to the pass of a primary that begins now.
    pub(crate) fn begin_pass(&self, kind: &Kind, primary: &ObjectKey) -> u32 {
        let mut chains = self.chains.lock();
        if chains.next_passes.is_empty() {
            return 0;
        }
        chains.next_passes.remove(&(kind.clone(), primary.clone())).unwrap_or(0)
    }
}
