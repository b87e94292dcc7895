//! Tests of creates, updates and deletes of objects.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

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

#[tokio::test(start_paused = true)]
async fn a_name_is_taken_until_its_object_is_gone() {
    let sandbox = crate::client::sandbox();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "a", "finalizers": ["example.com/a"]}});
    crate::client::post(&sandbox, maps, &map).await;
    let (code, refused) = crate::client::post(&sandbox, maps, &map).await;
    assert_eq!((code, &refused["message"]), (409, &json!("configmaps \"a\" already exists")));
    crate::client::delete(&sandbox, &format!("{maps}/a")).await;
    let (code, refused) = crate::client::post(&sandbox, maps, &map).await;
    let message = json!("object is being deleted: configmaps \"a\" already exists");
    assert_eq!((code, &refused["message"]), (409, &message));
}

#[tokio::test(start_paused = true)]
async fn a_flow_schema_dangles_until_its_level_is_there() {
    let sandbox = crate::client::sandbox();
    let group = "/apis/flowcontrol.apiserver.k8s.io/v1";
    let schemas = format!("{group}/flowschemas");
    let schema = json!({"metadata": {"name": "a"}, "spec": {"priorityLevelConfiguration": {"name": "b"}}});
    let (code, made) = crate::client::post(&sandbox, &schemas, &schema).await;
    assert_eq!((code, &made["spec"]["matchingPrecedence"]), (201, &json!(1000)));
    let path = format!("{schemas}/a");
    let is = |status: &'static str| move |_: u16, schema: &Value| schema["status"]["conditions"][0]["status"] == status;
    let schema = crate::client::until(&sandbox, &path, is("True")).await;
    assert_eq!(schema["status"]["conditions"][0]["reason"], "NotFound");
    let limited = json!({"limitResponse": {"type": "Reject"}});
    let level = json!({"metadata": {"name": "b"}, "spec": {"type": "Limited", "limited": limited}});
    let (_, level) = crate::client::post(&sandbox, &format!("{group}/prioritylevelconfigurations"), &level).await;
    assert_eq!(level["spec"]["limited"]["nominalConcurrencyShares"], 30);
    let schema = crate::client::until(&sandbox, &path, is("False")).await;
    assert_eq!(schema["metadata"]["managedFields"][0]["manager"], "api-priority-and-fairness-config-consumer-v1");
}

#[tokio::test(start_paused = true)]
async fn an_unused_class_of_volume_attributes_goes() {
    let sandbox = crate::client::sandbox();
    let classes = "/apis/storage.k8s.io/v1/volumeattributesclasses";
    let class = json!({"metadata": {"name": "a"}, "driverName": "example.com", "parameters": {"a": "b"}});
    let (_, made) = crate::client::post(&sandbox, classes, &class).await;
    assert_eq!(made["metadata"]["finalizers"], json!(["kubernetes.io/vac-protection"]));
    let path = format!("{classes}/a");
    let (code, marked) = crate::client::delete(&sandbox, &path).await;
    assert_eq!((code, marked["metadata"]["deletionTimestamp"].is_string()), (200, true));
    crate::client::until(&sandbox, &path, |code, _| code == 404).await;
}
