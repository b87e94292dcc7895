//! Tests the store of cached objects with single watch events, and compares it with a simple model in random sequences of events.

use super::{Change, Entry, Header, ObjectKey, OwnerReference, ResourceVersion, Store, Uid, WatchProgress};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

fn header(name: &str, uid: &str, version: u64, owner: Option<&str>) -> Header {
    let json = format!(r#"{{"metadata":{{"name":"{name}","uid":"{uid}","resourceVersion":"{version}"}}}}"#);
    let owner = owner.map(|uid| OwnerReference::new("v1", "ConfigMap", uid, Uid::from(uid), true));
    Header { owners: owner.into_iter().collect(), ..Header::parse(json.as_bytes()).unwrap() }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::cluster(name)
}

fn names<V>(entries: &[Arc<Entry<V>>]) -> Vec<String> {
    entries.iter().map(|entry| entry.header.key.to_string()).collect()
}

#[test]
fn change_carries_what_was_and_what_is() {
    let store = Store::default();
    assert!(matches!(store.apply(header("a", "u", 1, None), || 'x'), Change::Added { new } if new.value == 'x'));
    let Change::Updated { old, new } = store.apply(header("a", "u", 2, None), || 'y') else { panic!("no update") };
    assert_eq!((old.value, new.value), ('x', 'y'));
    assert!(matches!(store.apply(header("a", "u", 2, None), || 'z'), Change::Unchanged));
    assert!(matches!(store.delete(&header("a", "u", 3, None)), Change::Deleted { old } if old.value == 'y'));
    assert!(matches!(store.delete(&header("a", "u", 3, None)), Change::Unchanged));
}

#[test]
fn older_event_never_replaces_a_newer_state() {
    let store = Store::default();
    store.apply(header("a", "u", 5, None), || 5);
    assert!(matches!(store.apply(header("a", "u", 4, None), || 4), Change::Unchanged));
    assert!(matches!(store.apply(header("a", "before", 3, None), || 3), Change::Unchanged));
    assert!(matches!(store.delete(&header("a", "before", 3, None)), Change::Unchanged));
    assert_eq!(store.get(&key("a")).unwrap().value, 5);
}

#[test]
fn opaque_versions_replace_each_other_as_they_come() {
    let store = Store::default();
    let opaque =
        |version: &str| Header { resource_version: ResourceVersion::from(version), ..header("a", "u", 1, None) };
    store.apply(opaque("b"), || 1);
    assert!(matches!(store.apply(opaque("b"), || 2), Change::Unchanged));
    assert!(matches!(store.apply(opaque("a"), || 3), Change::Updated { .. }));
    store.finish_replace();
    assert_eq!(store.watch_progress(), WatchProgress::Incomparable);
}

#[test]
fn stale_y1_listing_counts_as_seen_only_when_it_is_complete() {
    let store = Store::default();
    store.begin_replace();
    store.apply(header("a", "u", 9, None), || ());
    assert_eq!((store.watch_progress(), store.synced()), (WatchProgress::NotSynced, false));
    store.finish_replace();
    assert_eq!((store.watch_progress(), store.synced()), (WatchProgress::Version(9), true));
    store.begin_replace();
    store.apply(header("b", "v", 20, None), || ());
    assert_eq!(store.watch_progress(), WatchProgress::Version(9), "what the listing has not shown yet may be older");
    store.finish_replace();
    assert_eq!(store.watch_progress(), WatchProgress::Version(20));
}

#[test]
fn stale_y1_version_counts_as_seen_only_when_it_can_be_read() {
    let store = Store::default();
    store.finish_replace();
    store.apply(header("a", "u", 7, None), || assert_eq!(store.watch_progress(), WatchProgress::Version(0)));
    assert_eq!(store.watch_progress(), WatchProgress::Version(7));
}

#[test]
fn value_that_fails_keeps_what_was_there() {
    let store = Store::default();
    store.apply(header("a", "u", 1, None), || 1);
    store.begin_replace();
    assert_eq!(store.try_apply(header("a", "u", 2, None), || Err("bad")).unwrap_err(), "bad");
    assert!(store.finish_replace().is_empty());
    assert_eq!(store.get(&key("a")).unwrap().value, 1);
}

#[test]
fn listing_keeps_what_did_not_change_and_tells_what_is_gone() {
    let store = Store::default();
    for name in ["a", "b", "c"] {
        store.apply(header(name, name, 1, Some("owner")), || ());
    }
    let before = store.get(&key("a")).unwrap();
    store.begin_replace();
    store.apply(header("a", "a", 1, Some("owner")), || panic!("an object that did not change is not made again"));
    store.apply(header("d", "d", 2, Some("owner")), || ());
    assert_eq!(store.len(), 4, "the old state can be read meanwhile");
    let mut gone = names(&store.finish_replace());
    gone.sort();
    assert_eq!(gone, ["b", "c"]);
    assert!(Arc::ptr_eq(&before, &store.get(&key("a")).unwrap()));
    assert_eq!(names(&store.owned_by(&Uid::from("owner"))), ["a", "d"]);
}

#[test]
fn listing_that_broke_off_takes_nothing_away() {
    let store = Store::default();
    ["a", "b"].into_iter().for_each(|name| drop(store.apply(header(name, name, 1, None), || ())));
    store.begin_replace();
    store.apply(header("a", "a", 1, None), || ());
    store.begin_replace();
    ["a", "b"].into_iter().for_each(|name| drop(store.apply(header(name, name, 1, None), || ())));
    assert!(store.finish_replace().is_empty());
}

#[test]
fn siblings_and_versions_share_what_they_say_alike() {
    let store = Store::default();
    let labelled = |name: &str, version: u64| {
        let metadata = format!(r#""name":"{name}","resourceVersion":"{version}","labels":{{"app":"web"}}"#);
        Header::parse(format!(r#"{{"metadata":{{{metadata}}}}}"#).as_bytes()).unwrap()
    };
    store.apply(labelled("a", 1), || ());
    store.apply(labelled("b", 1), || ());
    store.apply(labelled("a", 2), || ());
    let text = |name: &str| store.get(&key(name)).unwrap().header.labels.get("app").unwrap().as_ptr();
    assert_eq!(text("a"), text("b"));
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (bits ^ bits >> 27) % limit
    }
}

/// What the server has, and what the store should have: name to version and owner.
type Truth = BTreeMap<String, (u64, u64)>;

fn check(store: &Store<u64>, model: &Truth, seed: u64) {
    let shown: Truth = store
        .entries()
        .iter()
        .map(|entry| {
            let owner = entry.header.owners[0].name().parse().unwrap();
            assert_eq!(entry.header.resource_version.number(), Some(entry.value));
            (entry.header.key.to_string(), (entry.value, owner))
        })
        .collect();
    assert_eq!(&shown, model, "seed {seed}");
    for owner in 0..3 {
        let owned = names(&store.owned_by(&Uid::from(&*owner.to_string())));
        let wanted: Vec<_> = model.iter().filter(|(_, (_, own))| *own == owner).map(|(name, _)| name.clone()).collect();
        assert_eq!(owned, wanted, "seed {seed}");
    }
}

#[test]
fn store_agrees_with_a_naive_model_through_events_and_listings() {
    for seed in 0..100 {
        let (store, mut dice, mut server, mut model, mut version) =
            (Store::default(), Dice(seed), Truth::new(), Truth::new(), 0);
        let show = |name: &str, (version, owner): (u64, u64)| {
            store.apply(header(name, name, version, Some(&owner.to_string())), || version)
        };
        for _ in 0..300 {
            let name = format!("object-{}", dice.roll(8));
            version += 1;
            // An event that is lost shows only in the next listing.
            let lost = dice.roll(4) == 0;
            match dice.roll(8) {
                0..4 => {
                    let state = (version, dice.roll(3));
                    server.insert(name.clone(), state);
                    if !lost {
                        let known = model.insert(name.clone(), state).is_some();
                        assert_eq!(show(&name, state).old().is_some(), known);
                    }
                }
                4..6 if server.remove(&name).is_some() && !lost => {
                    let known = model.remove(&name).is_some();
                    let change = store.delete(&header(&name, &name, version, None));
                    assert_eq!(matches!(change, Change::Deleted { .. }), known);
                }
                6 => {
                    if let Some((held, owner)) = model.get(&name).copied() {
                        let change = show(&name, (dice.roll(held) + 1, owner));
                        assert!(matches!(change, Change::Unchanged), "an event that comes late or again");
                    }
                }
                7 => {
                    store.begin_replace();
                    server.iter().for_each(|(name, state)| drop(show(name, *state)));
                    let gone: BTreeSet<_> = names(&store.finish_replace()).into_iter().collect();
                    let wanted = model.keys().filter(|name| !server.contains_key(*name)).cloned().collect();
                    assert_eq!(gone, wanted, "seed {seed}");
                    model.clone_from(&server);
                }
                _ => {}
            }
            check(&store, &model, seed);
        }
        store.begin_replace();
        store.finish_replace();
        assert!(store.is_blank(), "seed {seed}: objects leave no trace");
    }
}
