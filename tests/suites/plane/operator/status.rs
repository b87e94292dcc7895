//! What a status write leaves alone, and what it removes: a status is written as a whole, and others write to it, too.

use std::sync::Arc;

use kube::{
    Api, ResourceExt as _,
    api::{ApiResource, DynamicObject, Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen_tests::{Plane, case, wait::until_object};
use serde_json::{Value, json};

use super::{
    kinds::{Letter, LetterSpec, LetterTree},
    site::{NAME, Site},
    tally::state_writes,
};
use crate::faults::loose_definition;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("status_a_settled_object_has_the_conditions_available_and_ready_only", settled),
        case("status_a_write_keeps_what_others_wrote_and_removes_what_an_earlier_release_wrote", shared),
        case("status_a_restart_removes_what_only_an_earlier_release_wrote_and_writes_nothing_else", given_up),
        case("status_a_change_by_another_controller_at_the_same_time_is_not_lost", contended),
    ]
}

async fn settled(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    site.create(&Letter::new("one", LetterSpec { pages: 1 })).await;
    let letter = until(&site, "is available", is_available).await;
    let types: Vec<_> = conditions(&letter).iter().map(|held| (held["type"].clone(), held["status"].clone())).collect();
    assert_eq!(types, [("Available".into(), "True".into()), ("Ready".into(), "True".into())]);
    let writes = site.settled().await.resource("letters").subresource("status").writes();
    assert!(writes.iter().all(|write| write.verb == "update"), "{writes}");
}

async fn shared(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let running = start(&site).await;
    site.create(&Letter::new("one", LetterSpec { pages: 1 })).await;
    until(&site, "is available", is_available).await;
    drop(running);

    let foreign = json!({
        "theirs": {"kept": 1},
        "conditions": [{
            "type": "Stamped", "status": "True", "reason": "Post", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }],
    });
    apply_status(&site, "post", &foreign).await;
    apply_status(&site, &format!("{NAME}/status"), &json!({"former": {"x": 1}, "both": 1})).await;
    apply_status(&site, "another", &json!({"both": 1})).await;

    let _running = start(&site).await;
    site.patch::<Letter>("one", &json!({"spec": {"pages": 2}})).await;
    let letter = until(&site, "is available at its second generation", |letter| {
        is_available(letter) && letter.data["status"]["observedGeneration"] == 2
    })
    .await;
    let status = &letter.data["status"];
    assert_eq!((&status["theirs"], &status["both"]), (&json!({"kept": 1}), &json!(1)), "{status}");
    assert_eq!(status["former"], Value::Null, "{status}");
    let types: Vec<_> = conditions(&letter).into_iter().map(|held| held["type"].clone()).collect();
    assert_eq!(types, ["Available", "Ready", "Stamped"], "{status}");
}

/// The second object has a field that another controller wrote; nothing is to be removed from it.
async fn given_up(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let mut running = start(&site).await;
    for name in ["one", "two"] {
        site.create(&Letter::new(name, LetterSpec { pages: 1 })).await;
        until_object(&letters(&site), name, "is available", is_available).await;
    }
    running.signal();
    running.end().await.unwrap();
    let list = json!([{"name": "a", "old": 1}]);
    apply_status(&site, &format!("{NAME}/status"), &json!({"former": {"x": 1}, "list": list})).await;
    apply_status_of("two", &site, "another", &json!({"theirs": {"x": 1}})).await;

    let before = site.settled().await;
    let mut running = start(&site).await;
    let is_clean = |letter: &DynamicObject| {
        let status = &letter.data["status"];
        status["former"].is_null() && status["list"].is_null() && is_available(letter)
    };
    until(&site, "has nothing of the earlier release", is_clean).await;
    let writes = state_writes(&site.settled().await.since(&before));
    let lines: Vec<_> = writes.iter().map(|write| (write.name.as_str(), write.verb.as_str())).collect();
    assert_eq!(lines, [("one", "update")], "{writes}");
    let two = letters(&site).get("two").await.unwrap();
    assert_eq!(two.data["status"]["theirs"], json!({"x": 1}));
    running.signal();
    running.end().await.unwrap();

    let before = site.settled().await;
    let _running = start(&site).await;
    let writes = state_writes(&site.settled().await.since(&before));
    assert!(writes.is_empty(), "{writes}");
}

/// Another controller counts in the status while the operator writes it for each of many changes.
async fn contended(plane: Arc<Plane>) {
    const ROUNDS: i64 = 20;
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    site.create(&Letter::new("one", LetterSpec { pages: 1 })).await;
    until(&site, "is available", is_available).await;
    for round in 2..=ROUNDS {
        site.patch::<Letter>("one", &json!({"spec": {"pages": round}})).await;
        let counted = json!({"status": {"counted": {format!("r{round}"): round}}});
        letters(&site).patch_status("one", &PatchParams::default(), &Patch::Merge(&counted)).await.unwrap();
    }
    let letter = until(&site, "has followed", |letter| {
        letter.data["status"]["observedGeneration"] == ROUNDS && is_available(letter)
    })
    .await;
    let counted = letter.data["status"]["counted"].as_object().map_or(0, |counted| counted.len());
    assert_eq!(counted as i64, ROUNDS - 1, "{}", letter.data["status"]);
}

async fn start(site: &Site) -> super::site::Running {
    loose_definition(&site.plane).await;
    let operator = site.operator().controls::<Letter, LetterTree>();
    site.grant(&operator).await;
    site.run(&operator, Default::default()).await
}

fn letters(site: &Site) -> Api<DynamicObject> {
    Api::namespaced_with(site.plane.client(), &site.namespace, &ApiResource::erase::<Letter>(&()))
}

async fn apply_status(site: &Site, manager: &str, status: &Value) {
    apply_status_of("one", site, manager, status).await;
}

async fn apply_status_of(name: &str, site: &Site, manager: &str, status: &Value) {
    let object = json!({"apiVersion": "live.example.com/v1", "kind": "Letter", "status": status});
    let params = PatchParams::apply(manager).force();
    letters(site).patch_status(name, &params, &Patch::Apply(object)).await.unwrap();
}

async fn until(site: &Site, what: &str, fits: impl Fn(&DynamicObject) -> bool) -> DynamicObject {
    until_object(&letters(site), "one", what, &fits).await;
    let letter = letters(site).get("one").await.unwrap();
    assert!(fits(&letter), "{} {what} and then not any more", letter.name_any());
    letter
}

fn conditions(letter: &DynamicObject) -> Vec<&Value> {
    letter.data["status"]["conditions"].as_array().into_iter().flatten().collect()
}

fn is_available(letter: &DynamicObject) -> bool {
    let generation = letter.metadata.generation;
    let is_current = letter.data["status"]["observedGeneration"].as_i64() == generation;
    is_current && conditions(letter).iter().any(|held| held["type"] == "Available" && held["status"] == "True")
}
