//! Tests which changes of a referenced object enqueue the objects that reference it, while it stays ready.

use std::sync::Arc;

use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{ConfigMap, Service},
};
use kube::{
    CustomResource, Resource, ResourceExt as _,
    api::{ObjectMeta, Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen::{For, prelude::*};
use opgen_tests::{Plane, case, wait::until_object};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::strangers::{Cable, cables};
use crate::operator::{
    install,
    kinds::available,
    probe::Passes,
    site::{Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("reference_a_changed_spec_of_a_ready_object_wakes_those_that_name_it", spec),
        case("reference_changed_content_of_an_object_without_generations_wakes_those_that_name_it", content),
        case("reference_a_status_or_a_finalizer_of_a_named_object_wakes_nobody", status_and_finalizer),
    ]
}

/// Names objects that are ready as soon as they are there: one with generations, and two without.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Meter", namespaced, status = "Status")]
struct MeterSpec {
    #[managed(reference = Cable)]
    cable: String,
    #[managed(reference = ConfigMap)]
    config: String,
    #[managed(reference = Service)]
    service: String,
}

type CountedMeter = For<Meter, Passes>;

/// Nothing but a count of the passes.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct Count;

impl Provision<CountedMeter> for Count {
    async fn provision(cx: &Context<'_, CountedMeter, Self>) -> Result<()> {
        cx.options().count(cx.object().name_any());
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, CountedMeter, Self>) -> Result<()> {
        Ok(())
    }
}

/// Two meters, each with objects of its name, on which one worker works in the order in which they were woken.
struct Scene {
    site: Site,
    passes: Passes,
    _running: Running,
}

impl Scene {
    /// Makes all, and waits until there are no more passes.
    async fn new(plane: &Arc<Plane>) -> Self {
        let (site, passes) = (Site::new(plane).await, Passes::default());
        install::apply_quietly(plane, &cables().to_string()).await;
        plane.until_established("cables.strangers.example.org").await;
        let counted = passes.clone();
        let meters = site.operator().controls_with::<CountedMeter, Count>(|c| c.options(counted).workers(1));
        let running = site.start(&meters).await;
        for name in ["blue", "red"] {
            site.create(&Cable::new(name, json!({"spec": {"length": 3}}))).await;
            let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
            let data = Some([("net".to_owned(), "one".to_owned())].into());
            site.create(&ConfigMap { metadata, data, ..ConfigMap::default() }).await;
            let service = json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}});
            site.create(&serde_json::from_value::<Service>(service).unwrap()).await;
            let [cable, config, service] = [(); 3].map(|()| name.to_owned());
            site.create(&Meter::new(name, MeterSpec { cable, config, service })).await;
        }
        for name in ["blue", "red"] {
            let ready = |meter: &Meter| available(meter.status.as_ref()).is_some_and(|(is, _, _)| is == "True");
            until_object(&site.api::<Meter>(), name, "is available", ready).await;
        }
        site.settled().await;
        passes.rest().await;
        Self { site, passes, _running: running }
    }

    /// Changes the object of a meter, and waits for the pass.
    async fn wakes<K>(&self, name: &str, patch: Value)
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + std::fmt::Debug + DeserializeOwned,
    {
        let before = self.passes.of(name);
        self.site.patch::<K>(name, &patch).await;
        self.passes.reach(name, before + 1).await;
    }
}

async fn spec(plane: Arc<Plane>) {
    let scene = Scene::new(&plane).await;
    scene.wakes::<Cable>("blue", json!({"spec": {"length": 4}})).await;
}

async fn content(plane: Arc<Plane>) {
    let scene = Scene::new(&plane).await;
    // Of these the operator watches the metadata.
    scene.wakes::<ConfigMap>("blue", json!({"data": {"net": "two"}})).await;
    scene.wakes::<ConfigMap>("blue", json!({"data": {"net": "three"}})).await;
    scene.wakes::<Service>("blue", json!({"spec": {"publishNotReadyAddresses": true}})).await;
    // The reference is the same, and so is what is held.
    let denied = scene.site.settled().await.denied();
    assert!(denied.is_empty(), "{denied}");
}

/// The events of a watch come in order: when the later one has brought its pass, the earlier one would have brought its own.
async fn status_and_finalizer(plane: Arc<Plane>) {
    let scene = Scene::new(&plane).await;
    let (site, before) = (&scene.site, scene.passes.of("blue"));
    let woken = |by: &str| assert_eq!(scene.passes.of("blue"), before, "{by} has brought a pass");
    let params = PatchParams::default();

    let status = Patch::Merge(json!({"status": {"seen": "yes"}}));
    site.api::<Cable>().patch_status("blue", &params, &status).await.unwrap();
    scene.wakes::<Cable>("red", json!({"spec": {"length": 4}})).await;
    woken("the status of an object with generations");

    let condition = json!({
        "type": "Checked", "status": "True", "reason": "Checked", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    let status = Patch::Merge(json!({"status": {"conditions": [condition]}}));
    site.api::<Service>().patch_status("blue", &params, &status).await.unwrap();
    scene.wakes::<Service>("red", json!({"spec": {"publishNotReadyAddresses": true}})).await;
    woken("the status of an object without generations");

    // Another operator begins to reference them, too.
    let finalizer = "lamps.other.example.com/reference_site_a";
    let add = json!([{"op": "add", "path": "/metadata/finalizers/-", "value": finalizer}]);
    let add = Patch::<()>::Json(serde_json::from_value(add).unwrap());
    let other = PatchParams { field_manager: Some("other".to_owned()), ..PatchParams::default() };
    site.api::<ConfigMap>().patch("blue", &other, &add).await.unwrap();
    scene.wakes::<ConfigMap>("red", json!({"data": {"net": "two"}})).await;
    woken("a finalizer of an object of which the metadata is watched");
    site.api::<Service>().patch("blue", &other, &add).await.unwrap();
    scene.wakes::<Service>("red", json!({"spec": {"publishNotReadyAddresses": false}})).await;
    woken("a finalizer of an object without generations");
}
