//! Tests the status in entries, and the owner marks on children.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen_tests::{Plane, case_with_buckets};
use serde_json::Value;

use super::{
    Scene,
    stored::{condition, has_text, object, until_stored},
};

pub(super) fn cases() -> Vec<Trial> {
    vec![
        case_with_buckets("nats_u1_the_status_of_a_primary_is_in_its_entry", status),
        case_with_buckets("nats_u7_a_mark_has_the_true_key_and_each_label_is_valid", marks),
    ]
}

/// The conditions of a primary are written to its entry, and its spec stays.
async fn status(plane: Arc<Plane>) {
    let scene = Scene::provisioned(&plane, "one").await;
    let (vats, key) = (scene.vats(), scene.key("one"));
    let is_available = |vat: &Value| {
        condition(vat, "Available").is_some_and(|condition| condition["status"] == "True") && vat["spec"]["text"] == "a"
    };
    until_stored(&vats, &key, "is available", is_available).await;
    scene.running.end_now().await;
}

/// The key of the owner is in no label, which could not have it: the label names the operator, and an index finds the annotation.
async fn marks(plane: Arc<Plane>) {
    let name = ["north", &"a".repeat(60), &"b".repeat(60), "one"].join(".");
    let scene = Scene::provisioned(&plane, &name).await;
    let config = scene.site.api::<ConfigMap>().get(&name).await.unwrap();
    let mark = &config.annotations()["opgen.dev/owner"];
    let owner = format!("vats.live.example.com/{}/{name}/", scene.site.namespace);
    assert!(mark.starts_with(&owner), "{mark}");
    let pipe = object(&scene.buckets.bucket("pipes"), &scene.key(&name)).await.unwrap();
    let pipe_mark = pipe["metadata"]["annotations"]["opgen.dev/owner"].as_str().unwrap();
    assert_eq!(pipe_mark, mark);
    for value in config.labels().values() {
        assert!(value.len() <= 63 && !value.contains('/'), "{value}");
    }
    // The mark leads back to the owner.
    scene.buckets.bucket("pipes").purge_raw(&scene.key(&name)).await;
    has_text(&scene.buckets.bucket("pipes"), &scene.key(&name), "a").await;
    scene.running.end_now().await;
}
