//! Objects that don't have the form of their kind, since the cluster's definition lets more pass than the type does.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, CustomResourceExt as _,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen::Backoff;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::{Value, json};

use crate::operator::{
    install,
    kinds::{self, Letter, LetterByHand, LetterSpec, LetterTree, available},
    log,
    site::Site,
};

const GOOD: usize = 100;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("an_object_that_does_not_decode_says_so_and_a_hundred_others_do_not_wait", does_not_decode),
        case("an_object_that_does_not_decode_and_needs_a_hand_is_let_go_once_it_can_be_read", needs_a_hand),
    ]
}

async fn does_not_decode(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    loose_definition(&plane).await;
    let operator = site.operator().controls::<Letter, LetterTree>();
    site.grant(&operator).await;
    let _running = site.run(&operator, Default::default()).await;
    write(&site, "bad", json!({"pages": "many"})).await;
    for number in 0..GOOD {
        site.create(&Letter::new(&format!("good-{number}"), LetterSpec { pages: 1 })).await;
    }
    for number in 0..GOOD {
        until_object(&site.api::<Letter>(), &format!("good-{number}"), "is available", is_available).await;
    }
    says_undecodable(&site, "bad").await;
    let place = format!("{}/bad", site.namespace);
    assert!(!log::lines_with(&["ERROR", &place, "Undecodable"]).is_empty(), "{place} is not in the log");

    // A good one that becomes bad keeps what it has, and goes with all of it.
    write(&site, "good-0", json!({"pages": ["a", "b"]})).await;
    says_undecodable(&site, "good-0").await;
    until_object(&site.api::<ConfigMap>(), "good-0", "is left alone", |config| kinds::text(config) == "1").await;
    for name in ["bad", "good-0"] {
        letters(&site).delete(name, &DeleteParams::default()).await.unwrap();
        until_gone(&letters(&site), name).await;
        until_gone(&site.api::<ConfigMap>(), name).await;
    }

    write(&site, "good-1", json!({"pages": false})).await;
    says_undecodable(&site, "good-1").await;
    write(&site, "good-1", json!({"pages": 2})).await;
    until_object(&site.api::<ConfigMap>(), "good-1", "follows", |config| kinds::text(config) == "2").await;
    until_object(&site.api::<Letter>(), "good-1", "is available again", is_available).await;
    assert!(site.asked().await.denied().is_empty());
}

async fn needs_a_hand(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    loose_definition(&plane).await;
    let soon = Backoff::Fixed(Duration::from_millis(300));
    let operator = site.operator().controls_with::<Letter, LetterByHand>(|controller| controller.backoff(soon));
    site.grant(&operator).await;
    let _running = site.run(&operator, Default::default()).await;
    site.create(&Letter::new("one", LetterSpec { pages: 1 })).await;
    until_object(&site.api::<Letter>(), "one", "is available", is_available).await;
    write(&site, "one", json!({"pages": "many"})).await;
    says_undecodable(&site, "one").await;
    letters(&site).delete("one", &DeleteParams::default()).await.unwrap();
    site.settled().await;
    says_undecodable(&site, "one").await;
    write(&site, "one", json!({"pages": 1})).await;
    until_gone(&letters(&site), "one").await;
}

/// Any spec is good enough for the server, and a status may have any fields.
pub(crate) async fn loose_definition(plane: &Plane) {
    let mut definition = serde_json::to_value(Letter::crd()).unwrap();
    let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["properties"]["spec"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    schema["properties"]["status"]["x-kubernetes-preserve-unknown-fields"] = true.into();
    install::apply_quietly(plane, &definition.to_string()).await;
    plane.until_established(Letter::crd_name()).await;
}

/// The letters of the site, of whatever form.
fn letters(site: &Site) -> Api<DynamicObject> {
    Api::namespaced_with(site.plane.client(), &site.namespace, &ApiResource::erase::<Letter>(&()))
}

/// Makes a letter with this spec, or gives it to the one that is there.
async fn write(site: &Site, name: &str, spec: Value) {
    let api = letters(site);
    if api.get_opt(name).await.unwrap().is_some() {
        api.patch(name, &PatchParams::default(), &Patch::Merge(json!({"spec": spec}))).await.unwrap();
        return;
    }
    let letter = DynamicObject::new(name, &ApiResource::erase::<Letter>(&())).data(json!({"spec": spec}));
    api.create(&PostParams::default(), &letter).await.unwrap();
}

async fn says_undecodable(site: &Site, name: &str) {
    let fits = |letter: &DynamicObject| {
        let status = &letter.data["status"];
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let said =
            |held: &Value| held["type"] == "Available" && held["status"] == "False" && held["reason"] == "Undecodable";
        conditions.iter().any(said) && status["observedGeneration"].as_i64() == letter.metadata.generation
    };
    until_object(&letters(site), name, "says that it does not decode", fits).await;
}

fn is_available(letter: &Letter) -> bool {
    let status = letter.status.as_ref();
    let observed = status.and_then(|status| status.observed_generation);
    available(status).is_some_and(|(truth, ..)| truth == "True") && observed == letter.metadata.generation
}
