//! Objects whose annotations name an owner or a cluster, although the operator has not made them.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use opgen::{RunOptions, prelude::*};
use opgen_tests::{
    Plane,
    wait::{PATIENCE, until_gone, until_object},
};
use serde_json::json;
use tokio::time::Instant;

use super::{Note, NoteSpec, Scene, SecondCluster, Site, available, config, note, operator, text};
use crate::operator::{kinds::is_provisioned, site::NAME};

/// An operator of the same name runs in the other cluster, too.
pub(super) async fn orphans(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = operator(&site, &[]);
    site.install(&operator).await;
    for (name, end) in [("kept", "/remote"), ("orphan", "")] {
        let mut child = config(name, "child");
        child.metadata.labels = Some([("app.kubernetes.io/managed-by".to_owned(), NAME.to_owned())].into());
        let mark = format!("notes.live.example.com/{}/gone/no-such-uid{end}", site.namespace);
        let annotations = [("opgen.dev/owner", mark.as_str()), ("opgen.dev/node", "inside/first")];
        child.metadata.annotations = Some(annotations.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        site.create(&child).await;
    }
    let _running = site.run(&operator, Default::default()).await;
    until_gone(&site.api::<ConfigMap>(), "orphan").await;
    site.settled().await;
    assert_eq!(text(&site.api::<ConfigMap>().get("kept").await.unwrap()), "child");
}

/// Somebody in the other cluster makes objects that look like children of owners that have nothing there.
pub(super) async fn foreign(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue], running: _running, .. } =
        Scene::provisioned(&plane, ["blue"], "blue/one").await;
    let other = site.create(&Note::new("two", NoteSpec { text: "none".to_owned(), ..NoteSpec::default() })).await;
    let is_waiting =
        |note: &Note| available(note.status.as_ref()).is_some_and(|(_, reason, _)| reason == "KubeconfigMissing");
    until_object(&site.api::<Note>(), "two", "has no cluster", is_waiting).await;
    for (name, uid) in [("lie", other.uid().unwrap_or_default()), ("ghost", "no-such-uid".to_owned())] {
        let mut lie = config(name, "lie");
        lie.metadata.labels = Some([("app.kubernetes.io/managed-by".to_owned(), NAME.to_owned())].into());
        let mark = format!("notes.live.example.com/{}/two/{uid}", site.namespace);
        let annotations = [("opgen.dev/owner", mark.as_str()), ("opgen.dev/node", "inside/first")];
        lie.metadata.annotations = Some(annotations.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        blue.configs().create(&Default::default(), &lie).await.unwrap();
    }
    site.delete::<Note>("two").await;
    let start = Instant::now();
    until_gone(&site.api::<Note>(), "two").await;
    assert!(start.elapsed() < PATIENCE / 2, "nothing waits for the lie");
    for name in ["lie", "ghost"] {
        assert_eq!(text(&blue.configs().get(name).await.unwrap()), "lie");
    }
}

/// A tenant makes a ConfigMap that looks like a record of the owner, and names the Secret of somebody else.
pub(super) async fn forged_record(plane: Arc<Plane>) {
    let (site, blue) = (Site::new(&plane).await, SecondCluster::start(&plane, "blue").await);
    let environment = SecondCluster::reachable_from(site.environment(), &[&blue]);
    let operator = Operator::new(NAME).namespace(&site.namespace).environment(environment);
    let operator = operator.controls::<Note, super::RemoteTree>();
    site.install(&operator).await;
    let tenant = plane.namespace("tenant").await;
    // Other cases may run on the same plane.
    let options = RunOptions::default().namespaces([&site.namespace, &tenant]);
    let _running = site.run(&operator, options).await;
    let notes = Api::<Note>::namespaced(plane.client(), &tenant);
    let configs = Api::<ConfigMap>::namespaced(plane.client(), &tenant);
    let created = notes.create(&Default::default(), &note("blue/one")).await.unwrap();
    blue.publish_to(&Api::namespaced(plane.client(), &tenant)).await;
    until_object(&notes, "one", "is provisioned", is_provisioned).await;
    let mut forged = config("forged", "forged");
    forged.metadata.labels = Some([("app.kubernetes.io/managed-by".to_owned(), NAME.to_owned())].into());
    let owner = format!("notes.live.example.com/{tenant}/one/{}", created.uid().unwrap_or_default());
    let secret = json!({"namespace": site.namespace, "name": "foreign", "key": "value"}).to_string();
    let annotations =
        [("opgen.dev/owner", owner), ("opgen.dev/node", "inside".to_owned()), ("opgen.dev/cluster", secret)];
    forged.metadata.annotations = Some(annotations.map(|(name, value)| (name.to_owned(), value)).into());
    configs.create(&Default::default(), &forged).await.unwrap();
    // It is an unwanted object of the node, and nothing more.
    until_gone(&configs, "forged").await;
    let read = site.asked().await.resource("secrets").name("foreign");
    assert!(read.is_empty(), "{read}");
}
