//! Detects and breaks rings of references: objects in deletion that wait for each other.
//!
//! An object can't be torn down while others reference it, so objects that reference each other would wait forever. A ring is
//! broken once no live object depends on it, that is, once all its members and all objects that reference a member, directly or
//! transitively, are being deleted. Then the references of the youngest member on other members are released first. The youngest
//! is the member with the latest `creationTimestamp`, and among equals the one with the greatest uid. Its targets are torn down,
//! release their own references, and so on. If several rings overlap, the rest is broken again at its youngest member.
//!
//! Only objects that this operator watches are known. Any other object, such as one of a third operator, counts as alive.

use super::{finalizer_name, is_reference, referrer};
use crate::{
    cache::{Header, ObjectKey, Uid},
    engine::controller_state::ControllerState,
    error::Result,
    kind::Kind,
};
use jiff::Timestamp;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

/// The maximum number of members that a condition names.
const MAX_NAMED: usize = 5;

/// The maximum number of objects that are searched to name a ring that can't be broken yet.
const MAX_SEARCHED: usize = 100;

/// A referenced object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    uid: Uid,
    created: Option<Timestamp>,
    deleting: bool,
    /// The reference finalizers of the object, one for each referrer.
    references: Vec<String>,
}

impl Member {
    /// Returns an object by its header in the cache.
    pub(crate) fn new(kind: &Kind, header: &Header) -> Self {
        let references = header.finalizers.iter().filter(|finalizer| is_reference(finalizer));
        Self {
            kind: kind.clone(),
            key: header.key.clone(),
            uid: header.uid.clone(),
            created: header.created,
            deleting: header.deleting,
            references: references.map(str::to_owned).collect(),
        }
    }

    /// Returns the key by which members are sorted by age: the youngest member has the greatest key.
    fn age(&self) -> (Option<Timestamp>, String) {
        (self.created, self.uid.to_string())
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.key)
    }
}

/// A ring: objects each of which is referenced by another of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ring {
    /// Sorted by kind and key.
    members: Vec<Member>,
    /// Whether all objects that reference a member, directly or transitively, are members and are being deleted.
    is_dead: bool,
}

/// An object, and all objects that reference it, directly or transitively; by uid.
type ReferrerGraph = BTreeMap<String, ReferencedMember>;

/// An object of a [`ReferrerGraph`].
struct ReferencedMember {
    member: Member,
    /// The uids of the objects that reference it directly.
    referrers: Vec<String>,
}

impl Ring {
    /// Returns the ring of references that an object is in, or `None`. `find` returns the object that added a reference finalizer; `None`
    /// if the operator doesn't know this object.
    ///
    /// The ring is dead if all objects that reference a member, directly or transitively, are members and are being deleted. The
    /// operator may break it then.
    pub(crate) fn of(start: Member, find: impl Fn(&str) -> Option<Member>) -> Option<Self> {
        let first = start.uid.to_string();
        // All direct and transitive referrers of the object are being deleted and are blocked themselves. They form a dead ring with the
        // object if the object references each of them, directly or transitively.
        if let Some(graph) = blocked_referrers(start.clone(), &find) {
            let reachable = reachable_from(&first, &graph);
            if reachable.len() == graph.len() {
                return Some(Self::new(graph, true));
            }
        }
        // Otherwise the members of a ring are the referrers that the object also references, directly or transitively. The ring isn't
        // dead: it waits for live objects, or for objects that are deleted without a break of the ring. An object alone is a ring only
        // if it references itself.
        let mut graph = search_referrers(start, &find);
        let reachable = reachable_from(&first, &graph);
        graph.retain(|uid, _| reachable.contains(uid));
        let is_ring = graph.len() > 1 || graph.values().any(|object| object.referrers.contains(&first));
        is_ring.then(|| Self::new(graph, false))
    }

    /// Returns the ring of all objects of a graph, sorted by kind and key.
    fn new(graph: ReferrerGraph, is_dead: bool) -> Self {
        let mut members: Vec<Member> = graph.into_values().map(|object| object.member).collect();
        members.sort_by(|one, other| (&one.kind, &one.key).cmp(&(&other.kind, &other.key)));
        Self { members, is_dead }
    }

    /// Returns whether the ring has to be broken, because no live object depends on it.
    pub(crate) fn is_dead(&self) -> bool {
        self.is_dead
    }

    /// Returns the member whose references are released first; `None` if the ring has no members.
    fn youngest(&self) -> Option<&Member> {
        self.members.iter().max_by_key(|member| member.age())
    }

    /// Returns the first step to break the ring: the finalizer with which the youngest member references other objects, and the members
    /// that have this finalizer. Returns `None` if the ring has no members.
    fn next_release(&self) -> Option<(String, Vec<&Member>)> {
        let youngest = self.youngest()?;
        let reference = finalizer_name(&youngest.kind, &youngest.key);
        let named = self.members.iter().filter(|member| member.references.contains(&reference)).collect();
        Some((reference, named))
    }
}

/// Returns an object and all objects that reference it, directly or transitively. Returns `None` if one of them is not being deleted, has
/// an unknown referrer, or has no referrer: an object in deletion without referrers is torn down and then releases its targets, so that
/// no ring has to be broken.
fn blocked_referrers(start: Member, find: &impl Fn(&str) -> Option<Member>) -> Option<ReferrerGraph> {
    let mut graph = ReferrerGraph::new();
    let mut unvisited = vec![start];
    while let Some(member) = unvisited.pop() {
        if !member.deleting || member.references.is_empty() {
            return None;
        }
        let referrers = member.references.iter().map(|reference| find(reference)).collect::<Option<Vec<_>>>()?;
        add_member(&mut graph, &mut unvisited, member, referrers);
    }
    Some(graph)
}

/// Returns an object and the objects that reference it, directly or transitively, by a breadth-first search. It stops after
/// [`MAX_SEARCHED`] objects, which are enough to name the ring in a message.
fn search_referrers(start: Member, find: &impl Fn(&str) -> Option<Member>) -> ReferrerGraph {
    let mut graph = ReferrerGraph::new();
    let mut unvisited = VecDeque::from([start]);
    while let Some(member) = unvisited.pop_front().filter(|_| graph.len() < MAX_SEARCHED) {
        let references = member.references.iter().take(MAX_SEARCHED);
        let referrers = references.filter_map(|reference| find(reference)).collect();
        let mut new_referrers = Vec::new();
        add_member(&mut graph, &mut new_referrers, member, referrers);
        unvisited.extend(new_referrers);
    }
    graph
}

/// Adds an object and the uids of its direct referrers to the graph, and adds the referrers that the graph lacks to `unvisited`, the
/// objects that the search visits later.
fn add_member(graph: &mut ReferrerGraph, unvisited: &mut Vec<Member>, member: Member, referrers: Vec<Member>) {
    let uids = referrers.iter().map(|referrer| referrer.uid.to_string()).collect();
    graph.insert(member.uid.to_string(), ReferencedMember { member, referrers: uids });
    unvisited.extend(referrers.into_iter().filter(|referrer| !graph.contains_key(&referrer.uid.to_string())));
}

/// Returns the uid of an object, and the uids of the objects in the graph that it references, directly or transitively.
fn reachable_from(first: &str, graph: &ReferrerGraph) -> BTreeSet<String> {
    let mut reachable = BTreeSet::from([first.to_owned()]);
    loop {
        let mut more = Vec::new();
        for (uid, object) in graph {
            // An object is reachable if a reachable object references it.
            if !reachable.contains(uid) && object.referrers.iter().any(|referrer| reachable.contains(referrer)) {
                more.push(uid.clone());
            }
        }
        if more.is_empty() {
            return reachable;
        }
        reachable.extend(more);
    }
}

impl fmt::Display for Ring {
    /// Writes the ring for the message of a condition: at most [`MAX_NAMED`] members, and when the operator breaks the ring.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<String> = self.members.iter().take(MAX_NAMED).map(ToString::to_string).collect();
        write!(f, "a cycle of references: {}", named.join(", "))?;
        if let Some(more) = self.members.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
            write!(f, " and {more} more")?;
        }
        match self.youngest().filter(|_| self.is_dead) {
            Some(youngest) => write!(f, "; the operator releases the references of the youngest, {youngest}, first"),
            None => f.write_str("; it is broken once all of these and their referrers are deleted"),
        }
    }
}

impl ControllerState {
    /// Returns the ring of references that an object is in; `None` if it is in none.
    pub(crate) fn ring_of(&self, kind: &Kind, header: &Header) -> Option<Ring> {
        Ring::of(Member::new(kind, header), |reference| self.referrer(reference))
    }

    /// Breaks a ring of references: removes the finalizer of the youngest member from the other members, so that these can be deleted.
    ///
    /// # Errors
    /// Fails with the error of a request; a conflict if a member has changed since the cache saw it.
    pub(crate) async fn break_ring(&self, ring: &Ring) -> Result<()> {
        let Some((reference, named)) = ring.next_release() else { return Ok(()) };
        for member in named {
            if let Some(targets) = self.graph.get(&member.kind) {
                tracing::info!(kind = %member.kind, object = %member.key, reference, "released to break a cycle");
                self.release(targets, &member.key, &reference).await?;
            }
        }
        Ok(())
    }

    /// Returns the object that added a reference finalizer; `None` if the operator doesn't watch its kind, or the object doesn't exist.
    fn referrer(&self, reference: &str) -> Option<Member> {
        let (name, _) = reference.split_once('/')?;
        let (kind, targets) = self.graph.iter().find(|(kind, _)| kind.full_name() == name)?;
        let entry = match referrer(kind, reference) {
            Some(key) => targets.get(&key),
            // The finalizer may contain a shortened name, so the finalizers of all objects of the kind are compared with it. This is
            // slower, also for a whole name that only looks like a shortened one.
            None => targets
                .watched
                .store
                .entries()
                .into_iter()
                .find(|entry| finalizer_name(kind, &entry.header.key) == reference),
        };
        entry.map(|entry| Member::new(kind, &entry.header))
    }
}

#[cfg(test)]
mod tests;
