//! Tests random graphs of references between objects of two kinds, rings among them, which are deleted in random order.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, api::ListParams};
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

/// References objects of both kinds.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Knot", namespaced, status = "Status")]
struct KnotSpec {
    #[serde(default)]
    #[managed(reference = Knot)]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    knots: BTreeSet<String>,
    #[serde(default)]
    #[managed(reference = Bead)]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    beads: BTreeSet<String>,
}

/// References objects of both kinds, too.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Bead", namespaced, status = "Status")]
struct BeadSpec {
    #[serde(default)]
    #[managed(reference = Knot)]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    knots: BTreeSet<String>,
    #[serde(default)]
    #[managed(reference = Bead)]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    beads: BTreeSet<String>,
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

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Bead)]
struct BeadTree {
    #[provisioner(resource)]
    content: ConfigMap,
}

impl BeadTree {
    fn content(_: &Bead) -> ConfigMap {
        ConfigMap::default()
    }
}

fn is_knot(name: &str) -> bool {
    name.starts_with("knot")
}

/// The state of an object of either kind.
#[derive(Debug)]
struct Node {
    name: String,
    referrers: BTreeSet<String>,
    /// Truth, reason and message of its condition `Available`.
    available: Option<(String, String, String)>,
}

impl Node {
    fn new(object: &impl ResourceExt, status: Option<&Status>) -> Self {
        let texts = |(is, reason, message): (&str, &str, &str)| (is.to_owned(), reason.to_owned(), message.to_owned());
        Self { name: object.name_any(), referrers: referrers(object), available: available(status).map(texts) }
    }

    fn is_provisioned(&self) -> bool {
        self.available.as_ref().is_some_and(|(_, reason, _)| reason == "Provisioned")
    }
}

type Graph = BTreeMap<String, BTreeSet<String>>;

async fn graphs(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Knot, KnotTree>().controls::<Bead, BeadTree>()).await;
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
    let form = || if below(&dice, 2) == 0 { "knot" } else { "bead" };
    let all: Vec<String> = (0..2 + below(&dice, 7)).map(|number| format!("{}-{seed}-{number}", form())).collect();
    for name in &all {
        match is_knot(name) {
            true => drop(site.create(&Knot::new(name, KnotSpec::default())).await),
            false => drop(site.create(&Bead::new(name, BeadSpec::default())).await),
        }
    }
    until(site, &format!("seed {seed}: all are provisioned"), |nodes| {
        nodes.iter().filter(|node| node.is_provisioned()).count() == all.len()
    })
    .await;
    let names = |from: &String| -> BTreeSet<String> {
        all.iter().filter(|name| *name != from && below(&dice, 3) == 0).cloned().collect()
    };
    let graph: Graph = all.iter().map(|from| (from.clone(), names(from))).collect();
    for (from, names) in &graph {
        let (knots, beads): (Vec<_>, Vec<_>) = names.iter().partition(|name| is_knot(name));
        let spec = json!({"spec": {"knots": knots, "beads": beads}});
        match is_knot(from) {
            true => drop(site.patch::<Knot>(from, &spec).await),
            false => drop(site.patch::<Bead>(from, &spec).await),
        }
    }
    until(site, &format!("seed {seed}: all are referenced"), |nodes| {
        nodes.iter().map(|node| (node.name.clone(), node.referrers.clone())).collect::<Graph>() == turned(&graph)
    })
    .await;
    let mut left = all.clone();
    while !left.is_empty() {
        let name = left.swap_remove(below(&dice, left.len()));
        match is_knot(&name) {
            true => site.delete::<Knot>(&name).await,
            false => site.delete::<Bead>(&name).await,
        }
        if below(&dice, 3) == 0 {
            site.settled().await;
        }
    }
    until(site, &format!("seed {seed}: all are gone"), |nodes| nodes.is_empty()).await;
    in_order(site, &graph).await;
}

/// Who names an object, by its finalizers.
fn referrers(object: &impl ResourceExt) -> BTreeSet<String> {
    let references = object.finalizers().iter().filter(|held| held.contains("/reference_"));
    references.filter_map(|held| held.rsplit_once('_').map(|(_, name)| name.to_owned())).collect()
}

fn turned(graph: &Graph) -> Graph {
    let by =
        |name: &String| graph.iter().filter(|(_, names)| names.contains(name)).map(|(from, _)| from.clone()).collect();
    graph.keys().map(|name| (name.clone(), by(name))).collect()
}

async fn until(site: &Site, what: &str, is_so: impl Fn(&[Node]) -> bool) {
    wait::until(what, PATIENCE, async || {
        let nodes = nodes(site).await.map_err(|error| error.to_string())?;
        if is_so(&nodes) { Ok(()) } else { Err(format!("{nodes:#?}")) }
    })
    .await;
}

/// Returns all objects of both kinds.
async fn nodes(site: &Site) -> kube::Result<Vec<Node>> {
    let all = ListParams::default();
    let (knots, beads) = (site.api::<Knot>().list(&all).await?, site.api::<Bead>().list(&all).await?);
    let knots = knots.iter().map(|knot| Node::new(knot, knot.status.as_ref()));
    Ok(knots.chain(beads.iter().map(|bead| Node::new(bead, bead.status.as_ref()))).collect())
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
            let asked_for = place(if is_knot(&holder) { "knots" } else { "beads" }, &holder);
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
