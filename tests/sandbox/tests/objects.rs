//! Objects come, change and go.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use opgen_sandbox::Sandbox;
use serde_json::json;

fn config(name: &str) -> ConfigMap {
    ConfigMap { metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() }, ..ConfigMap::default() }
}

#[tokio::test(start_paused = true)]
async fn a_watch_tells_what_happens_to_an_object() {
    let sandbox = Sandbox::builder().seed(1).start();
    let maps = Api::<ConfigMap>::default_namespaced(sandbox.client());
    let made = maps.create(&PostParams::default(), &config("a")).await.unwrap();
    assert!(made.uid().is_some() && made.creation_timestamp().is_some());
    let version = made.resource_version().unwrap();
    let changed = maps.patch("a", &PatchParams::default(), &Patch::Merge(json!({"data": {"k": "v"}}))).await.unwrap();
    assert_ne!(changed.resource_version().unwrap(), version);
    let stale = maps.replace("a", &PostParams::default(), &made).await.unwrap_err();
    assert!(matches!(stale, kube::Error::Api(status) if status.reason == "Conflict"));
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(maps.list(&ListParams::default().fields("metadata.name=a")).await.unwrap().items.is_empty());

    let events = maps.watch(&WatchParams::default().fields("metadata.name=a"), &version).await.unwrap();
    let told: Vec<_> = events
        .take(2)
        .map(|event| match event.unwrap() {
            WatchEvent::Modified(object) => format!("modified {}", object.data.unwrap_or_default().len()),
            WatchEvent::Deleted(object) => format!("deleted {}", object.name_any()),
            other => format!("{other:?}"),
        })
        .collect()
        .await;
    assert_eq!(told, ["modified 1", "deleted a"]);
}
