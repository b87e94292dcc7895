//! A cluster in a cluster.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Patch;
use opgen::{prelude::*, scope::Kubeconfig};
use opgen_tests::{
    Form, Plane,
    wait::{until, until_gone, until_object},
};
use serde_json::json;
use tokio::time::Instant;

use super::{Inside, Network, Note, SecondCluster, Site, config, note, note_says, records, text};

/// A cluster in a cluster: its Secret is in the outer one.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
pub(super) struct NestedTree {
    #[provisioner(resource)]
    local: ConfigMap,
    #[provisioner(remote)]
    outer: Outer,
}

impl NestedTree {
    fn local(_: &Note) -> ConfigMap {
        config("local", "local")
    }

    fn outer(_: &Note) -> Kubeconfig {
        Kubeconfig::secret("blue")
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct Outer {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(remote)]
    inner: Inside,
}

impl Outer {
    fn config(_: &Note) -> ConfigMap {
        config("outer", "outer")
    }

    fn inner(_: &Note) -> Kubeconfig {
        Kubeconfig::secret("green")
    }
}

pub(super) async fn nested(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (blue, green) = (SecondCluster::start(&plane, "blue").await, SecondCluster::start(&plane, "green").await);
    let environment = SecondCluster::reachable_from(site.environment(), &[&blue, &green]);
    let operator = site.operator().environment(environment).controls::<Note, NestedTree>();
    let running = site.start(&operator).await;
    blue.publish(&site).await;
    site.create(&note("nested/both")).await;
    let message = note_says(&site, "KubeconfigMissing").await;
    assert_eq!(message, "waiting for Secret default/green with the kubeconfig of a cluster");
    assert_eq!(text(&blue.configs().get("outer").await.unwrap()), "outer");
    green.publish_in(&blue).await;
    note_says(&site, "Provisioned").await;
    assert_eq!(text(&green.configs().get("one").await.unwrap()), "nested/both");
    let series = format!("opgen_remote_cluster_owners{{kubeconfig=\"{}/blue > default/green\"}} 1\n", site.namespace);
    let metrics = operator.metrics().text().unwrap();
    assert!(metrics.contains(&series), "{metrics}");
    // Another process knows of the clusters by their records alone, and takes them down from the inside out.
    running.end_now().await;
    site.delete::<Note>("one").await;
    let _running = site.run(&operator, Default::default()).await;
    until_gone(&site.api::<Note>(), "one").await;
    for cluster in [&blue, &green] {
        cluster.is_empty().await;
    }
    assert_eq!(records(&site).await, Vec::<String>::new());
    let (inner, outer) = (green.deletions(), blue.deletions());
    // Two objects there, and in the outer cluster an object with the record of the inner one.
    assert_eq!((inner.len(), outer.len()), (2, 2));
    assert!(inner.iter().max() < outer.iter().min(), "{inner:?} before {outer:?}");
    let local = site.asked().await.resource("configmaps").verb("delete").name("local");
    let local: Vec<_> = local.iter().map(|entry| entry.received.clone()).collect();
    let (inner, outer) = (green.deletion_times().await, blue.deletion_times().await);
    assert!(
        inner.iter().max() <= outer.iter().min() && outer.iter().max() <= local.iter().min(),
        "{inner:?} {outer:?} {local:?}"
    );
}

/// Lets no request reach a cluster for minutes, and then all again.
async fn cut_off(cluster: &SecondCluster) {
    // With a paused clock a long time is cheap.
    let duration = Duration::from_secs(if cluster.form() == Form::Sandbox { 120 } else { 20 });
    let start = Instant::now();
    cluster.set_network(Network::Refused);
    until("the cluster was cut off for long", duration * 2, async || {
        if start.elapsed() >= duration { Ok(()) } else { Err("it was not".to_owned()) }
    })
    .await;
    cluster.set_network(Network::Open);
}

/// Either cluster is cut off while the tree is provisioned, changed and removed.
pub(super) async fn partitions(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (blue, green) = (SecondCluster::start(&plane, "blue").await, SecondCluster::start(&plane, "green").await);
    let environment = SecondCluster::reachable_from(site.environment(), &[&blue, &green]);
    let _running = site.start(&site.operator().environment(environment).controls::<Note, NestedTree>()).await;
    blue.publish(&site).await;
    green.publish_in(&blue).await;
    for cluster in [&blue, &green] {
        cluster.set_network(Network::Refused);
        site.create(&note("nested/both")).await;
        note_says(&site, "ClusterUnreachable").await;
        cut_off(cluster).await;
        let is_made = |config: &ConfigMap| text(config) == "nested/both";
        until_object(&green.configs(), "one", "is made", is_made).await;
        note_says(&site, "Provisioned").await;
        site.settled().await;
        // At rest, an edit in the meantime is repaired afterwards, and nothing is made again.
        let uid = green.configs().get("one").await.unwrap().uid();
        cluster.set_network(Network::Refused);
        let edit = json!({"data": {"text": "edited"}});
        green.configs().patch("one", &Default::default(), &Patch::Merge(&edit)).await.unwrap();
        cut_off(cluster).await;
        let repaired = until_object(&green.configs(), "one", "is repaired", is_made).await;
        assert_eq!(repaired.uid(), uid, "it is the same object");
        note_says(&site, "Provisioned").await;
        cluster.set_network(Network::Refused);
        site.patch::<Note>("one", &json!({"spec": {"text": "changed/both"}})).await;
        cut_off(cluster).await;
        until_object(&green.configs(), "one", "is changed", |config| text(config) == "changed/both").await;
        cluster.set_network(Network::Refused);
        site.delete::<Note>("one").await;
        cut_off(cluster).await;
        until_gone(&site.api::<Note>(), "one").await;
        for other in [&blue, &green] {
            other.is_empty().await;
        }
        assert_eq!(records(&site).await, Vec::<String>::new());
    }
}
