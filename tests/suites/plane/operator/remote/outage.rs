//! Clusters that can't be reached.

use std::sync::Arc;

use opgen_tests::{
    Form, Plane,
    wait::{PATIENCE, until, until_gone, until_object},
};
use serde_json::json;
use tokio::time::Instant;

use super::{LIMIT, Note, NoteSpec, Scene, available, cluster::Network, note_says, records, text};
use crate::operator::kinds::is_provisioned;

/// The number of owners in a cluster that does not answer: more than the operator has workers.
const OWNERS: usize = 20;

pub(super) async fn unreachable(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue, green], running: _running, .. } =
        Scene::provisioned(&plane, ["blue", "green"], "blue/one").await;
    blue.set_network(Network::Refused);
    site.patch::<Note>("one", &json!({"spec": {"text": "blue/two"}})).await;
    let message = note_says(&site, "ClusterUnreachable").await;
    assert_eq!(message, format!("the cluster of Secret {}/blue can't be reached", site.namespace));
    // Others are served meanwhile.
    site.create(&Note::new("two", NoteSpec { text: "green/one".to_owned(), ..NoteSpec::default() })).await;
    until_object(&site.api::<Note>(), "two", "is provisioned", is_provisioned).await;
    // A teardown waits, since the cluster exists.
    site.delete::<Note>("one").await;
    let is_waiting = |note: &Note| {
        note.metadata.deletion_timestamp.is_some()
            && available(note.status.as_ref()).is_some_and(|(_, reason, _)| reason == "ClusterUnreachable")
    };
    until_object(&site.api::<Note>(), "one", "waits for the cluster", is_waiting).await;
    blue.set_network(Network::Open);
    until_gone(&site.api::<Note>(), "one").await;
    assert!(blue.configs().get_opt("one").await.unwrap().is_none());
    assert_eq!(text(&green.configs().get("two").await.unwrap()), "green/one");
}

/// Requests to one cluster get no answer at all. The owners of another one are served in the meantime.
pub(super) async fn silent(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue, _green], running: _running, .. } =
        Scene::provisioned(&plane, ["blue", "green"], "blue/one").await;
    let named = |name: &str, text: &str| Note::new(name, NoteSpec { text: text.to_owned(), ..NoteSpec::default() });
    for number in 0..OWNERS {
        site.create(&named(&format!("n{number}"), "blue/one")).await;
    }
    for number in 0..OWNERS {
        until_object(&site.api::<Note>(), &format!("n{number}"), "is provisioned", is_provisioned).await;
    }
    blue.set_network(Network::Silent);
    for number in 0..OWNERS {
        site.patch::<Note>(&format!("n{number}"), &json!({"spec": {"text": "blue/two"}})).await;
    }
    let start = Instant::now();
    site.create(&named("other", "green/one")).await;
    until_object(&site.api::<Note>(), "other", "is provisioned", is_provisioned).await;
    // Each pass that finds all places in the cluster taken waits a second for one.
    let limit = if plane.form() == Form::Sandbox { 10 } else { 20 };
    assert!(start.elapsed().as_secs() < limit, "served after {:?}", start.elapsed());
    blue.set_network(Network::Open);
}

/// A cluster that answers with nonsense costs no more than one that does not answer.
pub(super) async fn lying(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue, green], running: _running, .. } =
        Scene::provisioned(&plane, ["blue", "green"], "blue/one").await;
    blue.set_network(Network::Endless);
    site.patch::<Note>("one", &json!({"spec": {"text": "blue/two"}})).await;
    note_says(&site, "ClusterUnreachable").await;
    let requests = green.requests();
    blue.set_network(Network::Redirected);
    let before = blue.requests();
    until("blue is asked again", PATIENCE, async || {
        let requests = blue.requests();
        if requests > before { Ok(()) } else { Err(format!("{requests} requests")) }
    })
    .await;
    assert_eq!(green.requests(), requests, "no redirect is followed");
    blue.set_network(Network::Open);
    note_says(&site, "Provisioned").await;
    assert_eq!(text(&blue.configs().get("one").await.unwrap()), "blue/two");
}

pub(super) async fn abandoned(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue], running: _running, .. } =
        Scene::provisioned(&plane, ["blue"], "blue/brief").await;
    // The time begins when the cluster stops answering, not with the deletion.
    let start = Instant::now();
    blue.set_network(Network::Refused);
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    assert!(start.elapsed() >= LIMIT, "given up after {:?}", start.elapsed());
    assert_eq!(text(&blue.configs().get("one").await.unwrap()), "blue/brief");
    assert_eq!(records(&site).await, Vec::<String>::new());
}
