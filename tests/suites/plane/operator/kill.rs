//! The life of two hundred WebApps again, while the operator is killed and started anew, over and over.

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::{ConfigMap, Service},
};
use libtest_mimic::Trial;
use opgen_tests::{Options, Plane, case_on, long};
use serde_json::json;
use webapp_api::WebApp;

use super::{
    example::{Installed, WEBAPP},
    fleet::{self, Fleet},
    mortal::Mortal,
    owners::spec,
    tally::Tally,
};

const COUNT: usize = 200;

pub(crate) fn cases() -> Vec<Trial> {
    vec![long(case_on("twenty_kills_change_nothing_of_how_it_ends", Options::served(), killed))]
}

async fn killed(plane: Arc<Plane>) {
    let installed = Installed::new(WEBAPP, plane).await;
    let fleet = Fleet::new(&installed.plane, COUNT).await;
    let mut mortal = Mortal::born(&installed);
    let names = &fleet.names;

    fleet.create(names).await;
    mortal.dies(6, 120).await;
    fleet.available(COUNT).await;
    // Whoever was killed did not wait for its last answers, so these have no good code.
    let asked = mortal.asked().await;
    for kind in ["configmaps", "deployments", "services"] {
        Tally::of(&asked.resource(kind).code(201), names).is_within(&format!("{kind} made"), 0, 1);
    }

    fleet.patch::<WebApp>(names, &spec(json!({"greeting": "still here"}))).await;
    mortal.dies(3, 80).await;
    fleet.patch::<WebApp>(names, &spec(json!({"image": "example.com/web:2"}))).await;
    mortal.dies(3, 80).await;
    let (some, others) = names.split_at(COUNT / 4);
    fleet.delete::<ConfigMap>(some).await;
    fleet.delete::<Service>(some).await;
    fleet.delete::<Deployment>(others).await;
    mortal.dies(3, 80).await;
    fleet.greets(COUNT, "still here").await;
    fleet.services.until("are there", COUNT, |_| true).await;
    let runs = |deployment: &Deployment| fleet::image(deployment) == "example.com/web:2";
    fleet.deployments.until("run the new image", COUNT, runs).await;
    fleet.available(COUNT).await;
    has_at_most_two_templates(&fleet).await;

    fleet.delete::<WebApp>(names).await;
    mortal.dies(5, 120).await;
    fleet.gone().await;
    let asked = mortal.asked().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    mortal.program.stop().await;
}

/// A Deployment that was made twice, or whose template went to and fro, has ReplicaSets to spare.
async fn has_at_most_two_templates(fleet: &Fleet) {
    let sets = fleet.api::<ReplicaSet>().list(&Default::default()).await.unwrap().items;
    let of = |name: &String| {
        let prefix = format!("{name}-");
        sets.iter().filter(|set| set.metadata.name.as_ref().is_some_and(|name| name.starts_with(&prefix))).count()
    };
    let many: Vec<_> = fleet.names.iter().filter(|name| of(name) > 2).collect();
    assert!(many.is_empty(), "{many:?}");
}
