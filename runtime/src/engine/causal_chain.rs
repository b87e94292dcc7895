//! `CausalChains`: detects reconciled objects whose passes trigger each other without end. It counts the operator's own writes in a chain
//! of passes.
//!
//! A pass writes or deletes a child or an object of a hand-written node, or writes the status of its primary. The change enqueues
//! another primary, whose pass writes an object, and so on. Such a chain ends when it has run through the primaries that depend on
//! each other. A chain that takes the same step from one primary to another again and again is a cycle: primaries that are built from what
//! each other's passes write, which changes without end.

use crate::{
    cache::{Change, Header, ObjectKey, ResourceVersion},
    engine::{applied_mark::APPLIED_ANNOTATION, chain::Chain, write_traces::WriteTraces},
    kind::Kind,
};
use parking_lot::Mutex;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher as _},
};

/// The number of writes of one object whose watch events may be outstanding. Those of older ones start a new chain.
const MAX_OUTSTANDING: usize = 8;

/// The number of objects whose writes are recorded. When there are more, all are forgotten, and the next writes start new chains.
const MAX_OBJECTS: usize = 4096;

/// The number of deletions whose watch events may be outstanding.
const MAX_DELETIONS: usize = 256;

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
    /// The latest own deletions, oldest first, with the chains that they extend.
    deletions: VecDeque<(Kind, ObjectKey, Chain)>,
    /// The longest chain that leads to the next pass of a primary. A primary without an entry is at the start of a chain.
    next_passes: HashMap<(Kind, ObjectKey), Chain>,
    /// The number of calls that have begun.
    calls: u64,
}

#[derive(Debug)]
struct ChainedWrite {
    mark: WriteMark,
    chain: Chain,
}

/// How the watch event of an own write is recognized.
#[derive(Debug)]
enum WriteMark {
    /// By the hash of the digest that the operator puts into an annotation of a child.
    Digest(u64),
    /// The call with this number has not ended. The event may come before the response, so each change of the object counts as this
    /// write.
    Pending(u64),
    /// By the version in the response.
    Version(ResourceVersion),
}

/// A call that writes an object without a digest. If it is dropped before [`ChainedCall::finish`], the write is not recorded.
#[derive(Debug)]
pub(crate) struct ChainedCall<'a> {
    chains: &'a CausalChains,
    /// `None` if the kind is not recorded, and after the end of the call.
    object: Option<(Kind, ObjectKey)>,
    number: u64,
}

impl ChainedCall<'_> {
    /// Records the version that the write created.
    pub(crate) fn finish(mut self, version: &ResourceVersion) {
        self.end(Some(version));
    }

    /// Ends the call: its recorded write is recognized by `version` from now on. Without a version the call failed, and the write is
    /// dropped. Does nothing if the call has ended before.
    fn end(&mut self, version: Option<&ResourceVersion>) {
        let Some(object) = self.object.take() else { return };
        let mut chains = self.chains.chains.lock();
        let Some(writes) = chains.writes.get_mut(&object) else { return };
        let is_call = |write: &ChainedWrite| matches!(write.mark, WriteMark::Pending(number) if number == self.number);
        match version {
            Some(version) => {
                if let Some(write) = writes.iter_mut().find(|write| is_call(write)) {
                    write.mark = WriteMark::Version(version.clone());
                }
            }
            None => writes.retain(|write| !is_call(write)),
        }
        if writes.is_empty() {
            chains.writes.remove(&object);
        }
    }
}

impl Drop for ChainedCall<'_> {
    fn drop(&mut self) {
        self.end(None);
    }
}

impl Chains {
    /// Records an own write of an object, which extends `pass`: the chain of own writes that led to the writing pass.
    fn add_write(&mut self, kind: &Kind, key: &ObjectKey, mark: WriteMark, pass: Chain) {
        let object = (kind.clone(), key.clone());
        if self.writes.len() >= MAX_OBJECTS && !self.writes.contains_key(&object) {
            self.writes.clear();
        }
        let writes = self.writes.entry(object).or_default();
        if writes.len() == MAX_OUTSTANDING {
            writes.pop_front();
        }
        writes.push_back(ChainedWrite { mark, chain: pass.after_write() });
    }
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl CausalChains {
    /// Adds a kind whose changes enqueue primaries that are not their owners.
    pub(crate) fn add_related_kind(&self, kind: &Kind) {
        self.chains.lock().related_kinds.insert(kind.clone());
    }

    /// Records a write of a child before it is sent, if changes of its kind enqueue other primaries. `pass` is the chain of own writes
    /// that led to the current pass: each write enqueued a primary whose pass made the next write.
    pub(crate) fn record_write(&self, kind: &Kind, key: &ObjectKey, digest: &str, pass: Chain) {
        let mut chains = self.chains.lock();
        if chains.related_kinds.contains(kind) {
            chains.add_write(kind, key, WriteMark::Digest(hash_of(digest)), pass);
        }
    }

    /// Records a deletion before it is sent, and drops the oldest one if there are too many. `pass` is the chain of own writes that led to
    /// the current pass.
    pub(crate) fn record_deletion(&self, kind: &Kind, key: &ObjectKey, pass: Chain) {
        let mut chains = self.chains.lock();
        if chains.related_kinds.contains(kind) {
            if chains.deletions.len() == MAX_DELETIONS {
                chains.deletions.pop_front();
            }
            chains.deletions.push_back((kind.clone(), key.clone(), pass.after_write()));
        }
    }

    /// Records the begin of a call that writes an object without a digest, such as the call of a hand-written node. `pass` is the chain of
    /// own writes that led to the current pass. The caller ends the returned call with the version in the response.
    pub(crate) fn begin_write(&self, kind: &Kind, key: &ObjectKey, pass: Chain) -> ChainedCall<'_> {
        let mut chains = self.chains.lock();
        if !chains.related_kinds.contains(kind) {
            return ChainedCall { chains: self, object: None, number: 0 };
        }
        chains.calls += 1;
        let number = chains.calls;
        chains.add_write(kind, key, WriteMark::Pending(number), pass);
        ChainedCall { chains: self, object: Some((kind.clone(), key.clone())), number }
    }

    /// Returns whether changes of a kind enqueue primaries that are not the owners of the objects.
    pub(crate) fn is_related(&self, kind: &Kind) -> bool {
        self.chains.lock().related_kinds.contains(kind)
    }

    /// Returns the chain of own writes whose last write caused this change in the watch; an empty chain if another client caused it. Drops
    /// the recorded writes of a deleted object.
    pub(crate) fn chain_at<V>(&self, kind: &Kind, change: &Change<V>) -> Chain {
        let digest_of = |header: &Header| header.annotations.get(APPLIED_ANNOTATION).map(str::to_owned);
        let mut chains = self.chains.lock();
        if chains.writes.is_empty() && chains.deletions.is_empty() {
            return Chain::default();
        }
        let Some(new) = change.new_entry() else {
            let Some(old) = change.old() else { return Chain::default() };
            let key = &old.header.key;
            chains.writes.remove(&(kind.clone(), key.clone()));
            let is_deletion = |(deleted, of, _): &&(Kind, ObjectKey, Chain)| deleted == kind && of == key;
            let deletion = chains.deletions.iter().rev().find(is_deletion);
            return deletion.map(|(_, _, chain)| *chain).unwrap_or_default();
        };
        let Some(writes) = chains.writes.get(&(kind.clone(), new.header.key.clone())) else { return Chain::default() };
        let old_digest = change.old().and_then(|old| digest_of(&old.header));
        // A digest that was there before the change tells nothing about the cause of the change.
        let new_digest = digest_of(&new.header).filter(|digest| Some(digest) != old_digest.as_ref());
        let new_digest = new_digest.map(|digest| hash_of(&*digest));
        let is_recognized = |write: &&ChainedWrite| match &write.mark {
            WriteMark::Digest(digest) => new_digest == Some(*digest),
            WriteMark::Version(version) => *version == new.header.resource_version,
            WriteMark::Pending(_) => false,
        };
        let is_pending = |write: &&ChainedWrite| matches!(write.mark, WriteMark::Pending(_));
        let write = writes.iter().rev().find(is_recognized).or_else(|| writes.iter().rev().find(is_pending));
        write.map(|write| write.chain).unwrap_or_default()
    }

    /// Records that a chain of own writes leads to the next pass of a primary. If several chains do, keeps a cycle, else the longest one.
    pub(crate) fn extend_to(&self, kind: &Kind, primary: &ObjectKey, chain: Chain) {
        if chain.length > 0 {
            let mut chains = self.chains.lock();
            let longest = chains.next_passes.entry((kind.clone(), primary.clone())).or_default();
            if chain.rank() > longest.rank() {
                *longest = chain;
            }
        }
    }

    /// Begins a pass of a primary: removes the chain of own writes that was recorded for it, and returns the chain with this pass added. A
    /// pass that a user has requested starts a new chain.
    pub(crate) fn begin_pass(&self, kind: &Kind, primary: &ObjectKey, is_request: bool) -> Chain {
        let mut chains = self.chains.lock();
        let chain = match chains.next_passes.is_empty() {
            true => None,
            false => chains.next_passes.remove(&(kind.clone(), primary.clone())),
        };
        chain.filter(|_| !is_request).unwrap_or_default().in_pass_of(hash_of(&(kind, primary)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{cache::Store, engine::chain::MAX_REPETITIONS, kind::kind_of};
    use fastrand::Rng;
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    /// The writes that two primaries may need until their cycle is found: each of the two first passes starts a chain, whose first write
    /// leads to the counted step, and each second write repeats it.
    const MAX_WRITES: u32 = 2 * (2 * MAX_REPETITIONS + 1);

    /// A primary whose object holds the number after that of the other primary's object.
    struct Primary<'a> {
        key: ObjectKey,
        is_dirty: bool,
        /// The chain that led to the pass that is running.
        pass: Option<Chain>,
        /// The call whose response is outstanding, and the version in the response.
        call: Option<(ChainedCall<'a>, u64)>,
        /// The number in its object.
        written: u64,
        version: u64,
        /// The events of its object that are outstanding.
        events: VecDeque<Event>,
        /// The object as the other primary's watch has it.
        watched: Store<u64>,
    }

    struct Event {
        number: u64,
        version: u64,
        has_digest: bool,
    }

    impl<'a> Primary<'a> {
        /// Creates a primary whose first pass is due and that has not written its object yet.
        fn new(name: &str) -> Self {
            Self {
                key: ObjectKey::cluster(name),
                is_dirty: true,
                pass: None,
                call: None,
                written: 0,
                version: 0,
                events: VecDeque::new(),
                watched: Store::default(),
            }
        }

        /// Writes a number into its object, as a child or by a call whose response is outstanding afterwards.
        fn write(&mut self, chains: &'a CausalChains, object: &Kind, number: u64, (has_digest, pass): (bool, Chain)) {
            (self.written, self.version) = (number, self.version + 1);
            match has_digest {
                true => chains.record_write(object, &self.key, &number.to_string(), pass),
                false => self.call = Some((chains.begin_write(object, &self.key, pass), self.version)),
            }
            self.events.push_back(Event { number, version: self.version, has_digest });
        }

        /// Delivers the next event of its object.
        fn deliver(&mut self) -> Option<Change<u64>> {
            let Event { number, version, has_digest } = self.events.pop_front()?;
            let mut object = json!({"metadata": {
                "name": self.key.name(), "uid": "u", "resourceVersion": version.to_string(),
            }});
            if has_digest {
                object["metadata"]["annotations"] = json!({APPLIED_ANNOTATION: number.to_string()});
            }
            Some(self.watched.apply(Header::parse(object.to_string().as_bytes()).unwrap(), || number))
        }
    }

    /// Runs two primaries, whose events and responses come late, until a pass finds the cycle. Returns the number of writes.
    fn writes_until_found(seed: u64) -> u32 {
        let (mut random, chains) = (Rng::with_seed(seed), CausalChains::default());
        let (primary, object) = (kind_of::<Secret>(), kind_of::<ConfigMap>());
        chains.add_related_kind(&object);
        let mut primaries = [Primary::new("a"), Primary::new("b")];
        let mut writes = 0;
        while writes < 100 * MAX_WRITES {
            let (this, other) = if random.bool() { (0, 1) } else { (1, 0) };
            // Most steps run or end a pass, and one in 60 delivers an event, so that events come late.
            match random.u8(..60) {
                0 => {
                    let Some(change) = primaries[this].deliver() else { continue };
                    chains.extend_to(&primary, &primaries[other].key, chains.chain_at(&object, &change));
                    primaries[other].is_dirty = true;
                }
                1..30 if primaries[this].is_dirty && primaries[this].pass.is_none() => {
                    primaries[this].is_dirty = false;
                    primaries[this].pass = Some(chains.begin_pass(&primary, &primaries[this].key, false));
                }
                _ => {
                    if let Some((call, version)) = primaries[this].call.take() {
                        call.finish(&ResourceVersion::from(version));
                        primaries[this].pass = None;
                        continue;
                    }
                    let Some(begun) = primaries[this].pass else { continue };
                    let read = primaries[other].watched.get(&primaries[other].key).map_or(0, |entry| entry.value);
                    if primaries[this].written != read + 1 {
                        if begun.is_cycle() {
                            return writes;
                        }
                        primaries[this].write(&chains, &object, read + 1, (random.bool(), begun));
                        writes += 1;
                    }
                    if primaries[this].call.is_none() {
                        primaries[this].pass = None;
                    }
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

    /// Returns the length of the chain of own writes whose last write changed an object to this version.
    fn length_at_version(chains: &CausalChains, version: u64) -> u32 {
        let object = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": version.to_string()}});
        let change = Store::<()>::default().apply(Header::parse(object.to_string().as_bytes()).unwrap(), || ());
        chains.chain_at(&kind_of::<ConfigMap>(), &change).length
    }

    #[test]
    fn a_deletion_extends_the_chain_and_those_long_ago_do_not() {
        let (chains, kind) = (CausalChains::default(), kind_of::<ConfigMap>());
        chains.add_related_kind(&kind);
        let object = |name: &str| {
            let object = json!({"metadata": {"name": name, "uid": "u", "resourceVersion": "1"}});
            Header::parse(object.to_string().as_bytes()).unwrap()
        };
        let length_at_deletion = |name: &str| {
            let store = Store::<()>::default();
            let Change::Added { new } = store.apply(object(name), || ()) else { panic!("the object is new") };
            chains.chain_at(&kind, &Change::Deleted { old: new }).length
        };
        chains.record_deletion(&kind, &ObjectKey::cluster("a"), Chain::start(1));
        assert_eq!((length_at_deletion("a"), length_at_deletion("b")), (1, 0));
        for _ in 0..MAX_DELETIONS {
            chains.record_deletion(&kind, &ObjectKey::cluster("b"), Chain::start(1).after_write());
        }
        assert_eq!((length_at_deletion("a"), length_at_deletion("b")), (0, 2));
    }

    #[test]
    fn a_call_extends_the_chain_until_its_response_and_then_by_its_version() {
        let (chains, kind, key) = (CausalChains::default(), kind_of::<ConfigMap>(), ObjectKey::cluster("a"));
        let pass = |writes: u32| (0..writes).fold(Chain::start(1), |chain, _| chain.after_write());
        drop(chains.begin_write(&kind, &key, pass(4)));
        assert!(!chains.is_related(&kind) && chains.chains.lock().writes.is_empty(), "the kind enqueues nothing");
        chains.add_related_kind(&kind);
        let call = chains.begin_write(&kind, &key, pass(4));
        assert_eq!(length_at_version(&chains, 7), 5, "the response is outstanding");
        call.finish(&7.into());
        assert_eq!((length_at_version(&chains, 7), length_at_version(&chains, 8)), (5, 0));
        drop(chains.begin_write(&kind, &key, pass(9)));
        assert_eq!((length_at_version(&chains, 7), length_at_version(&chains, 8)), (5, 0), "the second call failed");
    }
}
