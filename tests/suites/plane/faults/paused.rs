//! Tests a kind of the user's own whose code panics when it tells whether an object is paused.

use std::sync::Arc;

use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::api::ObjectMeta;
use libtest_mimic::Trial;
use opgen::{Kind, Typed, counters::Closure, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use crate::operator::{log, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("a_panic_of_paused_on_an_object_that_is_not_selected_any_more_does_not_keep_its_children", is_torn_down)]
}

/// A ConfigMap as a primary, with an implementation of `Managed` that no derive has written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Settings(ConfigMap);

impl Managed for Settings {
    type Spec = ConfigMap;
    type Status = ();
    type Subject = ConfigMap;
    const FINALIZER: Option<&'static str> = None;
    const DEFINITION: Option<fn() -> CustomResourceDefinition> = None;

    fn kind() -> Kind {
        ConfigMap::names()
    }

    fn metadata(&self) -> &ObjectMeta {
        &self.0.metadata
    }

    fn spec(&self) -> &ConfigMap {
        &self.0
    }

    fn status(&self) -> Option<&()> {
        None
    }

    fn paused(&self) -> bool {
        let is_mad = self.0.data.as_ref().is_some_and(|data| data.contains_key("mad"));
        assert!(!is_mad, "the object is mad");
        false
    }

    fn subject(&self) -> &ConfigMap {
        &self.0
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Settings)]
struct SettingsTree {
    #[provisioner(resource)]
    secret: Secret,
}

impl SettingsTree {
    fn secret(_: &ConfigMap) -> Secret {
        Secret::default()
    }
}

fn config(name: &str, labels: serde_json::Value) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}})).unwrap()
}

async fn is_torn_down(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator =
        site.operator().controls_with::<Settings, SettingsTree>(|settings| settings.labels([("class", "a")]));
    let _running = site.start(&operator).await;
    let other = site.create(&config("other", json!({}))).await;
    site.create(&config("one", json!({"class": "a"}))).await;
    let secrets = site.api::<Secret>();
    until_object(&secrets, "one", "is there", |_| true).await;

    // A child of an object of its own kind is no primary.
    let owner = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": other.metadata.uid, "controller": true,
    });
    let patch = json!({"metadata": {"ownerReferences": [owner]}, "data": {"mad": "yes"}});
    site.patch::<ConfigMap>("one", &patch).await;
    until_gone(&secrets, "one").await;
    let is_free = |config: &ConfigMap| config.finalizers().is_empty();
    until_object(&site.api::<ConfigMap>(), "one", "has no finalizer", is_free).await;
    assert!(operator.counters().panics(Closure::Object) > 0);
    let place = format!("{}/one", site.namespace);
    assert!(!log::lines_with(&["ERROR", &place, "panicked: the object is mad"]).is_empty());
}
