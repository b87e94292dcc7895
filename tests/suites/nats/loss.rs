//! Changes that no message tells of, and messages that arrive faster than they are read.

use std::{collections::BTreeMap, time::Duration};

use futures::StreamExt as _;
use opgen::bucket::{Bucket as _, BucketDefinition, BucketEvent, EntryList, Expected};
use opgen_tests::wait;

use crate::{
    case::{BUCKET, Scene},
    watched::{Entries, Watched, listed},
};

pub(crate) async fn purged_stream() {
    let scene = Scene::start().await;
    for key in ["a", "b", "b.c", "deleted"] {
        scene.foreign.put(key, b"value").await;
    }
    scene.foreign.delete("deleted").await;
    let watch = Watched::follow(&*scene.bucket);
    watch.until_listed(1).await;
    scene.foreign.purge_stream("b").await;
    let entries = listed(&*scene.bucket).await;
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["a", "b.c"]);
    watch.until_equal(&entries).await;
    scene.foreign.put("b", b"again").await;
    watch.until_equal(&listed(&*scene.bucket).await).await;
    scene.foreign.purge_stream(">").await;
    watch.until_equal(&Entries::new()).await;
    assert_eq!(watch.lists(), 1, "{:?}", watch.errors());
}

pub(crate) async fn maximum_age() {
    let mut scene = Scene::with(BucketDefinition::new(BUCKET).max_age(Duration::from_secs(3))).await;
    let watch = Watched::follow(&*scene.bucket);
    watch.until_listed(1).await;
    scene.foreign.put("a", b"value").await;
    watch.until_equal(&BTreeMap::from([("a".to_owned(), b"value".to_vec())])).await;
    watch.until_equal(&Entries::new()).await;
    assert_eq!(scene.bucket.get("a").await, Ok(None));
    let put = async |key: &str, expected| scene.bucket.put(key, b"again".to_vec(), expected).await;
    let first = put("_claim.b", Expected::Absent).await.expect("a claim");
    put("_claim.b", Expected::Revision(first)).await.expect("a claim that is written again");
    put("a", Expected::Absent).await.expect("an expired key can be created");
    // A claim ends with the teardown of its object, and not before.
    let mut entries = Entries::from(["a", "_claim.b"].map(|key| (key.to_owned(), b"again".to_vec())));
    watch.until_equal(&entries).await;
    entries.remove("a");
    watch.until_equal(&entries).await;
    // A server that starts expires what is too old in another way.
    scene.server.stop();
    scene.server.start_again();
    scene.server.until_healthy().await;
    let left = wait::until("a list succeeds", wait::PATIENCE, async || {
        scene.bucket.list().await.map_err(|error| error.to_string())
    })
    .await;
    assert_eq!(left.into_iter().map(|entry| (entry.key, entry.value)).collect::<Entries>(), entries);
}

pub(crate) async fn last_message() {
    let scene = Scene::start().await;
    for key in ["a", "b"] {
        scene.foreign.put(key, b"value").await;
    }
    scene.foreign.purge_stream("b").await;
    let entries = listed(&*scene.bucket).await;
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["a"]);
    let watch = Watched::follow(&*scene.bucket);
    watch.until_listed(1).await;
    watch.until_equal(&entries).await;
    scene.foreign.purge_stream("a").await;
    assert_eq!(scene.bucket.list().await, Ok(EntryList::default()));
    let watch = Watched::follow(&*scene.bucket);
    watch.until_listed(1).await;
    watch.until_equal(&Entries::new()).await;
}

/// The server stops to send when the reader does not answer its flow control, and goes on after.
pub(crate) async fn slow_reader() {
    let scene = Scene::start().await;
    let value = vec![b'x'; 16 * 1024];
    for number in 0..600 {
        scene.foreign.put(&format!("listed-{number}"), &value).await;
    }
    let mut events = scene.bucket.watch();
    assert_eq!(events.next().await, Some(Ok(BucketEvent::ListStarted)));
    for number in 0..600 {
        scene.foreign.put(&format!("changed-{number}"), &value).await;
        if number % 3 == 0 {
            scene.foreign.purge(&format!("listed-{number}")).await;
        }
    }
    let expected = listed(&*scene.bucket).await;
    let mut entries = Entries::new();
    let all = async {
        while entries != expected {
            match events.next().await.expect("the watch does not end").expect("no message is lost") {
                BucketEvent::Put(entry) => drop(entries.insert(entry.key, entry.value)),
                BucketEvent::Removed { key, .. } => drop(entries.remove(&key)),
                BucketEvent::ListEnded => {}
                // Entries that are purged during a list may make it start again.
                BucketEvent::ListStarted => entries.clear(),
                other => panic!("{other:?}"),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("all changes arrive");
}
