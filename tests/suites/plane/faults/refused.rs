//! How often the loop retries a call that the API server keeps refusing.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::body::Body;
use http::{Method, Request, Response};
use kube::Client;
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE},
};
use serde_json::json;
use tokio::time::Instant;

use crate::operator::{
    kinds::{Note, NoteSpec, NoteTree},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("a_finalizer_that_is_refused_by_a_conflict_is_tried_at_growing_distances", conflicts),
        case("a_finalizer_of_an_object_that_is_said_to_be_gone_is_tried_at_growing_distances", gone),
    ]
}

/// When the finalizer was refused.
type Refused = Arc<Mutex<Vec<Instant>>>;

/// The client, whose patches of notes are refused.
fn refusing(client: Client, code: u16, reason: &'static str, refused: Refused) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<kube::client::Body>| {
        let (client, refused) = (client.clone(), refused.clone());
        async move {
            if request.method() != Method::PATCH || !request.uri().path().ends_with("/notes/one") {
                return Ok::<_, kube::Error>(client.send(request).await?.map(Body::new));
            }
            refused.lock().unwrap().push(Instant::now());
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason, "code": code,
                "message": "refused", "details": {"name": "one", "kind": "notes"},
            });
            let mut answer = Response::new(Body::from(status.to_string()));
            *answer.status_mut() = http::StatusCode::from_u16(code).unwrap();
            Ok(answer)
        }
    });
    Client::new(service, namespace)
}

/// The delays are 0.1 s, twice as long each time, and by chance up to a half shorter.
async fn is_slowed_down(plane: Arc<Plane>, code: u16, reason: &'static str) {
    const ATTEMPTS: usize = 6;
    let (site, refused) = (Site::new(&plane).await, Refused::default());
    let operator = site.operator().controls::<Note, NoteTree>();
    site.install(&operator).await;
    let client = refusing(site.client().await, code, reason, refused.clone());
    let _running = Site::run_with(&operator, client, Default::default());
    site.create(&Note::new("one", NoteSpec { pause: false, text: "a".to_owned() })).await;
    let attempts = wait::until("it was tried several times", PATIENCE, async || {
        let attempts = refused.lock().unwrap().clone();
        if attempts.len() >= ATTEMPTS { Ok(attempts) } else { Err(format!("{attempts:?}")) }
    })
    .await;
    let took = attempts[ATTEMPTS - 1] - attempts[0];
    assert!(took >= Duration::from_millis(50 + 100 + 200 + 400 + 800), "{ATTEMPTS} attempts in {took:?}");
}

async fn conflicts(plane: Arc<Plane>) {
    is_slowed_down(plane, 409, "Conflict").await;
}

async fn gone(plane: Arc<Plane>) {
    is_slowed_down(plane, 404, "NotFound").await;
}
