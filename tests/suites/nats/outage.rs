//! Outages: restarts, lost connections, a server that doesn't answer, and a bucket that is deleted.

use opgen::bucket::{Bucket as _, BucketDefinition, BucketError, Expected};
use opgen_tests::{Cut, Proxy, nats::ForeignClient, wait};

use crate::{
    case::{BUCKET, Scene, connect, open, options},
    watched::{Watched, listed},
};

pub(crate) async fn restart() {
    let mut scene = Scene::start().await;
    for key in ["a", "b", "c"] {
        scene.foreign.put(key, b"before").await;
    }
    let watch = Watched::follow(&*scene.bucket);
    watch.until_listed(1).await;
    for round in 2..5 {
        scene.server.stop();
        wait::until("a write fails", wait::PATIENCE, async || {
            match scene.bucket.put("d", b"during".to_vec(), Expected::Absent).await {
                Err(BucketError::Unavailable { .. }) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
        scene.server.start_again();
        scene.server.until_healthy().await;
        let foreign = ForeignClient::connect(&[scene.server.url()], BUCKET).await;
        foreign.put("b", format!("round {round}").as_bytes()).await;
        foreign.purge("c").await;
        watch.until_listed(round).await;
        let entries = wait::until("a list succeeds", wait::PATIENCE, async || {
            scene.bucket.list().await.map_err(|error| error.to_string())
        })
        .await;
        watch.until_equal(&entries.into_iter().map(|entry| (entry.key, entry.value)).collect()).await;
        foreign.put("c", b"again").await;
        watch.until_equal(&listed(&*scene.bucket).await).await;
    }
}

pub(crate) async fn compaction() {
    let scene = Scene::with(BucketDefinition::new(BUCKET).history(3)).await;
    let address = scene.server.url().trim_start_matches("nats://").parse().expect("an address");
    let proxy = Proxy::start(address).await.expect("a proxy");
    let connection = connect(options([format!("nats://{}", proxy.address())])).await;
    let bucket = open(&connection, &BucketDefinition::new(BUCKET)).await;
    for key in ["kept", "deleted", "purged", "changed", "created-again"] {
        scene.foreign.put(key, b"before").await;
    }
    let watch = Watched::follow(&bucket);
    watch.until_listed(1).await;
    proxy.cut(Cut::Both);
    wait::until("the watch notices that nothing arrives", wait::PATIENCE, async || {
        if watch.errors().is_empty() { Err("no error".to_owned()) } else { Ok(()) }
    })
    .await;
    scene.foreign.delete("deleted").await;
    scene.foreign.purge("purged").await;
    scene.foreign.delete("created-again").await;
    for number in 0..10 {
        scene.foreign.put("changed", format!("value {number}").as_bytes()).await;
    }
    scene.foreign.delete_tombstones().await;
    scene.foreign.put("created-again", b"after").await;
    proxy.cut(Cut::Nothing);
    let entries = listed(&*scene.bucket).await;
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["changed", "created-again", "kept"]);
    watch.until_equal(&entries).await;
    assert!(watch.lists() >= 2, "{} lists", watch.lists());
}

pub(crate) async fn recreated() {
    let scene = Scene::start().await;
    for key in ["a", "b", "c"] {
        scene.foreign.put(key, b"before").await;
    }
    let watch = Watched::follow(&*scene.bucket);
    watch.until_listed(1).await;
    scene.foreign.delete_bucket().await;
    let missing = BucketError::no_bucket(BUCKET);
    wait::until("the watch notices that the bucket is gone", wait::PATIENCE, async || {
        if watch.errors().contains(&missing) { Ok(()) } else { Err(format!("{:?}", watch.errors())) }
    })
    .await;
    assert_eq!(scene.bucket.get("a").await, Err(missing.clone()));
    assert_eq!(scene.bucket.list().await, Err(missing.clone()));
    assert_eq!(scene.bucket.put("a", Vec::new(), Expected::Absent).await, Err(missing));
    open(&scene.connection, &BucketDefinition::new(BUCKET)).await;
    scene.foreign.put("b", b"after").await;
    watch.until_listed(2).await;
    watch.until_equal(&listed(&*scene.bucket).await).await;
}

pub(crate) async fn paused() {
    let mut scene = Scene::start().await;
    let revision = scene.bucket.put("a", b"before".to_vec(), Expected::Absent).await.expect("a write");
    scene.server.pause();
    let during = scene.bucket.put("a", b"during".to_vec(), Expected::Revision(revision)).await;
    assert!(matches!(during, Err(BucketError::Unavailable { .. })), "{during:?}");
    assert!(matches!(scene.bucket.get("a").await, Err(BucketError::Unavailable { .. })));
    assert!(matches!(scene.bucket.list().await, Err(BucketError::Unavailable { .. })));
    scene.server.resume();
    // The write that had no answer may have happened: it waited in the socket of the server.
    let written = wait::until("a write succeeds", wait::PATIENCE, async || {
        let entry = scene.bucket.get("a").await.map_err(|error| error.to_string())?.ok_or("no entry")?;
        let written = scene.bucket.put("a", b"after".to_vec(), Expected::Revision(entry.revision)).await;
        written.map_err(|error| error.to_string())
    })
    .await;
    let entry = scene.bucket.get("a").await.expect("a read").expect("an entry");
    assert_eq!((entry.revision, entry.value), (written, b"after".to_vec()));
}
