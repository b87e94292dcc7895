//! `CausalChains`: detects reconciled objects whose passes trigger each other without end. It counts the operator's own writes in a chain
//! of passes.
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
use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

/// The number of own writes in a chain from which on it is a cycle.
pub(crate) const CYCLE_LENGTH: u32 = 30;

/// The number of writes of one object whose watch events may be outstanding. Those of older ones start a new chain.
const MAX_OUTSTANDING: usize = 8;

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
    /// The latest own writes of each object, oldest first. The watch event of a write may come after the next write.
    writes: HashMap<(Kind, ObjectKey), VecDeque<ChainedWrite>>,
    /// The longest chain that leads to the next pass of a primary. A primary without an entry is at the start of a chain.
    next_passes: HashMap<(Kind, ObjectKey), u32>,
}

/// An own write, found in the watch event by the digest that the operator puts into an annotation. The version that the API
/// server returns would not do: the event may come before the response.
#[derive(Debug)]
struct ChainedWrite {
    /// Hash of the digest.
    digest: u64,
    length: u32,
}

fn digest_hash(digest: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    digest.hash(&mut hasher);
    hasher.finish()
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
            let writes = chains.writes.entry((kind.clone(), key.clone())).or_default();
            if writes.len() == MAX_OUTSTANDING {
                writes.pop_front();
            }
            writes.push_back(ChainedWrite { digest: digest_hash(digest), length: pass.saturating_add(1) });
        }
    }

    /// Returns the length of the chain whose last write caused a change of an object; 0 if the change is not an own write, which has
    /// another digest. Drops what is recorded of a deleted object.
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
        let Some(digest) = digest_of(&new.header) else { return 0 };
        if change.old().is_some_and(|old| digest_of(&old.header).as_ref() == Some(&digest)) {
            return 0;
        }
        let Some(writes) = chains.writes.get(&(kind.clone(), new.header.key.clone())) else { return 0 };
        let digest = digest_hash(&digest);
        writes.iter().rev().find(|write| write.digest == digest).map_or(0, |write| write.length)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{cache::Store, kind::kind_of};
    use fastrand::Rng;
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    /// The writes that two primaries may need until their cycle is found: each of the two first passes starts a chain.
    const MAX_WRITES: u32 = 2 * CYCLE_LENGTH;

    /// A primary whose object holds the number after that of the other primary's object.
    struct Primary {
        key: ObjectKey,
        is_dirty: bool,
        /// The length of the chain that led to the pass that is running.
        pass: Option<u32>,
        /// The number in its object.
        written: u64,
        /// The numbers in the events of its object that are outstanding.
        events: VecDeque<u64>,
        /// The object as the other primary's watch has it.
        watched: Store<u64>,
        version: u64,
    }

    impl Primary {
        fn new(name: &str) -> Self {
            Self {
                key: ObjectKey::cluster(name),
                is_dirty: true,
                pass: None,
                written: 0,
                events: VecDeque::new(),
                watched: Store::default(),
                version: 0,
            }
        }

        /// Delivers the next event of its object.
        fn deliver(&mut self) -> Option<Change<u64>> {
            let number = self.events.pop_front()?;
            self.version += 1;
            let object = json!({"metadata": {
                "name": self.key.name(), "uid": "u", "resourceVersion": self.version.to_string(),
                "annotations": {APPLIED_ANNOTATION: number.to_string()},
            }});
            Some(self.watched.apply(Header::parse(object.to_string().as_bytes()).unwrap(), || number))
        }
    }

    /// Runs two primaries, whose events come late, until a pass finds the cycle. Returns the number of writes.
    fn writes_until_found(seed: u64) -> u32 {
        let (mut random, chains) = (Rng::with_seed(seed), CausalChains::default());
        let (primary, object) = (kind_of::<Secret>(), kind_of::<ConfigMap>());
        chains.add_related_kind(&object);
        let mut primaries = [Primary::new("a"), Primary::new("b")];
        let mut writes = 0;
        while writes < 100 * MAX_WRITES {
            let (this, other) = if random.bool() { (0, 1) } else { (1, 0) };
            match random.u8(..60) {
                0 => {
                    let Some(change) = primaries[this].deliver() else { continue };
                    chains.extend_to(&primary, &primaries[other].key, chains.length_at(&object, &change));
                    primaries[other].is_dirty = true;
                }
                1..30 if primaries[this].is_dirty && primaries[this].pass.is_none() => {
                    primaries[this].is_dirty = false;
                    primaries[this].pass = Some(chains.begin_pass(&primary, &primaries[this].key));
                }
                _ => {
                    let Some(begun) = primaries[this].pass.take() else { continue };
                    let read = primaries[other].watched.get(&primaries[other].key).map_or(0, |entry| entry.value);
                    let Primary { key, written, events, .. } = &mut primaries[this];
                    if *written == read + 1 {
                        continue;
                    }
                    if begun >= CYCLE_LENGTH {
                        return writes;
                    }
                    *written = read + 1;
                    chains.record_write(&object, key, &written.to_string(), begun);
                    events.push_back(*written);
                    writes += 1;
                }
            }
        }
        writes
    }

    #[test]
    fn a_cycle_is_found_however_late_the_events_of_its_writes_come() {
        for seed in 0..500 {
            let writes = writes_until_found(seed);
            assert!(writes <= MAX_WRITES, "{writes} writes, seed {seed}");
        }
    }
}
