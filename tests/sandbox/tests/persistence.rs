//! Tests of a sandbox with a data file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use futures::future::join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchParams},
};
use opgen_sandbox::Sandbox;
use serde_json::json;

use crate::client::{define, post, until};

/// A path that nothing lies at.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sandbox-{name}-{}.redb", std::process::id()));
        let place = Self(path);
        place.clear();
        place
    }

    fn clear(&self) {
        if self.0.exists() {
            std::fs::remove_file(&self.0).unwrap();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.clear();
    }
}

fn maps(sandbox: &Sandbox) -> Api<ConfigMap> {
    Api::default_namespaced(sandbox.client())
}

fn config(name: &str) -> ConfigMap {
    ConfigMap { metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() }, ..ConfigMap::default() }
}

#[tokio::test]
async fn objects_and_their_version_are_there_again() {
    let place = Place::new("again");
    let sandbox = Sandbox::builder().open(&place.0).unwrap();
    // The namespace has a map of its own.
    let own = ListParams::default().fields("metadata.name!=kube-root-ca.crt");
    let made = join_all(
        ["a", "b", "c"].map(|name| async { maps(&sandbox).create(&PostParams::default(), &config(name)).await }),
    )
    .await;
    assert!(made.iter().all(Result::is_ok));
    let merge = Patch::Merge(json!({"data": {"k": "v"}, "metadata": {"labels": {"l": "1"}}}));
    maps(&sandbox).patch("a", &PatchParams::default(), &merge).await.unwrap();
    maps(&sandbox).delete("b", &DeleteParams::default()).await.unwrap();
    let before = maps(&sandbox).list(&own).await.unwrap();
    sandbox.close();

    let sandbox = Sandbox::builder().open(&place.0).unwrap();
    let after = maps(&sandbox).list(&own).await.unwrap();
    assert_eq!(after.items, before.items);
    assert_eq!(after.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["a", "c"]);
    let version = |list: &kube::core::ObjectList<ConfigMap>| {
        list.metadata.resource_version.clone().unwrap().parse::<u64>().unwrap()
    };
    assert!(version(&after) >= version(&before));
    assert_eq!(maps(&sandbox).list(&ListParams::default().labels("l=1")).await.unwrap().items.len(), 1);
    let next = maps(&sandbox).create(&PostParams::default(), &config("d")).await.unwrap();
    assert!(next.resource_version().unwrap().parse::<u64>().unwrap() > version(&after));
}

#[tokio::test]
async fn a_kind_and_its_objects_are_there_again() {
    let place = Place::new("kind");
    let sandbox = Sandbox::builder().open(&place.0).unwrap();
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer", "default": 3, "maximum": 5},
    }}}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "versions": [version],
                 "names": {"plural": "things", "kind": "Thing"}},
    });
    define(&sandbox, &crd).await;
    let things = "/apis/example.com/v1/namespaces/default/things";
    let thing = |name: &str, size: i64| json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": {"size": size}});
    let (code, made) = post(&sandbox, things, &thing("a", 4)).await;
    assert_eq!(code, 201, "{made}");
    sandbox.close();

    let sandbox = Sandbox::builder().open(&place.0).unwrap();
    let found = until(&sandbox, &format!("{things}/a"), |code, _| code == 200).await;
    assert_eq!(found, made);
    assert_eq!(post(&sandbox, things, &thing("b", 6)).await.0, 422);
    assert_eq!(post(&sandbox, things, &thing("b", 5)).await.0, 201);
}

#[tokio::test]
async fn a_watch_from_before_the_start_is_told_that_it_is_too_old() {
    let place = Place::new("old");
    let sandbox = Sandbox::builder().open(&place.0).unwrap();
    let first = maps(&sandbox).create(&PostParams::default(), &config("a")).await.unwrap();
    maps(&sandbox).create(&PostParams::default(), &config("b")).await.unwrap();
    sandbox.close();
    let sandbox = Sandbox::builder().open(&place.0).unwrap();
    let events = maps(&sandbox).watch(&WatchParams::default(), &first.resource_version().unwrap()).await.unwrap();
    let told = futures::StreamExt::next(&mut Box::pin(events)).await.unwrap().unwrap();
    let kube::api::WatchEvent::Error(status) = told else { panic!("{told:?}") };
    assert_eq!((status.code, status.reason.as_str()), (410, "Expired"));
}

#[tokio::test]
async fn one_file_is_of_one_sandbox() {
    let place = Place::new("one");
    let _first = Sandbox::builder().open(&place.0).unwrap();
    assert!(Sandbox::builder().open(&place.0).is_err());
    let no_file = Place::new("no-file");
    std::fs::write(&no_file.0, "no data file").unwrap();
    assert!(Sandbox::builder().open(&no_file.0).is_err());
}

#[tokio::test]
async fn a_token_is_good_after_a_restart_and_in_no_other_sandbox() {
    let place = Place::new("token");
    let sandbox = Sandbox::builder().open(&place.0).unwrap();
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    let wanted = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let (code, made) = post(&sandbox, &format!("{account}/token"), &wanted).await;
    assert_eq!(code, 201, "{made}");
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": made["status"]["token"]}});
    let known = async |sandbox: &Sandbox| {
        let (_, answer) = post(sandbox, "/apis/authentication.k8s.io/v1/tokenreviews", &review).await;
        answer["status"]["authenticated"] == true
    };
    assert!(known(&sandbox).await);
    sandbox.close();
    assert!(known(&Sandbox::builder().open(&place.0).unwrap()).await);
    assert!(!known(&Sandbox::new()).await);
}
