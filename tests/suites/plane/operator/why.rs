//! Broken situations, and what `why` names as their cause.

use std::sync::Arc;

use k8s_openapi::api::{
    core::v1::{ConfigMap, ServiceAccount},
    rbac::v1::{Role, RoleBinding},
};
use kube::Client;
use libtest_mimic::Trial;
use opgen::{Operator, command::Why};
use opgen_tests::{Plane, case, wait};
use serde_json::json;

use super::{
    kinds::{Note, NoteSpec, NoteTree, available},
    probe::{Passes, Probe, ProbeSpec, operator as probes, probe},
    site::Site,
};
use crate::reference::kinds::{Desk, Net, desk, held_by, net, operator, says};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("why_names_what_an_object_waits_for", waits),
        case("why_names_who_holds_an_object_that_is_to_go", holds),
        case("why_names_an_object_with_a_long_name_that_references_the_object_in_deletion", holds_by_long_name),
        case("why_says_that_the_operator_has_done_nothing", idle),
        case("why_says_what_only_somebody_can_mend", parked),
    ]
}

/// What stands between an object and its end or its readiness, on a screen.
async fn why(site: &Site, operator: &Operator, kind: &str, name: &str) -> Why {
    let why = operator.why(site.plane.client(), kind, name, Some(&site.namespace)).await.unwrap();
    let text = why.to_string();
    assert!(text.lines().count() <= 24 && text.lines().all(|line| line.len() <= 240), "{text}");
    why
}

/// The ends of that, without the site's namespace.
pub(crate) async fn cause(site: &Site, operator: &Operator, kind: &str, name: &str) -> String {
    let why = why(site, operator, kind, name).await;
    let causes: Vec<_> = why.causes().iter().map(|cause| format!("{} {}", cause.object, cause.state)).collect();
    causes.join("\n").replace(&format!("{}/", site.namespace), "")
}

const HOLD: &str = "example.com/hold";

async fn waits(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = operator(&site);
    let _running = site.start(&operator).await;
    site.create(&desk("a", "blue")).await;
    says(&site, "a", "ReferenceMissing").await;
    assert_eq!(cause(&site, &operator, "desk", "a").await, "Net blue does not exist");

    net(&site, "blue", false).await;
    says(&site, "a", "ReferenceNotReady").await;
    let down = |net: &Net| available(net.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Down");
    wait::until_object(&site.api::<Net>(), "blue", "is down", down).await;
    let why = why(&site, &operator, "desk", "a").await;
    assert!(why.state.starts_with("is not ready: ReferenceNotReady: spec.net: "), "{why}");
    assert_eq!(cause(&site, &operator, "Desk", "a").await, "Net blue is not ready: Down: the net is down");

    site.patch::<Net>("blue", &json!({"spec": {"up": true}})).await;
    says(&site, "a", "Provisioned").await;
    assert_eq!(cause(&site, &operator, "desks", "a").await, "Desk a is ready");

    net(&site, "red", true).await;
    site.patch::<Net>("red", &json!({"metadata": {"finalizers": [HOLD]}})).await;
    site.delete::<Net>("red").await;
    site.create(&desk("b", "red")).await;
    says(&site, "b", "ReferenceDeleting").await;
    let held = format!("finalizer {HOLD} blocks the deletion; its own controller has to remove it, not this operator");
    assert_eq!(cause(&site, &operator, "desk", "b").await, held);
    site.patch::<Net>("red", &json!({"metadata": {"finalizers": null}})).await;
}

async fn holds(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = operator(&site);
    let running = site.start(&operator).await;
    net(&site, "blue", true).await;
    site.create(&desk("a", "blue")).await;
    says(&site, "a", "Provisioned").await;
    held_by(&site, "blue", &["a"]).await;
    site.delete::<Net>("blue").await;
    let referenced = |net: &Net| available(net.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Referenced");
    wait::until_object(&site.api::<Net>(), "blue", "says who holds it", referenced).await;
    let named = "Desk a references it in spec.net; delete that object or change its reference";
    assert_eq!(cause(&site, &operator, "net", "blue").await, named);

    // The one that names it goes, too, but what that is made of can't.
    site.patch::<ConfigMap>("a", &json!({"metadata": {"finalizers": [HOLD]}})).await;
    site.delete::<Desk>("a").await;
    let deleting = |config: &ConfigMap| config.metadata.deletion_timestamp.is_some();
    wait::until_object(&site.api::<ConfigMap>(), "a", "is to go", deleting).await;
    let held = format!("finalizer {HOLD} blocks the deletion; its own controller has to remove it, not this operator");
    assert_eq!(cause(&site, &operator, "desk", "a").await, held);
    let chain = why(&site, &operator, "net", "blue").await.to_string();
    assert!(chain.contains("└─ Desk ") && chain.contains("└─ ConfigMap "), "{chain}");
    assert_eq!(cause(&site, &operator, "net", "blue").await, held);

    // Somebody forces it out while no operator runs: the reference is stuck until one does.
    drop(running);
    site.patch::<Desk>("a", &json!({"metadata": {"finalizers": null}})).await;
    wait::until_gone(&site.api::<Desk>(), "a").await;
    let stuck = cause(&site, &operator, "net", "blue").await;
    assert!(stuck.starts_with("desks.reference.example.com a referenced it and is gone"), "{stuck}");
    site.patch::<ConfigMap>("a", &json!({"metadata": {"finalizers": null}})).await;
    let _running = site.run(&operator, opgen::RunOptions::default()).await;
    wait::until_gone(&site.api::<Net>(), "blue").await;
}

/// A client that may read everything in the namespace of the site, and nothing else.
async fn namespaced_reader(site: &Site) -> Client {
    let (api_version, name) = ("rbac.authorization.k8s.io/v1", "reader");
    let rule = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]});
    let role = json!({"apiVersion": api_version, "kind": "Role", "metadata": {"name": name}, "rules": [rule]});
    let binding = json!({"apiVersion": api_version, "kind": "RoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": site.namespace}]});
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
    site.create::<ServiceAccount>(&serde_json::from_value(account).unwrap()).await;
    site.create::<Role>(&serde_json::from_value(role).unwrap()).await;
    site.create::<RoleBinding>(&serde_json::from_value(binding).unwrap()).await;
    site.plane.service_account(&site.namespace, name).await.client()
}

/// The name is cut at its dash, which the shortened name omits.
async fn holds_by_long_name(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = operator(&site);
    let _running = site.start(&operator).await;
    let before_cut = 46 - "reference__-".len() - site.namespace.len();
    let name = format!("{}-{}", "d".repeat(before_cut), "e".repeat(25));
    net(&site, "blue", true).await;
    site.create(&desk(&name, "blue")).await;
    says(&site, &name, "Provisioned").await;
    site.delete::<Net>("blue").await;
    let referenced = |net: &Net| available(net.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Referenced");
    wait::until_object(&site.api::<Net>(), "blue", "says who references it", referenced).await;
    let expected = format!("Desk {name} references it in spec.net; delete that object or change its reference");
    assert_eq!(cause(&site, &operator, "net", "blue").await, expected);
    let reader = namespaced_reader(&site).await;
    let expected = "references it; the finalizer contains a shortened name, and you may not list all objects of the kind to find the whole name";
    wait::until("the reader has its role", wait::PATIENCE, async || {
        let why = operator.why(reader.clone(), "net", "blue", Some(&site.namespace)).await;
        let why = why.map_err(|error| error.to_string())?;
        let states: Vec<_> = why.causes().iter().map(|cause| cause.state.clone()).collect();
        if states == [expected] { Ok(()) } else { Err(format!("{states:?}")) }
    })
    .await;
    site.delete::<Desk>(&name).await;
    wait::until_gone(&site.api::<Net>(), "blue").await;
}

async fn idle(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = operator(&site);
    let running = site.start(&operator).await;
    net(&site, "blue", true).await;
    drop(running);
    site.create(&desk("a", "blue")).await;
    let idle = |what: &str| {
        format!("Desk a is not ready: the operator {what}; check that live is running and check its /readyz")
    };
    assert_eq!(cause(&site, &operator, "desk", "a").await, idle("has not reconciled it yet"));

    let running = site.run(&operator, opgen::RunOptions::default()).await;
    says(&site, "a", "Provisioned").await;
    drop(running);
    site.patch::<Desk>("a", &json!({"spec": {"net": "red"}})).await;
    assert_eq!(cause(&site, &operator, "desk", "a").await, idle("has not reconciled its latest spec yet"));
    site.delete::<Desk>("a").await;
    let held = cause(&site, &operator, "desk", "a").await;
    assert!(held.contains("ConfigMap a still exists"), "{held}");
    site.delete::<ConfigMap>("a").await;
    let held = cause(&site, &operator, "desk", "a").await;
    assert!(held.contains("the operator has not removed its finalizer yet"), "{held}");
}

async fn parked(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = probes(&site, &Passes::default(), |c| c.labels([("class", "a")])).controls::<Note, NoteTree>();
    let _running = site.start(&operator).await;
    probe(&site, "other", ProbeSpec::default()).await;
    let other = cause(&site, &operator, "probe", "other").await;
    assert!(other.starts_with("Probe other is not selected: the controller selects objects with class=a"), "{other}");
    let mut broken = Probe::new("broken", ProbeSpec { broken: true, ..ProbeSpec::default() });
    broken.metadata.labels = Some([("class".to_owned(), "a".to_owned())].into());
    site.create(&broken).await;
    let is_broken = |probe: &Probe| available(probe.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Broken");
    wait::until_object(&site.api::<Probe>(), "broken", "is broken", is_broken).await;
    assert_eq!(cause(&site, &operator, "probe", "broken").await, "Probe broken is not ready: Broken: mend it");

    site.create(&Note::new("quiet", NoteSpec { pause: true, text: String::new() })).await;
    let quiet = cause(&site, &operator, "note", "quiet").await;
    assert_eq!(quiet, "Note quiet is paused: the operator does not reconcile it");
    let refused = operator.why(site.plane.client(), "pod", "x", None).await.unwrap_err().to_string();
    assert_eq!(refused, "live does not control kind `pod`");
    let absent = operator.why(site.plane.client(), "note", "x", Some(&site.namespace)).await.unwrap_err().to_string();
    assert_eq!(absent, format!("Note {}/x not found", site.namespace));
}
