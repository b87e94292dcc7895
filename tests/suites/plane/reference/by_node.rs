//! What a node names, where no field of the spec can.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::{
    Api, CustomResource, ResourceExt as _,
    api::{ObjectMeta, Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen::{Operator, RunOptions, controller::RECONCILE_ANNOTATION, prelude::*, reference::ALLOW_FROM};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::kinds::{Net, NetSpec, NetTree, is_held_by, net};
use crate::operator::{
    install,
    kinds::available,
    site::{Running, Site},
    tally::state_writes,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("reference_ref6_a_node_references_each_once_though_one_is_missing_and_is_woken_by_it", several),
        case("reference_ref8_what_a_node_does_not_add_again_is_let_go", moves),
        case("reference_ref9_a_node_lets_go_of_what_it_selects_and_of_nothing_else", selects),
        case("reference_of_a_node_to_another_namespace_needs_the_annotation_and_ends_with_it", allowed),
        case("reference_ref7_a_node_lets_go_of_what_is_not_there_and_keeps_what_the_spec_names", removes),
        case("reference_ref13_a_node_does_not_reference_what_is_being_deleted", deleting),
        case("reference_ref15_references_of_nodes_of_an_object_that_vanished_are_released", vanished),
    ]
}

/// Nets on loan, as its node takes them.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Loan", namespaced, status = "Status")]
struct LoanSpec {
    /// Held as long as the spec says so.
    #[serde(default)]
    #[managed(reference = Net)]
    pledge: String,
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    take: Vec<String>,
    /// Taken from another namespace.
    #[serde(default)]
    far: BTreeMap<String, String>,
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    remove: Vec<String>,
    #[serde(default)]
    #[schemars(schema_with = "opgen::reference::label_selector")]
    clear: Option<LabelSelector>,
}

#[derive(Debug, Provisioner)]
#[provisioner(access(Net: reference))]
struct Take;

impl Provision<Loan> for Take {
    async fn provision(cx: &Context<'_, Loan, Self>) -> Result<()> {
        let (spec, nets) = (&cx.object().spec, cx.references::<Net>());
        let taken = nets.add_all(&spec.take).await;
        for (namespace, name) in &spec.far {
            cx.in_namespace(namespace).references::<Net>().add(name).await?;
        }
        for name in &spec.remove {
            nets.remove(name).await?;
        }
        if let Some(labels) = &spec.clear {
            cx.references::<Net>().labelled(labels.clone()).clear().await?;
        }
        taken?;
        nets.all_ready(&spec.take)
    }

    async fn deprovision(cx: &Teardown<'_, Loan, Self>) -> Result<()> {
        if cx.object().spec.clear.is_some() { cx.references::<Net>().clear().await } else { Ok(()) }
    }
}

async fn start(site: &Site) -> Running {
    site.start(&operator(site)).await
}

fn operator(site: &Site) -> Operator {
    site.operator().controls::<Loan, Take>().controls::<Net, NetTree>()
}

fn loan(take: &[&str]) -> Loan {
    let take = take.iter().map(|name| (*name).to_owned()).collect();
    Loan::new("loan", LoanSpec { take, ..LoanSpec::default() })
}

async fn says(site: &Site, reason: &str) -> String {
    let fits = |loan: &Loan| {
        let observed = loan.status.as_ref().and_then(|status| status.observed_generation);
        observed == loan.metadata.generation
            && available(loan.status.as_ref()).is_some_and(|(_, said, _)| said == reason)
    };
    let loan = until_object(&site.api::<Loan>(), "loan", &format!("says {reason}"), fits).await;
    available(loan.status.as_ref()).map(|(_, _, sentence)| sentence.to_owned()).unwrap_or_default()
}

fn reference(site: &Site) -> String {
    format!("loans.reference.example.com/reference_{}_loan", site.namespace)
}

/// Waits until the loan holds just these of the nets.
async fn holds(site: &Site, held: &[&str], free: &[&str]) {
    for name in held {
        is_held_by(site, name, &[&reference(site)]).await;
    }
    for name in free {
        is_held_by(site, name, &[]).await;
    }
}

async fn several(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    for name in ["one", "three"] {
        net(&site, name, true).await;
    }
    site.create(&loan(&["one", "two", "one", "three"])).await;
    let sentence = says(&site, "ReferenceMissing").await;
    assert_eq!(sentence, format!("Net {}/two not found", site.namespace));
    holds(&site, &["one", "three"], &[]).await;
    let woken = tokio::time::Instant::now();
    net(&site, "two", false).await;
    let sentence = says(&site, "ReferenceNotReady").await;
    assert!(sentence.starts_with(&format!("Net {}/two: ", site.namespace)), "{sentence}");
    site.patch::<Net>("two", &json!({"spec": {"up": true}})).await;
    says(&site, "Provisioned").await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
    holds(&site, &["one", "two", "three"], &[]).await;

    let before = site.settled().await;
    site.patch::<Loan>("loan", &json!({"metadata": {"annotations": {RECONCILE_ANNOTATION: "now"}}})).await;
    let since = state_writes(&site.settled().await.since(&before));
    assert!(since.is_empty(), "{since}");
    let asked = site.settled().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    let read = asked.resource("nets").verb("get");
    assert!(read.is_empty(), "the watch knows them: {read}");
}

async fn moves(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    for name in ["one", "two"] {
        net(&site, name, true).await;
    }
    site.create(&loan(&["one"])).await;
    says(&site, "Provisioned").await;
    holds(&site, &["one"], &["two"]).await;
    site.patch::<Loan>("loan", &json!({"spec": {"take": ["two"]}})).await;
    holds(&site, &["two"], &["one"]).await;
    site.delete::<Net>("two").await;
    let waits = |net: &Net| available(net.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Referenced");
    until_object(&site.api::<Net>(), "two", "waits for the loan", waits).await;
    let woken = tokio::time::Instant::now();
    site.delete::<Loan>("loan").await;
    until_gone(&site.api::<Loan>(), "loan").await;
    until_gone(&site.api::<Net>(), "two").await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
}

/// Of the objects of all namespaces, those of one case.
const OURS: [(&str, &str); 1] = [("case", "selects")];

async fn selects(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let elsewhere = plane.namespace("elsewhere").await;
    // For all namespaces, since one of the nets is in another.
    let all = Site::new(&plane).await;
    let both = Operator::new("both").namespace(&all.namespace);
    let both = both.controls_with::<Loan, Take>(|c| c.labels(OURS)).controls_with::<Net, NetTree>(|c| c.labels(OURS));
    install::definitions(&plane, &both).await;
    let _running = Site::run_with(&both, plane.client(), RunOptions::default());
    for (name, tier) in [("front", "front"), ("back", "back")] {
        site.create(&labelled(name, tier)).await;
    }
    let far = Api::<Net>::namespaced(plane.client(), &elsewhere);
    let mut net = labelled("far", "front");
    net.annotations_mut().insert(ALLOW_FROM.to_owned(), site.namespace.clone());
    far.create(&PostParams::default(), &net).await.unwrap();
    let mut meant = loan(&["front", "back"]);
    label(&mut meant.metadata, &OURS);
    meant.spec.far = [(elsewhere, "far".to_owned())].into();
    site.create(&meant).await;
    says(&site, "Provisioned").await;
    holds(&site, &["front", "back"], &[]).await;
    let is_held = |net: &Net| net.finalizers().contains(&reference(&site));
    until_object(&far, "far", "is held", is_held).await;

    site.patch::<Loan>("loan", &json!({"spec": {"clear": {"matchLabels": {"tier": "front"}}}})).await;
    holds(&site, &["back"], &["front"]).await;
    assert!(is_held(&far.get("far").await.unwrap()), "another namespace is none of its business");
    site.delete::<Loan>("loan").await;
    until_gone(&site.api::<Loan>(), "loan").await;
    until_object(&far, "far", "is free", |net| !is_held(net)).await;
    holds(&site, &[], &["front", "back"]).await;
}

/// The node names an object of a namespace of which it knows nothing but the name.
async fn allowed(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let elsewhere = plane.namespace("elsewhere").await;
    let all = Site::new(&plane).await;
    let ours = [("case", site.namespace.as_str())];
    let both = Operator::new("both").namespace(&all.namespace);
    let both = both.controls_with::<Loan, Take>(|c| c.labels(ours)).controls_with::<Net, NetTree>(|c| c.labels(ours));
    install::definitions(&plane, &both).await;
    let _running = Site::run_with(&both, plane.client(), RunOptions::default());
    let far = Api::<Net>::namespaced(plane.client(), &elsewhere);
    let mut net = Net::new("far", NetSpec { up: true });
    label(&mut net.metadata, &ours);
    far.create(&PostParams::default(), &net).await.unwrap();
    let mut meant = loan(&[]);
    label(&mut meant.metadata, &ours);
    meant.spec.far = [(elsewhere.clone(), "far".to_owned())].into();
    site.create(&meant).await;
    let here = &site.namespace;
    let expected = format!(
        "Net {elsewhere}/far can't be referenced from namespace {here}; its owner can allow it with the annotation {ALLOW_FROM}"
    );
    assert_eq!(says(&site, "ReferenceNotAllowed").await, expected);
    let allow = async |from: Option<&str>| {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {ALLOW_FROM: from}}}));
        far.patch("far", &PatchParams::default(), &patch).await.unwrap();
    };
    let is_held = |net: &Net| net.finalizers().contains(&reference(&site));
    assert!(!is_held(&far.get("far").await.unwrap()));
    let woken = tokio::time::Instant::now();
    allow(Some(here)).await;
    says(&site, "Provisioned").await;
    until_object(&far, "far", "is held", is_held).await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
    allow(None).await;
    says(&site, "ReferenceNotAllowed").await;
    until_object(&far, "far", "is free", |net| !is_held(net)).await;
    site.delete::<Loan>("loan").await;
    until_gone(&site.api::<Loan>(), "loan").await;
}

fn labelled(name: &str, tier: &str) -> Net {
    let mut net = Net::new(name, NetSpec { up: true });
    label(&mut net.metadata, &[OURS[0], ("tier", tier)]);
    net
}

fn label(metadata: &mut ObjectMeta, labels: &[(&str, &str)]) {
    metadata.labels = Some(labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect());
}

async fn removes(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    for name in ["one", "pledge"] {
        net(&site, name, true).await;
    }
    let mut meant = loan(&["one"]);
    meant.spec.pledge = "pledge".to_owned();
    meant.spec.remove = ["ghost", "one", "pledge"].map(str::to_owned).into();
    site.create(&meant).await;
    says(&site, "Provisioned").await;
    holds(&site, &["pledge"], &["one"]).await;
    // On the way down, too, what the spec names is left to the loop.
    site.patch::<Loan>("loan", &json!({"spec": {"remove": [], "clear": {}}})).await;
    site.delete::<Loan>("loan").await;
    until_gone(&site.api::<Loan>(), "loan").await;
    holds(&site, &[], &["one", "pledge"]).await;
    let refused = site.settled().await.with(|entry| entry.code == 404 || entry.code == 422);
    let refused = refused.resource("nets");
    assert!(refused.is_empty(), "{refused}");
}

async fn deleting(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    let mut ending = Net::new("ending", NetSpec { up: true });
    ending.metadata.finalizers = Some(vec!["example.com/hold".to_owned()]);
    site.create(&ending).await;
    site.delete::<Net>("ending").await;
    site.create(&loan(&["ending"])).await;
    let sentence = says(&site, "ReferenceDeleting").await;
    assert_eq!(sentence, format!("Net {}/ending is being deleted", site.namespace));
    site.patch::<Net>("ending", &json!({"metadata": {"finalizers": null}})).await;
    says(&site, "ReferenceMissing").await;
    let refused = site.settled().await.code(422);
    assert!(refused.is_empty(), "{refused}");
}

async fn vanished(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let running = start(&site).await;
    net(&site, "one", true).await;
    site.create(&loan(&["one"])).await;
    says(&site, "Provisioned").await;
    drop(running);
    site.delete::<Loan>("loan").await;
    site.patch::<Loan>("loan", &json!({"metadata": {"finalizers": null}})).await;
    until_gone(&site.api::<Loan>(), "loan").await;
    let _running = site.run(&operator(&site), RunOptions::default()).await;
    holds(&site, &[], &["one"]).await;
}
