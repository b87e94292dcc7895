//! What is named is referenced before it is used, and waited for.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{ResourceExt as _, api::ObjectMeta};
use libtest_mimic::Trial;
use opgen::NamespacedName;
use opgen_tests::{Plane, case, wait::until_gone};
use serde_json::json;

use super::kinds::{Desk, DeskSpec, Net, desk, from, held_by, net, references, says, start};
use crate::operator::{site::Site, tally::state_writes};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("reference_ref11_a_named_object_is_waited_for_by_name_and_wakes_those_that_name_it", gate),
        case("reference_ref6_of_several_each_is_referenced_though_one_is_missing", several),
        case("reference_ref13_an_object_that_is_deleted_is_not_referenced_any_more", deleting),
        case("reference_ref12_objects_of_the_core_group_and_long_names_are_referenced", core_and_long),
        case("reference_writes_of_many_workers_to_one_object_do_not_refuse_each_other", one_after_the_other),
        case("reference_releases_of_many_workers_from_an_object_that_is_to_go_each_see_the_one_before", all_at_once),
        case("reference_ref5_nothing_is_written_while_nothing_changes_and_a_taken_reference_is_given_again", rest),
    ]
}

async fn gate(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    site.create(&desk("a", "blue")).await;
    let sentence = says(&site, "a", "ReferenceMissing").await;
    assert_eq!(sentence, format!("spec.net: Net {}/blue not found", site.namespace));

    net(&site, "blue", false).await;
    let sentence = says(&site, "a", "ReferenceNotReady").await;
    assert!(sentence.starts_with(&format!("spec.net: Net {}/blue: ", site.namespace)), "{sentence}");
    assert_eq!(references::<Net>(&site, "blue").await, [from(&site, "a")]);
    assert!(site.api::<ConfigMap>().get_opt("a").await.unwrap().is_none(), "the tree has not waited");

    let woken = tokio::time::Instant::now();
    site.patch::<Net>("blue", &json!({"spec": {"up": true}})).await;
    says(&site, "a", "Provisioned").await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
}

async fn several(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    for name in ["one", "three"] {
        net(&site, name, true).await;
    }
    let other = |name: &str| NamespacedName { name: name.into(), namespace: None };
    let spec = DeskSpec { net: "one".into(), others: ["two", "three"].map(other).into(), ..DeskSpec::default() };
    site.create(&Desk::new("a", spec)).await;
    let sentence = says(&site, "a", "ReferenceMissing").await;
    assert_eq!(sentence, format!("spec.others: Net {}/two not found", site.namespace));
    for name in ["one", "three"] {
        held_by(&site, name, &["a"]).await;
    }
    net(&site, "two", true).await;
    says(&site, "a", "Provisioned").await;
    held_by(&site, "two", &["a"]).await;
}

async fn deleting(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    net(&site, "blue", true).await;
    site.patch::<Net>("blue", &json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    site.delete::<Net>("blue").await;
    site.create(&desk("a", "blue")).await;
    let sentence = says(&site, "a", "ReferenceDeleting").await;
    assert_eq!(sentence, format!("spec.net: Net {}/blue is being deleted", site.namespace));
    let refused = site.settled().await.with(|entry| entry.code == 422);
    assert!(refused.is_empty(), "{refused}");
    site.patch::<Net>("blue", &json!({"metadata": {"finalizers": null}})).await;
    says(&site, "a", "ReferenceMissing").await;
}

async fn core_and_long(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    net(&site, "blue", true).await;
    let metadata = ObjectMeta { name: Some("key".into()), ..ObjectMeta::default() };
    site.create(&Secret { metadata, ..Secret::default() }).await;
    let long = "d".repeat(200);
    let mut long_desk = desk(&long, "blue");
    long_desk.spec.secret = Some("key".into());
    site.create(&long_desk).await;
    says(&site, &long, "Provisioned").await;
    let held = references::<Secret>(&site, "key").await;
    assert!(matches!(&held[..], [one] if one.starts_with(&from(&site, "dddd")) && one.len() < 110), "{held:?}");
    assert_eq!(references::<Net>(&site, "blue").await, held);
    site.patch::<Desk>(&long, &json!({"spec": {"secret": null}})).await;
    says(&site, &long, "Provisioned").await;
    assert!(references::<Secret>(&site, "key").await.is_empty());
}

async fn one_after_the_other(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    net(&site, "blue", true).await;
    site.settled().await;
    let names: Vec<_> = (0..40).map(|number| format!("desk-{number:02}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let before = site.settled().await;
    futures::future::join_all(names.iter().map(|name| async { drop(site.create(&desk(name, "blue")).await) })).await;
    held_by(&site, "blue", &names).await;
    let held = site.settled().await;
    futures::future::join_all(names.iter().map(|name| site.delete::<Desk>(name))).await;
    held_by(&site, "blue", &[]).await;
    let released = site.settled().await;
    for (asked, before) in [(&held, &before), (&released, &held)] {
        let writes = state_writes(&asked.since(before)).resource("nets").subresource("");
        assert!(writes.len() == names.len() && writes.iter().all(|write| write.code == 200), "{writes}");
    }
}

/// The object that is named and all that name it are deleted together.
async fn all_at_once(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    net(&site, "blue", true).await;
    let names: Vec<_> = (0..40).map(|number| format!("desk-{number:02}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    futures::future::join_all(names.iter().map(|name| async { drop(site.create(&desk(name, "blue")).await) })).await;
    held_by(&site, "blue", &names).await;
    let held = site.settled().await;
    site.delete::<Net>("blue").await;
    futures::future::join_all(names.iter().map(|name| site.delete::<Desk>(name))).await;
    until_gone(&site.api::<Net>(), "blue").await;
    let writes = state_writes(&site.settled().await.since(&held)).resource("nets").subresource("");
    // What is refused, is so because the status was written in between.
    let refused = writes.with(|entry| entry.code != 200);
    assert!(refused.len() <= names.len() / 2, "{writes}");
}

async fn rest(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    net(&site, "blue", true).await;
    site.create(&desk("a", "blue")).await;
    says(&site, "a", "Provisioned").await;
    let before = site.settled().await;
    // A pass that finds all as wanted.
    site.patch::<Desk>("a", &json!({"spec": {"others": []}})).await;
    site.patch::<Net>("blue", &json!({"metadata": {"labels": {"seen": "yes"}}})).await;
    says(&site, "a", "Provisioned").await;
    let writes = state_writes(&site.settled().await.since(&before)).with(|entry| entry.subresource != "status");
    assert!(writes.is_empty(), "{writes}");

    let own: Vec<_> = site.api::<Net>().get("blue").await.unwrap().finalizers().to_vec();
    let kept: Vec<_> = own.iter().filter(|held| !held.contains("/reference_")).collect();
    site.patch::<Net>("blue", &json!({"metadata": {"finalizers": kept}})).await;
    held_by(&site, "blue", &["a"]).await;
    assert!(site.settled().await.denied().is_empty());
}
