//! Chains of five kinds, each of which names the one below, made and deleted in any order.

mod kinds;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use libtest_mimic::Trial;
use opgen::{
    RunOptions,
    controller::RECONCILE_ANNOTATION,
    prelude::*,
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{Form, Plane, audit::Entry, case, wait};
use serde_json::{Value, json};

use crate::operator::{
    site::{Running, Site},
    tally::state_writes,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("reference_chains_of_five_kinds_go_in_order_whatever_the_order_of_deletion", chains)]
}

/// From the ground up, with their plurals.
const KINDS: [(&str, &str); 5] =
    [("Land", "lands"), ("House", "houses"), ("Storey", "storeys"), ("Room", "rooms"), ("Chair", "chairs")];

/// How many of each kind: fewer where every call takes its time.
fn each(plane: &Plane) -> usize {
    if plane.form() == Form::Sandbox { 100 } else { 40 }
}

/// For hundreds of objects, on a machine that does other things.
const PATIENCE: Duration = Duration::from_secs(300);

/// An object, and the one that it names.
struct Link {
    level: usize,
    name: String,
    on: Option<String>,
}

impl Link {
    fn to_value(&self) -> Value {
        let (kind, on) = (KINDS[self.level].0, self.on.clone().unwrap_or_default());
        json!({
            "apiVersion": "chain.example.com/v1", "kind": kind, "metadata": {"name": self.name}, "spec": {"on": on},
        })
    }
}

/// Each object stands on one by chance, so that some carry several and some none.
fn links(dice: &Seeded, each: usize) -> Vec<Link> {
    let name = |level: usize, number: usize| format!("{}-{number}", KINDS[level].0.to_lowercase());
    let link = |at: usize| {
        let level = at / each;
        let on = (level > 0).then(|| name(level - 1, below(dice, each)));
        Link { level, name: name(level, at % each), on }
    };
    (0..KINDS.len() * each).map(link).collect()
}

fn below(dice: &Seeded, end: usize) -> usize {
    usize::try_from(dice.bits() >> 33).unwrap_or_default() % end
}

fn shuffled<'l>(links: &'l [Link], dice: &Seeded) -> Vec<&'l Link> {
    let mut all: Vec<_> = links.iter().collect();
    for end in (1..all.len()).rev() {
        all.swap(end, below(dice, end + 1));
    }
    all
}

fn api(site: &Site, level: usize) -> Api<DynamicObject> {
    let (kind, plural) = KINDS[level];
    let kind = GroupVersionKind::gvk("chain.example.com", "v1", kind);
    Api::namespaced_with(site.plane.client(), &site.namespace, &ApiResource::from_gvk_with_plural(&kind, plural))
}

async fn objects(site: &Site) -> Result<Vec<DynamicObject>, String> {
    let mut all = Vec::new();
    for level in 0..KINDS.len() {
        let list = api(site, level).list(&ListParams::default()).await;
        all.extend(list.map_err(|error| error.to_string())?.items);
    }
    Ok(all)
}

fn is_available(object: &DynamicObject) -> bool {
    let conditions = object.data["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|held| held["type"] == "Available" && held["status"] == "True")
}

/// The references on each object, by its name.
fn references(objects: &[DynamicObject]) -> BTreeMap<String, Vec<String>> {
    let of_one = |object: &DynamicObject| {
        let finalizers = object.metadata.finalizers.iter().flatten();
        let mut held: Vec<_> = finalizers.filter(|held| held.contains("/reference_")).cloned().collect();
        held.sort();
        (object.metadata.name.clone().unwrap_or_default(), held)
    };
    objects.iter().map(of_one).collect()
}

fn wanted_references(site: &Site, links: &[Link]) -> BTreeMap<String, Vec<String>> {
    let mut wanted: BTreeMap<_, Vec<_>> = links.iter().map(|link| (link.name.clone(), Vec::new())).collect();
    for link in links {
        let reference = || {
            let plural = KINDS[link.level].1;
            format!("{plural}.chain.example.com/reference_{}_{}", site.namespace, link.name)
        };
        if let Some(held) = link.on.as_ref().and_then(|on| wanted.get_mut(on)) {
            held.push(reference());
        }
    }
    wanted.values_mut().for_each(|held| held.sort());
    wanted
}

async fn chains(plane: Arc<Plane>) {
    let (site, dice) = (Site::new(&plane).await, Seeded::new(5));
    let operator = kinds::controlled_by(site.operator());
    let running = site.start(&operator).await;
    let links = links(&dice, each(&plane));
    for link in shuffled(&links, &dice) {
        let object = serde_json::from_value(link.to_value()).unwrap();
        api(&site, link.level).create(&PostParams::default(), &object).await.unwrap();
    }
    wait::until("all stand", PATIENCE, async || {
        let objects = objects(&site).await?;
        match objects.iter().filter(|object| is_available(object)).count() {
            available if available == links.len() => Ok(()),
            available => Err(format!("{available} of {} stand", links.len())),
        }
    })
    .await;
    assert_eq!(references(&objects(&site).await.unwrap()), wanted_references(&site, &links));
    let running = rests(&site, &operator, running, &links).await;
    goes_in_order(&site, &links, &dice).await;
    drop(running);
}

fn is_link(entry: &Entry) -> bool {
    entry.subresource.is_empty() && KINDS.iter().any(|(_, plural)| entry.resource == *plural)
}

/// A pass over each object writes nothing, nor does a restart.
async fn rests(site: &Site, operator: &Operator, running: Running, links: &[Link]) -> Running {
    let before = site.settled().await;
    for link in links {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {RECONCILE_ANNOTATION: "now"}}}));
        api(site, link.level).patch(&link.name, &PatchParams::default(), &patch).await.unwrap();
    }
    let after = site.settled().await;
    assert!(state_writes(&after.since(&before)).is_empty(), "{}", state_writes(&after.since(&before)));
    drop(running);
    let running = site.run(operator, RunOptions::default()).await;
    let since = site.settled().await.since(&after);
    assert!(!since.is_empty(), "it has not begun");
    assert!(state_writes(&since).is_empty(), "{}", state_writes(&since));
    running
}

/// What was made of an object is removed before what was made of the one that it names.
async fn goes_in_order(site: &Site, links: &[Link], dice: &Seeded) {
    for link in shuffled(links, dice) {
        api(site, link.level).delete(&link.name, &DeleteParams::default()).await.unwrap();
    }
    wait::until("all are gone", PATIENCE, async || match objects(site).await?.len() {
        0 => Ok(()),
        left => Err(format!("{left} are left")),
    })
    .await;
    let asked = site.settled().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    // A patch of finalizers whose place in the list has moved is a conflict.
    let refused = asked.code(422).with(|entry| entry.verb != "patch" || !is_link(entry));
    assert!(refused.is_empty(), "{refused}");
    let deletions = asked.verb("delete").resource("configmaps").code(200);
    let removed: BTreeMap<&str, usize> =
        deletions.iter().enumerate().map(|(at, entry)| (entry.name.as_str(), at)).collect();
    assert_eq!(removed.len(), links.len(), "each is removed once");
    for link in links {
        if let Some(on) = &link.on {
            assert!(
                removed[link.name.as_str()] < removed[on.as_str()],
                "{} went after {on}, which it names",
                link.name
            );
        }
    }
}
