//! A watch that shows nothing, and then has expired: what happened meanwhile is only in the next listing, or not even there.

use std::{convert::Infallible, sync::Arc};

use axum::body::Body;
use futures::stream;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::operator::{
    kinds::{self, Note, NoteSpec, NoteTree, available},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("stale_y2_a_write_whose_object_is_gone_before_it_was_seen_holds_nobody_up", unseen)]
}

async fn unseen(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Note, NoteTree>();
    site.install(&operator).await;
    let blindness = Arc::new(Semaphore::new(0));
    let client = blind(site.client().await, blindness.clone());
    let _running = Site::run_with(&operator, client, Default::default());
    site.create(&Note::new("one", NoteSpec { pause: false, text: "a".to_owned() })).await;
    let is_done = |note: &Note| available(note.status.as_ref()).is_some_and(|(truth, ..)| truth == "True");
    until_object(&site.api::<Note>(), "one", "is done", is_done).await;

    // Its ConfigMap was not seen, and until it is no pass acts: what the pass would see is older than what it did.
    site.patch::<Note>("one", &json!({"spec": {"text": "b"}})).await;
    let asked = site.settled().await.resource("configmaps").name("one");
    assert_eq!(asked.iter().map(|entry| entry.code).collect::<Vec<_>>(), [201], "{asked}");

    site.delete::<ConfigMap>("one").await;
    until_gone(&site.api::<ConfigMap>(), "one").await;
    blindness.close();
    until_object(&site.api::<ConfigMap>(), "one", "is there anew", |config| kinds::text(config) == "b").await;
    assert!(site.asked().await.denied().is_empty());
}

/// The client, whose watches of ConfigMaps show nothing until the blindness is closed, and then that they have expired.
fn blind(client: Client, blindness: Arc<Semaphore>) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let (client, blindness) = (client.clone(), blindness.clone());
        async move {
            let uri = request.uri();
            let watches = uri.path().ends_with("/configmaps") && uri.query().is_some_and(|q| q.contains("watch=true"));
            let seen = client.send(request).await?.map(Body::new);
            Ok::<_, kube::Error>(if watches && !blindness.is_closed() {
                seen.map(|_| expiring(blindness))
            } else {
                seen
            })
        }
    });
    Client::new(service, namespace)
}

fn expiring(blindness: Arc<Semaphore>) -> Body {
    let expired = json!({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "metadata": {},
        "status": "Failure", "reason": "Expired", "message": "too old resource version", "code": 410}});
    Body::from_stream(stream::once(async move {
        drop(blindness.acquire().await);
        Ok::<_, Infallible>(format!("{expired}\n"))
    }))
}
