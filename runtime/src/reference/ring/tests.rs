//! Tests rings of references with random graphs of objects that are deleted in random order.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::{
    kind::kind_of,
    queue::{Jitter as _, Seeded},
};
use k8s_openapi::api::core::v1::ConfigMap;

/// An object and the indexes of the objects that it references.
#[derive(Clone, Debug)]
struct Object {
    member: Member,
    names: BTreeSet<usize>,
    gone: bool,
}

/// Objects in a simulated cluster, whose controllers tear down deleted objects as the control loop does.
struct World {
    objects: Vec<Object>,
    dice: Seeded,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self { objects: Vec::new(), dice: Seeded::new(seed) };
        let count = 1 + world.below(7);
        for at in 0..count {
            let key = ObjectKey::namespaced("shop", &format!("o{at}"));
            let created = Timestamp::from_second(i64::try_from(world.below(3)).unwrap()).ok();
            let (kind, uid) = (kind_of::<ConfigMap>(), Uid::from(format!("u{at}").as_str()));
            let member = Member { kind, key, uid, created, deleting: false, references: Vec::new() };
            let names = (0..count).filter(|_| world.below(3) == 0).collect();
            world.objects.push(Object { member, names, gone: false });
        }
        for at in 0..count {
            world.refer(at);
        }
        world
    }

    fn below(&self, end: usize) -> usize {
        usize::try_from(self.dice.bits() >> 33).unwrap() % end
    }

    /// Sets the reference finalizers of an object from the objects that reference it.
    fn refer(&mut self, at: usize) {
        let holders = self.objects.iter().filter(|object| !object.gone && object.names.contains(&at));
        self.objects[at].member.references =
            holders.map(|holder| finalizer_name(&holder.member.kind, &holder.member.key)).collect();
    }

    fn find(&self, reference: &str) -> Option<Member> {
        let of =
            |object: &&Object| !object.gone && finalizer_name(&object.member.kind, &object.member.key) == reference;
        self.objects.iter().find(of).map(|object| object.member.clone())
    }

    fn lives(&self, at: usize) -> bool {
        !self.objects[at].gone && !self.objects[at].member.deleting
    }

    /// Returns whether a live object references an object, directly or transitively.
    fn is_needed(&self, at: usize) -> bool {
        let (mut needed, mut before) = (BTreeSet::from([at]), 0);
        while needed.len() > before {
            before = needed.len();
            let names = |object: &Object| !object.gone && object.names.iter().any(|named| needed.contains(named));
            let more: Vec<usize> = (0..self.objects.len()).filter(|at| names(&self.objects[*at])).collect();
            needed.extend(more);
        }
        needed.into_iter().any(|at| self.lives(at))
    }

    /// Simulates one pass over an object; returns whether it changed something.
    fn pass(&mut self, at: usize) -> bool {
        let Object { member, gone, .. } = self.objects[at].clone();
        if gone || !member.deleting {
            return false;
        }
        if member.references.is_empty() {
            self.objects[at].gone = true;
            self.objects[at].names.clear();
            (0..self.objects.len()).for_each(|named| self.refer(named));
            return true;
        }
        let ring = Ring::of(member, |reference| self.find(reference));
        let Some(ring) = ring.filter(Ring::is_dead) else { return false };
        let youngest = ring.youngest().unwrap().clone();
        assert!(ring.members.iter().all(|member| member.deleting && member.age() <= youngest.age()), "{ring}");
        let (reference, named) = ring.next_release().unwrap();
        assert!(!named.is_empty(), "{ring}: nothing is released");
        let named: Vec<ObjectKey> = named.iter().map(|member| member.key.clone()).collect();
        let position = |key: &ObjectKey| self.objects.iter().position(|object| object.member.key == *key).unwrap();
        let (from, onto) = (position(&youngest.key), named.iter().map(position).collect::<Vec<_>>());
        assert_eq!(reference, finalizer_name(&youngest.kind, &youngest.key));
        for at in onto {
            assert!(!self.is_needed(at), "{ring}: {at} is released although something that lives needs it");
            assert!(self.objects[from].names.remove(&at));
            self.refer(at);
        }
        true
    }

    /// Runs passes until nothing changes.
    fn settle(&mut self) {
        while (0..self.objects.len()).any(|at| self.pass(at)) {}
        for at in 0..self.objects.len() {
            let object = &self.objects[at];
            let waits = !object.gone && object.member.deleting;
            assert_eq!(waits, object.member.deleting && self.is_needed(at), "{at} of {:#?}", self.objects);
        }
    }
}

#[test]
fn in_random_graphs_all_deleted_objects_go_and_none_that_a_live_object_needs() {
    for seed in 0..3_000 {
        let mut world = World::new(seed);
        let mut living: Vec<usize> = (0..world.objects.len()).collect();
        while !living.is_empty() {
            let at = living.swap_remove(world.below(living.len()));
            world.objects[at].member.deleting = true;
            // Some are deleted while controllers are working, some while they are idle.
            match world.below(3) {
                0 => world.settle(),
                1 => drop(world.pass(at)),
                _ => {}
            }
        }
        world.settle();
        assert!(world.objects.iter().all(|object| object.gone), "seed {seed}: {:#?}", world.objects);
    }
}

#[test]
fn the_text_of_a_ring_names_the_members_and_the_youngest() {
    let member = |name: &str, by: &str, second: i64| Member {
        kind: kind_of::<ConfigMap>(),
        key: ObjectKey::namespaced("shop", name),
        uid: Uid::from(name),
        created: Timestamp::from_second(second).ok(),
        deleting: true,
        references: vec![finalizer_name(&kind_of::<ConfigMap>(), &ObjectKey::namespaced("shop", by))],
    };
    let all = [member("a", "b", 2), member("b", "c", 2), member("c", "a", 1)];
    let find = |reference: &str| all.iter().find(|one| finalizer_name(&one.kind, &one.key) == reference).cloned();
    let ring = Ring::of(all[0].clone(), find).unwrap();
    let text = "a cycle of references: ConfigMap shop/a, ConfigMap shop/b, \
                ConfigMap shop/c; the operator releases the references of the youngest, ConfigMap shop/b, first";
    assert_eq!(ring.to_string(), text);
    assert_eq!(ring.next_release().unwrap().1, [&all[0]]);
    // An object that is not watched may be alive.
    assert_eq!(Ring::of(all[0].clone(), |reference| find(reference).filter(|one| one.key.name() != "c")), None);
    let alive = |reference: &str| find(reference).map(|one| Member { deleting: one.key.name() != "c", ..one });
    let ring = Ring::of(all[0].clone(), alive).unwrap();
    assert!(!ring.is_dead());
    let text = "a cycle of references: ConfigMap shop/a, ConfigMap shop/b, ConfigMap shop/c; it is broken once all of these \
                and their referrers are deleted";
    assert_eq!(ring.to_string(), text);
}
