//! A cluster in a cluster.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use opgen::{prelude::*, scope::Kubeconfig};
use opgen_tests::{Plane, wait::until_gone};

use super::{Inside, Note, SecondCluster, Site, config, note, note_says, records, text};

/// A cluster in a cluster: its Secret is in the outer one.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct NestedTree {
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
    // Another process knows of the clusters by their records alone, and takes them down from the inside out.
    running.end_now().await;
    site.delete::<Note>("one").await;
    let _running = site.run(&operator, Default::default()).await;
    until_gone(&site.api::<Note>(), "one").await;
    for cluster in [&blue, &green] {
        let left = cluster.configs().list(&Default::default()).await.unwrap();
        let names: Vec<_> = left.iter().map(ResourceExt::name_any).collect();
        assert!(names.iter().all(|name| name == "kube-root-ca.crt"), "{names:?}");
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
