//! Operators whose kinds are in key-value buckets: primaries, children, and both beside Kubernetes.

mod alone;
mod entry;
mod events;
mod inputs;
mod lead;
mod link;
mod queue;
mod run;
mod shards;
mod siphon;
mod store;
mod stored;

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Plane, case_with_buckets,
    wait::{until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::{
    store::{CaseBucket, CaseBuckets},
    stored::{conditions, has_text, is_empty, object, until_stored},
};
use super::{
    kinds::{Note, NoteSpec, text},
    log,
    site::{Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    let of_parts = [
        entry::cases(),
        events::cases(),
        inputs::cases(),
        lead::cases(),
        queue::cases(),
        run::cases(),
        shards::cases(),
    ];
    let own = vec![
        case_with_buckets("nats_u2_children_in_kubernetes_and_in_a_bucket_follow_their_owner_in_a_bucket", lifecycle),
        case_with_buckets("nats_u2_a_child_in_a_bucket_follows_its_owner_in_kubernetes", owner_in_kubernetes),
        case_with_buckets("nats_u7_an_owner_whose_key_is_no_label_value_is_found_by_its_child", long_key),
        case_with_buckets("nats_u10_children_that_other_clients_change_or_delete_are_repaired", repairs),
        case_with_buckets(
            "nats_u12_an_owner_that_is_purged_while_no_operator_runs_takes_its_children_along",
            purged_while_down,
        ),
        case_with_buckets("nats_u12_a_child_whose_owner_left_no_trace_is_deleted", no_trace),
        case_with_buckets("nats_u20_an_entry_that_is_no_object_delays_no_other", invalid_entries),
        case_with_buckets("nats_u25_a_deletion_and_a_purge_are_the_same_end", deleted_or_purged),
        case_with_buckets("nats_u43_an_object_of_another_client_is_left_alone_and_reported", foreign_object),
    ];
    own.into_iter().chain(of_parts.into_iter().flatten()).collect()
}

/// A vat, whose objects are in a bucket.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Vat", namespaced, status = "Status")]
#[managed(nats(bucket = "vats"))]
pub(crate) struct VatSpec {
    text: String,
}

/// A pipe, which is in another bucket and has no controller.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Pipe", namespaced, status = "Status")]
#[managed(nats(bucket = "pipes"))]
pub(crate) struct PipeSpec {
    text: String,
}

/// One child in Kubernetes, and one in a bucket.
#[derive(Provisioner)]
#[provisioner(serial, owner = Vat)]
pub(crate) struct VatTree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource)]
    pipe: Pipe,
}

impl VatTree {
    fn config(vat: &Vat) -> ConfigMap {
        ConfigMap { data: Some([("text".to_owned(), vat.spec.text.clone())].into()), ..ConfigMap::default() }
    }

    fn pipe(vat: &Vat) -> Pipe {
        Pipe::new(&vat.name_any(), PipeSpec { text: vat.spec.text.clone() })
    }
}

/// A child in a bucket, of an owner in Kubernetes.
#[derive(Provisioner)]
#[provisioner(serial, owner = Note)]
pub(crate) struct PipeOfNote {
    #[provisioner(resource)]
    pipe: Pipe,
}

impl PipeOfNote {
    fn pipe(note: &Note) -> Pipe {
        Pipe::new(&note.name_any(), PipeSpec { text: note.spec.text.clone() })
    }
}

/// An operator of vats with its buckets, which other clients use as well.
struct Scene {
    site: Site,
    buckets: CaseBuckets,
    operator: Operator,
    running: Running,
}

impl Scene {
    async fn started(plane: &Arc<Plane>) -> Self {
        let (site, buckets) = (Site::new(plane).await, CaseBuckets::new(plane).await);
        let operator = site.operator().buckets(buckets.link()).controls::<Vat, VatTree>().defines::<Pipe>();
        let running = site.start(&operator).await;
        Self { site, buckets, operator, running }
    }

    /// Starts an operator with a vat, whose children exist.
    async fn provisioned(plane: &Arc<Plane>, name: &str) -> Self {
        let scene = Self::started(plane).await;
        scene.put(name, "a").await;
        scene.has_children(name, "a").await;
        scene
    }

    fn vats(&self) -> CaseBucket {
        self.buckets.bucket("vats")
    }

    fn key(&self, name: &str) -> String {
        self.site.bucket_key(name)
    }

    /// Writes a vat as a client that knows nothing but its spec.
    async fn put(&self, name: &str, text: &str) {
        self.vats().put_raw(&self.key(name), json!({"spec": {"text": text}}).to_string()).await;
    }

    async fn has_children(&self, name: &str, wanted: &str) {
        until_object(&self.site.api::<ConfigMap>(), name, "has the text", |config| text(config) == wanted).await;
        has_text(&self.buckets.bucket("pipes"), &self.key(name), wanted).await;
    }

    async fn has_no_children(&self, name: &str) {
        until_gone(&self.site.api::<ConfigMap>(), name).await;
        is_empty(&self.buckets.bucket("pipes")).await;
        is_empty(&self.vats()).await;
    }

    /// Ends the operator, and starts it again after `meanwhile`.
    async fn restarted(self, meanwhile: impl AsyncFnOnce(&CaseBucket)) -> Self {
        let Self { site, buckets, operator, running } = self;
        running.end_now().await;
        meanwhile(&buckets.bucket("vats")).await;
        let running = site.run(&operator, Default::default()).await;
        Self { site, buckets, operator, running }
    }
}

async fn lifecycle(plane: Arc<Plane>) {
    let scene = Scene::provisioned(&plane, "one").await;
    let config = scene.site.api::<ConfigMap>().get("one").await.unwrap();
    assert_eq!(config.metadata.owner_references, None, "the garbage collector would delete it");
    assert!(config.annotations()["opgen.dev/owner"].starts_with("vats.live.example.com/"));
    scene.put("one", "b").await;
    scene.has_children("one", "b").await;
    scene.vats().delete_raw(&scene.key("one")).await;
    scene.has_no_children("one").await;
    scene.running.end_now().await;
}

async fn owner_in_kubernetes(plane: Arc<Plane>) {
    let (site, buckets) = (Site::new(&plane).await, CaseBuckets::new(&plane).await);
    let operator = site.operator().buckets(buckets.link()).controls::<Note, PipeOfNote>().defines::<Pipe>();
    let running = site.start(&operator).await;
    site.create(&Note::new("one", NoteSpec { text: "a".to_owned(), ..NoteSpec::default() })).await;
    let (pipes, key) = (buckets.bucket("pipes"), site.bucket_key("one"));
    has_text(&pipes, &key, "a").await;
    let pipe = object(&pipes, &key).await.unwrap();
    assert_eq!(pipe["metadata"].get("ownerReferences"), None, "{pipe}");
    assert!(pipe["metadata"]["annotations"]["opgen.dev/owner"].is_string(), "{pipe}");
    site.patch::<Note>("one", &json!({"spec": {"text": "b"}})).await;
    has_text(&pipes, &key, "b").await;
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    is_empty(&pipes).await;
    running.end_now().await;
}

async fn long_key(plane: Arc<Plane>) {
    let name = "a".repeat(200);
    let scene = Scene::provisioned(&plane, &name).await;
    scene.site.patch::<ConfigMap>(&name, &json!({"data": {"text": "edited"}})).await;
    scene.has_children(&name, "a").await;
    scene.vats().delete_raw(&scene.key(&name)).await;
    scene.has_no_children(&name).await;
    scene.running.end_now().await;
}

async fn repairs(plane: Arc<Plane>) {
    let scene = Scene::provisioned(&plane, "one").await;
    scene.site.patch::<ConfigMap>("one", &json!({"data": {"text": "edited"}})).await;
    scene.has_children("one", "a").await;
    scene.site.delete::<ConfigMap>("one").await;
    scene.has_children("one", "a").await;
    let (pipes, key) = (scene.buckets.bucket("pipes"), scene.key("one"));
    pipes.purge_raw(&key).await;
    scene.has_children("one", "a").await;
    let mut pipe = object(&pipes, &key).await.unwrap();
    pipe["spec"]["text"] = "edited".into();
    pipes.put_raw(&key, pipe.to_string()).await;
    scene.has_children("one", "a").await;
    scene.running.end_now().await;
}

async fn purged_while_down(plane: Arc<Plane>) {
    let scene = Scene::provisioned(&plane, "one").await;
    let key = scene.key("one");
    let scene = scene
        .restarted(async |vats| {
            vats.purge_raw(&key).await;
            vats.compact().await;
        })
        .await;
    scene.has_no_children("one").await;
    scene.running.end_now().await;
}

async fn no_trace(plane: Arc<Plane>) {
    let scene = Scene::provisioned(&plane, "one").await;
    let scene = scene
        .restarted(async |vats| {
            for entry in vats.list().await {
                vats.purge_raw(&entry.key).await;
            }
        })
        .await;
    scene.has_no_children("one").await;
    scene.running.end_now().await;
}

async fn invalid_entries(plane: Arc<Plane>) {
    let scene = Scene::started(&plane).await;
    let (vats, text, number) = (scene.vats(), scene.key("text"), scene.key("number"));
    let invalid = [
        ("no-namespace", "{}"),
        ("Upper.Case", "{}"),
        (text.as_str(), "plain text"),
        (number.as_str(), r#"{"spec": {"text": 7}}"#),
    ];
    for (key, value) in invalid {
        vats.put_raw(key, value).await;
    }
    scene.put("one", "a").await;
    scene.has_children("one", "a").await;
    for (key, value) in invalid {
        assert_eq!(vats.get(key).await.map(|entry| entry.value), Some(value.as_bytes().to_vec()), "{key}");
    }
    for (key, _) in invalid {
        let warnings = log::lines_with(&["is invalid and is ignored", &format!("key=\"{key}\"")]);
        assert_eq!(warnings.len(), 1, "{key} is named once: {warnings:?}");
    }
    // A valid value makes it an object.
    scene.put("text", "b").await;
    scene.has_children("text", "b").await;
    scene.running.end_now().await;
}

async fn deleted_or_purged(plane: Arc<Plane>) {
    let scene = Scene::provisioned(&plane, "one").await;
    let vats = scene.vats();
    vats.delete_raw(&scene.key("one")).await;
    scene.has_no_children("one").await;
    scene.put("one", "b").await;
    scene.has_children("one", "b").await;
    vats.purge_raw(&scene.key("one")).await;
    scene.has_no_children("one").await;
    scene.running.end_now().await;
}

async fn foreign_object(plane: Arc<Plane>) {
    let scene = Scene::started(&plane).await;
    let mut config = ConfigMap { data: Some([("text".to_owned(), "mine".to_owned())].into()), ..ConfigMap::default() };
    config.metadata.name = Some("one".to_owned());
    scene.site.create(&config).await;
    scene.put("one", "a").await;
    let (vats, key) = (scene.vats(), scene.key("one"));
    let is_blocked = |vat: &Value| conditions(vat).any(|condition| condition["reason"] == "NotOwned");
    until_stored(&vats, &key, "is blocked", is_blocked).await;
    assert_eq!(text(&scene.site.api::<ConfigMap>().get("one").await.unwrap()), "mine");
    vats.delete_raw(&key).await;
    is_empty(&vats).await;
    assert_eq!(text(&scene.site.api::<ConfigMap>().get("one").await.unwrap()), "mine");
    scene.running.end_now().await;
}
