//! The life of twenty shops again, while the operator is killed and started anew, over and over.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::apps::v1::{ControllerRevision, ReplicaSet};
use libtest_mimic::Trial;
use opgen_tests::{
    Entries, Options, Plane, case_on, long,
    wait::{self, PATIENCE},
};
use serde_json::json;
use shop_api::Shop;

use super::shops::{Shops, schedule};
use crate::operator::{
    example::{Installed, SHOP},
    mortal::Mortal,
};

const COUNT: usize = 20;

pub(crate) fn cases() -> Vec<Trial> {
    vec![long(case_on("fifty_kills_change_nothing_of_how_the_shops_end", Options::served(), killed))]
}

async fn killed(plane: Arc<Plane>) {
    let installed = Installed::new(SHOP, plane).await;
    let shops = Shops::new(&installed.plane, COUNT).await;
    let mut mortal = Mortal::born(&installed);

    shops.create(&shops.names).await;
    mortal.dies(15, 60).await;
    let parts = shops.complete().await;
    nothing_was_made_twice(&mortal.asked().await);
    let passwords = shops.passwords().await;
    passwords.are_good(COUNT);

    for round in 0..15 {
        let (currency, replicas) = (["CHF", "SEK", "EUR"][round % 3], 1 + round % 2);
        let host = (round % 4 == 1).then_some("all.example.com");
        let schedules = [schedule("backup"), schedule(&format!("round-{round}"))];
        let backend = json!({"settings": {"currency": currency}, "replicas": replicas});
        shops.change(json!({"backend": backend, "host": host, "schedules": schedules})).await;
        mortal.dies(1, 60).await;
    }
    shops.complete().await;
    for kind in ["PriorityClass", "Service", "StatefulSet", "RoleBinding", "ConfigMap"] {
        for part in parts.keys().filter(|part| part.kind == kind) {
            shops.parts.delete(part).await;
        }
        mortal.dies(1, 60).await;
    }
    shops.complete().await;
    shops.passwords().await.are(&passwords, &[]);
    each_template_was_made_once(&shops).await;

    shops.delete::<Shop>(&shops.names).await;
    mortal.dies(15, 60).await;
    shops.gone().await;
    let asked = mortal.asked().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    mortal.program.stop().await;
}

/// Whoever was killed did not wait for its last answers, so these have no good code.
fn nothing_was_made_twice(asked: &Entries) {
    let mut made: BTreeMap<_, usize> = BTreeMap::new();
    for entry in asked.code(201).with(|entry| entry.resource != "events").iter() {
        *made.entry((entry.resource.clone(), entry.name.clone())).or_default() += 1;
    }
    let twice: Vec<_> = made.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "made more than once: {twice:?}");
}

/// A Deployment that was made twice, or whose template went to and fro, has ReplicaSets to spare.
async fn each_template_was_made_once(shops: &Shops) {
    // What belonged to the StatefulSets that were deleted is collected by and by.
    wait::until("no template is there twice", PATIENCE, async || {
        let (sets, revisions) = (shops.names_of::<ReplicaSet>().await?, shops.names_of::<ControllerRevision>().await?);
        let of = |name: &str, all: &[String]| all.iter().filter(|one| one.contains(name)).count();
        // One for each of the settings, and one for a database that never changed.
        let fits = |name: &&String| of(name, &sets) <= 3 && of(name, &revisions) == 1;
        match shops.names.iter().find(|name| !fits(name)) {
            Some(name) => Err(format!("{name}: {sets:?} {revisions:?}")),
            None => Ok(()),
        }
    })
    .await;
}
