//! Tests an informer whose task ends while the operator runs: it is started again, and nothing that happened meanwhile is lost.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, ResourceExt as _};
use libtest_mimic::Trial;
use opgen::{RunOptions, counters::Closure};
use opgen_tests::{Plane, Port, case_served, wait::until_object};
use serde_json::json;

use crate::operator::{
    kinds::{self, Note, NoteSpec, NoteTree, is_provisioned},
    log,
    program::says,
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case_served("an_informer_whose_task_ends_is_started_again_and_misses_nothing", ends)]
}

/// Returns a client whose watches of ConfigMaps panic while `is_broken` is set: at the request, and at the next event.
fn breaking(client: Client, is_broken: Arc<AtomicBool>) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let (client, is_broken) = (client.clone(), is_broken.clone());
        async move {
            let uri = request.uri();
            let is_watch = uri.path().ends_with("/configmaps") && uri.query().is_some_and(|q| q.contains("watch=true"));
            let check = move || assert!(!is_watch || !is_broken.load(Ordering::Relaxed), "the watch is broken");
            check();
            let response = client.send(request).await?;
            let checked = move |frame| {
                check();
                frame
            };
            Ok::<_, kube::Error>(response.map(|body| body.map_frame(checked)))
        }
    });
    Client::new(service, namespace)
}

async fn ends(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Note, NoteTree>();
    site.install(&operator).await;
    let (port, is_broken) = (Port::reserve(), Arc::new(AtomicBool::new(false)));
    let client = breaking(site.client().await, is_broken.clone());
    let _running = Site::run_with(&operator, client, RunOptions::default().probes(port.address()));
    site.create(&Note::new("one", NoteSpec { pause: false, text: "a".to_owned() })).await;
    until_object(&site.api::<Note>(), "one", "is provisioned", is_provisioned).await;
    let configs = site.api::<ConfigMap>();
    let made = configs.get("one").await.unwrap();
    assert_eq!(operator.counters().task_restarts(), 0);

    is_broken.store(true, Ordering::Relaxed);
    site.patch::<ConfigMap>("one", &json!({"data": {"text": "edited"}})).await;
    let task = "informer of ConfigMap with the operator's label: ended unexpectedly and is restarted";
    for path in ["/livez", "/readyz"] {
        says(port.address(), path, 503, task).await;
    }
    site.delete::<ConfigMap>("one").await;
    is_broken.store(false, Ordering::Relaxed);
    let is_restored = |config: &ConfigMap| config.uid() != made.uid() && kinds::text(config) == "a";
    until_object(&configs, "one", "is restored", is_restored).await;
    for path in ["/livez", "/readyz"] {
        says(port.address(), path, 200, "").await;
    }
    assert!(operator.counters().task_restarts() > 0 && operator.counters().panics(Closure::Runtime) > 0);
    let lines = log::lines_with(&["ERROR", "a task ended unexpectedly and is restarted", "the watch is broken"]);
    assert!(!lines.is_empty());
}
