//! Tests of a sandbox that is restored from a backup.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

use crate::fixture::Fixture;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_restored_sandbox_has_the_objects_of_then_and_goes_on_from_the_latest_version() {
    let scene = Fixture::new();
    let first = scene.config("a", json!({})).await;
    let backup = scene.0.version();
    let changed = scene.done("PATCH", &format!("{MAPS}/a"), json!({"data": {"text": "later"}})).await;
    scene.config("b", json!({})).await;
    for latest in [backup, version(&changed) + 1000] {
        let restored = Sandbox::builder().seed(8).restored(&scene.0, backup, latest).unwrap().start();
        assert_eq!(restored.now(), scene.0.now());
        let restored = Fixture(restored);
        assert_eq!(restored.get(&format!("{MAPS}/a")).await, first);
        assert!(restored.is_gone(&format!("{MAPS}/b")).await);
        let written = restored.config("c", json!({})).await;
        assert!(version(&written) > latest);
        let expired = format!("{MAPS}?watch=1&resourceVersion={}", backup.saturating_sub(1));
        assert_eq!(restored.get(&expired).await["object"]["code"], 410);
    }
    // The first one goes on.
    assert_eq!(scene.get(&format!("{MAPS}/a")).await["data"]["text"], "later");
}
