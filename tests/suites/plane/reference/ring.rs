//! Tests rings of references: each member reports the ring in its condition before the operator breaks the ring.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use futures::{StreamExt as _, pin_mut};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, CustomResource, Resource, ResourceExt as _,
    api::{ApiResource, DynamicObject, WatchEvent, WatchParams},
};
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::operator::{kinds::available, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("reference_a_ring_of_two_kinds_is_named_in_the_conditions_of_both_and_broken", of_two_kinds)]
}

/// The messages of the condition `Available` of the objects of a kind, as a watch shows them, with the names of the objects.
pub(super) struct Messages {
    seen: Arc<Mutex<BTreeSet<(String, String)>>>,
    task: JoinHandle<()>,
}

impl Messages {
    /// Begins to collect the messages. The objects with these names have one already.
    pub(super) async fn collect<K: Resource<DynamicType = ()>>(site: &Site, names: &[&str]) -> Self {
        let (seen, kind) = (Arc::default(), ApiResource::erase::<K>(&()));
        let api = Api::namespaced_with(site.plane.client(), &site.namespace, &kind);
        let messages = Self { seen: Arc::clone(&seen), task: tokio::spawn(record(api, seen)) };
        for name in names {
            messages.has(name, "").await;
        }
        messages
    }

    /// Waits until an object has had a message that starts with this text.
    pub(super) async fn has(&self, name: &str, start: &str) {
        wait::until(format!("{name} says `{start}`"), PATIENCE, async || {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let fits = |(of, message): &(String, String)| of == name && message.starts_with(start);
            if seen.iter().any(fits) { Ok(()) } else { Err(format!("{seen:#?}")) }
        })
        .await;
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Records the messages until the server refuses the watch.
async fn record(api: Api<DynamicObject>, seen: Arc<Mutex<BTreeSet<(String, String)>>>) {
    while let Ok(events) = api.watch(&WatchParams::default(), "0").await {
        pin_mut!(events);
        while let Some(Ok(event)) = events.next().await {
            let (WatchEvent::Added(object) | WatchEvent::Modified(object)) = event else { continue };
            let conditions = object.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let available = conditions.iter().find(|condition| condition["type"] == "Available");
            if let Some(message) = available.and_then(|condition| condition["message"].as_str()) {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.insert((object.name_any(), message.to_owned()));
            }
        }
    }
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Key", namespaced, status = "Status")]
struct KeySpec {
    #[managed(reference = Lock)]
    lock: String,
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Lock", namespaced, status = "Status")]
struct LockSpec {
    #[managed(reference = Key)]
    key: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Key)]
struct KeyTree {
    #[provisioner(resource)]
    content: ConfigMap,
}

impl KeyTree {
    fn content(_: &Key) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Lock)]
struct LockTree {
    #[provisioner(resource)]
    content: ConfigMap,
}

impl LockTree {
    fn content(_: &Lock) -> ConfigMap {
        ConfigMap::default()
    }
}

async fn of_two_kinds(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Key, KeyTree>().controls::<Lock, LockTree>()).await;
    let (keys, locks) = (site.api::<Key>(), site.api::<Lock>());
    site.create(&Key::new("a", KeySpec::default())).await;
    site.create(&Lock::new("b", LockSpec { key: "a".to_owned() })).await;
    let is_provisioned =
        |lock: &Lock| available(lock.status.as_ref()).is_some_and(|(_, said, _)| said == "Provisioned");
    until_object(&locks, "b", "is provisioned", is_provisioned).await;
    site.patch::<Key>("a", &json!({"spec": {"lock": "b"}})).await;
    let is_referenced = |lock: &Lock| lock.finalizers().iter().any(|held| held.contains("/reference_"));
    until_object(&locks, "b", "is referenced", is_referenced).await;

    let of_keys = Messages::collect::<Key>(&site, &["a"]).await;
    let of_locks = Messages::collect::<Lock>(&site, &["b"]).await;
    let ring = format!("a cycle of references: Key {0}/a, Lock {0}/b", site.namespace);
    site.delete::<Key>("a").await;
    let by = format!("it is referenced by locks.reference.example.com {}/b, in {ring}", site.namespace);
    of_keys.has("a", &by).await;
    site.delete::<Lock>("b").await;
    until_gone(&keys, "a").await;
    until_gone(&locks, "b").await;
    let broken = format!("it is in {ring}; the operator releases the references of the youngest, ");
    of_keys.has("a", &broken).await;
    of_locks.has("b", &broken).await;
}
