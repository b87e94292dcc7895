//! Random graphs of references, rings among them, deleted in random order.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, ResourceExt as _, api::ListParams};
use libtest_mimic::Trial;
use opgen::{
    prelude::*,
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{
    Form, Plane, case,
    wait::{self, PATIENCE},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::operator::{kinds::available, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("reference_random_graphs_with_rings_are_deleted_to_the_end_and_nothing_goes_early", graphs)]
}

/// Names others of its kind.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Knot", namespaced, status = "Status")]
struct KnotSpec {
    #[serde(default)]
    #[managed(reference = Knot)]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    names: BTreeSet<String>,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Knot)]
struct KnotTree {
    #[provisioner(resource)]
    content: ConfigMap,
}

impl KnotTree {
    fn content(_: &Knot) -> ConfigMap {
        ConfigMap::default()
    }
}

type Graph = BTreeMap<String, BTreeSet<String>>;

async fn graphs(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Knot, KnotTree>()).await;
    let seeds = if plane.form() == Form::Sandbox { 0..6 } else { 0..3 };
    for seed in seeds {
        graph(&site, seed).await;
    }
}

fn below(dice: &Seeded, end: usize) -> usize {
    usize::try_from(dice.bits() >> 33).unwrap_or_default() % end
}

/// Every object is made without references first, so that there is something to tear down.
async fn graph(site: &Site, seed: u64) {
    let dice = Seeded::new(seed);
    let all: Vec<String> = (0..2 + below(&dice, 7)).map(|number| format!("knot-{seed}-{number}")).collect();
    for name in &all {
        site.create(&Knot::new(name, KnotSpec::default())).await;
    }
    let stands = |knot: &Knot| available(knot.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Provisioned");
    until(site, &format!("seed {seed}: all stand"), |knots| {
        knots.iter().filter(|knot| stands(knot)).count() == all.len()
    })
    .await;
    let names = |from: &String| -> BTreeSet<String> {
        all.iter().filter(|name| *name != from && below(&dice, 3) == 0).cloned().collect()
    };
    let graph: Graph = all.iter().map(|from| (from.clone(), names(from))).collect();
    for (from, names) in &graph {
        site.patch::<Knot>(from, &json!({"spec": {"names": names}})).await;
    }
    until(site, &format!("seed {seed}: all are referenced"), |knots| {
        knots.iter().map(|knot| (knot.name_any(), referrers(knot))).collect::<Graph>() == turned(&graph)
    })
    .await;
    let mut left = all.clone();
    while !left.is_empty() {
        let name = left.swap_remove(below(&dice, left.len()));
        site.delete::<Knot>(&name).await;
        if below(&dice, 3) == 0 {
            site.settled().await;
        }
    }
    until(site, &format!("seed {seed}: all are gone"), |knots| knots.is_empty()).await;
    in_order(site, &graph).await;
}

/// Who names an object, by its finalizers.
fn referrers(knot: &Knot) -> BTreeSet<String> {
    let references = knot.finalizers().iter().filter(|held| held.contains("/reference_"));
    references.filter_map(|held| held.rsplit_once('_').map(|(_, name)| name.to_owned())).collect()
}

fn turned(graph: &Graph) -> Graph {
    let by =
        |name: &String| graph.iter().filter(|(_, names)| names.contains(name)).map(|(from, _)| from.clone()).collect();
    graph.keys().map(|name| (name.clone(), by(name))).collect()
}

async fn until(site: &Site, what: &str, is_so: impl Fn(&[Knot]) -> bool) {
    wait::until(what, PATIENCE, async || {
        let knots = site.api::<Knot>().list(&ListParams::default()).await.map_err(|error| error.to_string())?.items;
        let said = || knots.iter().map(|knot| format!("{}: {:?}", knot.name_any(), available(knot.status.as_ref())));
        if is_so(&knots) { Ok(()) } else { Err(said().collect::<Vec<_>>().join("\n")) }
    })
    .await;
}

/// Nothing was torn down while something that nobody had deleted named it, directly or through others.
async fn in_order(site: &Site, graph: &Graph) {
    // An answer may be under way while the operator has seen what it is about.
    let asked = site.plane.audit().await.namespace(&site.namespace).as_received();
    let deletions: Vec<_> = asked.verb("delete").code(200).iter().cloned().collect();
    let place = |resource: &str, name: &str| {
        let of = deletions.iter().position(|entry| entry.resource == resource && entry.name == name);
        of.unwrap_or_else(|| panic!("{resource} {name} was not deleted: {deletions:?}"))
    };
    for (name, needed_by) in graph.keys().map(|name| (name, needing(graph, name))) {
        let torn_down = place("configmaps", name);
        for holder in needed_by {
            let asked_for = place("knots", &holder);
            assert!(asked_for < torn_down, "{name} was torn down while {holder} was alive, which names it: {graph:?}");
        }
    }
}

fn needing(graph: &Graph, name: &str) -> BTreeSet<String> {
    let mut needing = BTreeSet::from([name.to_owned()]);
    loop {
        let names = |(from, names): &(&String, &BTreeSet<String>)| {
            !needing.contains(*from) && names.iter().any(|named| needing.contains(named))
        };
        let more: Vec<String> = graph.iter().filter(names).map(|(from, _)| from.clone()).collect();
        if more.is_empty() {
            return needing;
        }
        needing.extend(more);
    }
}
