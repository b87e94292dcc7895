//! Rings of references: objects that are all being deleted, and each of which waits for another.
//!
//! An object can't be torn down while others name it, so objects that name each other would wait for ever. A ring is broken
//! once nothing that lives depends on it: all its members, and all that name one of them, directly or through others, are being
//! deleted. Then the references that its youngest member holds on other members are released first: youngest by
//! `creationTimestamp`, and by uid where that is the same. Who was named by it is torn down, releases its own references, and
//! so on. A ring that is woven of several is broken again, at the youngest of what is left.
//!
//! Only objects that this operator watches are known. One that is not, such as a third operator's, counts as alive.

use super::{id, is_reference, referrer};
use crate::{
    cache::{Header, ObjectKey, Uid},
    engine::pass::ControllerState,
    error::Result,
    kind::Kind,
};
use jiff::Timestamp;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

/// How many members a condition names.
const NAMED: usize = 5;

/// How many objects are looked at to name a ring that can't be broken yet.
const SEARCHED: usize = 100;

/// An object that others name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    uid: Uid,
    created: Option<Timestamp>,
    deleting: bool,
    /// The finalizers by which others name it.
    references: Vec<String>,
}

impl Member {
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

    fn age(&self) -> (Option<Timestamp>, String) {
        (self.created, self.uid.to_string())
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.key)
    }
}

/// Objects each of which is named by another of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ring {
    /// Sorted by kind and key.
    members: Vec<Member>,
    /// Whether all that name a member, directly or through others, are members and are being deleted.
    is_dead: bool,
}

/// The objects that name one, directly or through others: by their uids, with the uids of those that name them.
type Holders = BTreeMap<String, (Member, Vec<String>)>;

impl Ring {
    /// The ring that an object is in; `find` gives the object that a reference is from.
    pub(crate) fn of(start: Member, find: impl Fn(&str) -> Option<Member>) -> Option<Self> {
        let first = start.uid.to_string();
        if let Some(holders) = blocked(start.clone(), &find) {
            let reached = reached(&first, &holders);
            if reached.len() == holders.len() {
                return Some(Self::new(holders, true));
            }
        }
        let mut holders = some(start, &find);
        let reached = reached(&first, &holders);
        holders.retain(|uid, _| reached.contains(uid));
        let is_ring = holders.len() > 1 || holders.values().any(|(_, by)| by.contains(&first));
        is_ring.then(|| Self::new(holders, false))
    }

    fn new(holders: Holders, is_dead: bool) -> Self {
        let mut members: Vec<Member> = holders.into_values().map(|(member, _)| member).collect();
        members.sort_by(|one, other| (&one.kind, &one.key).cmp(&(&other.kind, &other.key)));
        Self { members, is_dead }
    }

    /// Whether it is to be broken: nothing alive depends on it.
    pub(crate) fn is_dead(&self) -> bool {
        self.is_dead
    }

    /// The member whose references go first.
    fn youngest(&self) -> Option<&Member> {
        self.members.iter().max_by_key(|member| member.age())
    }

    /// The members that the youngest names, and the reference by which it does.
    fn first(&self) -> Option<(String, Vec<&Member>)> {
        let youngest = self.youngest()?;
        let reference = id(&youngest.kind, &youngest.key);
        let named = self.members.iter().filter(|member| member.references.contains(&reference)).collect();
        Some((reference, named))
    }
}

/// Everything that names an object, if all of that is being deleted and is named in its turn. One that nobody names goes by
/// itself, and then the others do.
fn blocked(start: Member, find: &impl Fn(&str) -> Option<Member>) -> Option<Holders> {
    let mut holders = Holders::new();
    let mut open = vec![start];
    while let Some(member) = open.pop() {
        if !member.deleting || member.references.is_empty() {
            return None;
        }
        let by = member.references.iter().map(|reference| find(reference)).collect::<Option<Vec<_>>>()?;
        add(&mut holders, &mut open, member, by);
    }
    Some(holders)
}

/// Some of what names an object, whatever becomes of it: enough to say in which ring it is.
fn some(start: Member, find: &impl Fn(&str) -> Option<Member>) -> Holders {
    let mut holders = Holders::new();
    let mut open = VecDeque::from([start]);
    while let Some(member) = open.pop_front().filter(|_| holders.len() < SEARCHED) {
        let references = member.references.iter().take(SEARCHED);
        let by = references.filter_map(|reference| find(reference)).collect();
        let mut more = Vec::new();
        add(&mut holders, &mut more, member, by);
        open.extend(more);
    }
    holders
}

fn add(holders: &mut Holders, open: &mut Vec<Member>, member: Member, by: Vec<Member>) {
    let uids = by.iter().map(|holder| holder.uid.to_string()).collect();
    holders.insert(member.uid.to_string(), (member, uids));
    open.extend(by.into_iter().filter(|holder| !holders.contains_key(&holder.uid.to_string())));
}

/// The uids of those that an object names, directly or through others, and its own.
fn reached(first: &str, holders: &Holders) -> BTreeSet<String> {
    let mut reached = BTreeSet::from([first.to_owned()]);
    loop {
        let names = |(uid, (_, by)): &(&String, &(Member, Vec<String>))| {
            !reached.contains(*uid) && by.iter().any(|holder| reached.contains(holder))
        };
        let more: Vec<String> = holders.iter().filter(names).map(|(uid, _)| uid.clone()).collect();
        if more.is_empty() {
            return reached;
        }
        reached.extend(more);
    }
}

/// For a condition: the members, and what becomes of them.
impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<String> = self.members.iter().take(NAMED).map(ToString::to_string).collect();
        write!(f, "a ring of references: {}", named.join(", "))?;
        if let Some(more) = self.members.len().checked_sub(NAMED).filter(|more| *more > 0) {
            write!(f, " and {more} more")?;
        }
        match self.youngest().filter(|_| self.is_dead) {
            Some(youngest) => write!(f, "; the references of {youngest}, the youngest, are released first"),
            None => f.write_str("; it is broken once all of these and all that name one of them are deleted"),
        }
    }
}

impl ControllerState {
    /// The ring that an object of the pass is in.
    pub(crate) fn ring_of(&self, kind: &Kind, header: &Header) -> Option<Ring> {
        Ring::of(Member::new(kind, header), |reference| self.referrer(reference))
    }

    /// Releases the references of the youngest member on other members.
    ///
    /// # Errors
    /// As a call fails; a conflict if a member was changed since the cache saw it.
    pub(crate) async fn break_ring(&self, ring: &Ring) -> Result<()> {
        let Some((reference, named)) = ring.first() else { return Ok(()) };
        for member in named {
            if let Some(targets) = self.graph.get(&member.kind) {
                tracing::info!(kind = %member.kind, object = %member.key, reference, "released to break a ring of references");
                self.release(targets, &member.key, &reference).await?;
            }
        }
        Ok(())
    }

    /// The object that a reference is from, as far as it is watched.
    fn referrer(&self, reference: &str) -> Option<Member> {
        let (name, _) = reference.split_once('/')?;
        let (kind, targets) = self.graph.iter().find(|(kind, _)| kind.full_name() == name)?;
        let entry = match referrer(kind, reference) {
            Some(key) => targets.get(&key),
            // Its name was too long to be kept.
            None => targets.watched.store.entries().into_iter().find(|entry| id(kind, &entry.header.key) == reference),
        };
        entry.map(|entry| Member::new(kind, &entry.header))
    }
}

#[cfg(test)]
mod tests;
