//! Tests the positions of changes, which are the resourceVersions from which watches continue.

use super::harness::{definition, environment, kind};
use crate::bucket::{
    MemoryBucket,
    api::{
        BucketKind,
        kind_store::KindStore,
        object_key::KeyedName,
        view::{BucketView, ViewRead},
    },
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::watch;

/// Returns a view that knows objects with the revisions 1, 2 and 3.
fn view() -> BucketView {
    let kind = BucketKind::defined(kind(), Arc::new(MemoryBucket::new("apps")), &definition());
    let view = BucketView::new(&KindStore::new(kind, environment(1)), watch::channel(0).1);
    view.replace(BTreeMap::new(), 0);
    ["a", "b", "c"].into_iter().zip(1..).for_each(|(name, revision)| put(&view, name, revision));
    view
}

fn in_shop(name: &str) -> KeyedName {
    KeyedName { namespace: "shop".to_owned(), name: name.to_owned() }
}

fn put(view: &BucketView, name: &str, revision: u64) {
    let object: Value = json!({"metadata": {"name": name, "uid": format!("u-{name}-{revision}")}});
    view.show(&in_shop(name), &format!("shop.{name}"), Some((&object, revision)), revision);
    view.advance(revision);
}

/// Returns the names and the positions of the changes after a version; `None` if they are forgotten.
fn changes_after(view: &BucketView, version: u64) -> Option<Vec<(String, u64)>> {
    let mut number = view.first_after(version)?;
    let mut changes = Vec::new();
    while let ViewRead::Change(change) = view.read(number) {
        changes.push((change.name.clone(), change.position));
        number += 1;
    }
    Some(changes)
}

#[test]
fn removals_without_a_message_come_after_the_last_version() {
    let view = view();
    let version = view.position();
    for name in ["a", "b"] {
        // The comparison of the keys reports them with the last revision of the bucket.
        view.show(&in_shop(name), &format!("shop.{name}"), None, 3);
        view.advance(3);
    }
    assert_eq!(changes_after(&view, version), Some(vec![("a".to_owned(), 4), ("b".to_owned(), 5)]));
    let version = view.position();
    put(&view, "d", 4);
    assert_eq!(changes_after(&view, version), Some(vec![("d".to_owned(), 6)]));
    assert_eq!(view.progress(), (6, 4));
}

#[test]
fn a_list_without_later_revisions_expires_the_versions_of_before_and_hides_nothing_after_it() {
    let view = view();
    let before = view.position();
    // All keys went with a purge of the stream.
    assert_eq!(view.replace(BTreeMap::new(), 0).len(), 3);
    assert_eq!(changes_after(&view, before), None, "a watch from the version of before would miss the deletions");
    let version = view.position();
    put(&view, "d", 4);
    put(&view, "e", 5);
    let names = |changes: Vec<(String, u64)>| changes.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(changes_after(&view, version).map(names), Some(vec!["d".to_owned(), "e".to_owned()]));
    // The revisions of a bucket that was created again begin with 1.
    view.replace(BTreeMap::new(), 0);
    let version = view.position();
    put(&view, "f", 1);
    assert_eq!(changes_after(&view, version).map(names), Some(vec!["f".to_owned()]));
}
