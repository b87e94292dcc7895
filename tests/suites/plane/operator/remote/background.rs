//! A remote node whose objects are left in the cluster with the owner.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;
use opgen::{prelude::*, scope::Kubeconfig};
use opgen_tests::{
    Plane,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::{Inside, Network, Note, SecondCluster, Site, is_gone, note, note_says, records, text};

/// The kubeconfig, and whether there is a cluster, come from the text.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct BackgroundTree {
    #[provisioner(remote(background), when = |note| note.spec.text != "none")]
    inside: Inside,
}

impl BackgroundTree {
    fn inside(_: &Note) -> Kubeconfig {
        Kubeconfig::secret("blue")
    }
}

/// The teardown of the owner makes no call to the cluster. A node that is no longer wanted is removed as usual.
pub(super) async fn left(plane: Arc<Plane>) {
    let (site, blue) = (Site::new(&plane).await, SecondCluster::start(&plane, "blue").await);
    let environment = SecondCluster::reachable_from(site.environment(), &[&blue]);
    let _running = site.start(&site.operator().environment(environment).controls::<Note, BackgroundTree>()).await;
    blue.publish(&site).await;
    site.create(&note("one")).await;
    note_says(&site, "Provisioned").await;
    site.patch::<Note>("one", &json!({"spec": {"text": "none"}})).await;
    is_gone(&blue.configs(), "one").await;
    site.patch::<Note>("one", &json!({"spec": {"text": "two"}})).await;
    until_object(&blue.configs(), "one", "is made again", |config| text(config) == "two").await;
    assert_eq!(records(&site).await.len(), 1);

    note_says(&site, "Provisioned").await;
    site.settled().await;
    let requests = blue.requests();
    blue.set_network(Network::Refused);
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    assert_eq!(blue.requests(), requests, "a teardown makes no call to the cluster");
    assert_eq!(records(&site).await, Vec::<String>::new());
    assert!(site.api::<Secret>().get_opt("blue").await.unwrap().is_some());
    assert_eq!(text(&blue.configs().get("one").await.unwrap()), "two");
}
