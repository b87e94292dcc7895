//! A kind that can't be listed: the controllers that need it wait, and all others work.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Request, Response, StatusCode};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Client, client::Body};
use libtest_mimic::Trial;
use opgen::{Backoff, Lister, NamespacedName, RunOptions};
use opgen_tests::{
    Plane, Port, case_served,
    wait::{self, PATIENCE, until_object},
};

use crate::{
    operator::{
        kinds::{Note, NoteSpec, NoteTree, available},
        probe::{Count, Counted, Passes, ProbeSpec, probe},
        program::readiness,
        site::Site,
    },
    reference::kinds::{self as references, Desk, desk, net},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("a_kind_whose_list_fails_holds_up_only_the_controllers_that_need_it", fails),
        case_served("a_referenced_kind_whose_list_fails_holds_up_only_the_controllers_that_reference_it", referenced),
        case_served("a_kind_of_primaries_whose_list_fails_holds_up_only_its_own_controller", of_primaries),
        case_served("a_controller_waits_for_a_view_that_it_reads_and_another_one_keeps", view_of_another),
        case_served("a_kind_that_may_not_be_listed_holds_up_only_the_controllers_that_need_it", forbidden),
    ]
}

/// One controller needs ConfigMaps, the other one needs nothing.
async fn operator(plane: &Arc<Plane>) -> (Site, opgen::Operator) {
    let (site, soon) = (Site::new(plane).await, Duration::from_millis(300));
    let operator =
        site.operator().controls_with::<Note, NoteTree>(|c| c.backoff(Backoff::Fixed(soon)).requeue_after(soon));
    let operator = operator.controls_with::<Counted, Count>(|c| c.options(Passes::default()));
    site.install(&operator).await;
    site.create(&Note::new("note", NoteSpec { pause: false, text: "a".to_owned() })).await;
    probe(&site, "probe", ProbeSpec::default()).await;
    (site, operator)
}

async fn fails(plane: Arc<Plane>) {
    let (site, operator) = operator(&plane).await;
    let broken = Arc::new(AtomicBool::new(true));
    let client = without("/configmaps", site.client().await, broken.clone());
    let port = Port::reserve();
    let options = RunOptions::default().probes(port.address());
    let _running = Site::run_with(&operator, client, options);
    is_available(&site, "probe").await;
    says(&port, 503, &["ConfigMap: ", "Probe: ok", "controller of Note is not started: waiting for ConfigMap ("]).await;
    assert!(
        site.api::<Note>().get("note").await.unwrap().status.is_none(),
        "nothing is done for it without ConfigMaps"
    );
    broken.store(false, Ordering::Relaxed);
    until_object(&site.api::<ConfigMap>(), "note", "is made", |_| true).await;
    says(&port, 200, &["ConfigMap: ok"]).await;
}

async fn referenced(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = references::operator(&site).controls_with::<Counted, Count>(|c| c.options(Passes::default()));
    site.install(&operator).await;
    net(&site, "blue", true).await;
    site.create(&desk("a", "blue")).await;
    probe(&site, "probe", ProbeSpec::default()).await;
    let broken = Arc::new(AtomicBool::new(true));
    // A desk may reference a Secret, and nothing else needs one.
    let client = without("/secrets", site.client().await, broken.clone());
    let port = Port::reserve();
    let _running = Site::run_with(&operator, client, RunOptions::default().probes(port.address()));
    is_available(&site, "probe").await;
    let waits = "controller of Desk is not started: waiting for Secret (";
    says(&port, 503, &["Secret: ", "Net: ok", "Probe: ok", waits]).await;
    assert!(site.api::<Desk>().get("a").await.unwrap().status.is_none(), "nothing is done for it without Secrets");
    broken.store(false, Ordering::Relaxed);
    references::says(&site, "a", "Provisioned").await;
    says(&port, 200, &["Secret: ok"]).await;
}

async fn of_primaries(plane: Arc<Plane>) {
    let (site, operator) = operator(&plane).await;
    let broken = Arc::new(AtomicBool::new(true));
    let client = without("/notes", site.client().await, broken.clone());
    let port = Port::reserve();
    let _running = Site::run_with(&operator, client, RunOptions::default().probes(port.address()));
    is_available(&site, "probe").await;
    let waits = "controller of Note is not started: waiting for Note (";
    says(&port, 503, &["Note: ", "ConfigMap: ok", "Probe: ok", waits]).await;
    broken.store(false, Ordering::Relaxed);
    until_object(&site.api::<ConfigMap>(), "note", "is made", |_| true).await;
    says(&port, 200, &["Note: ok"]).await;
}

async fn view_of_another(plane: Arc<Plane>) {
    let (site, secrets, passes) = (Site::new(&plane).await, Lister::<()>::default(), Passes::default());
    let operator = site
        .operator()
        .controls_with::<Note, NoteTree>(|c| c.lister(&secrets, |_: &Secret| (), |_, ()| None::<NamespacedName>));
    let operator = operator.controls_with::<Counted, Count>(|c| c.options(passes.clone()).reads(&secrets));
    site.install(&operator).await;
    probe(&site, "probe", ProbeSpec::default()).await;
    let broken = Arc::new(AtomicBool::new(true));
    let client = without("/secrets", site.client().await, broken.clone());
    let port = Port::reserve();
    let options = RunOptions::default().probes(port.address());
    let _running = Site::run_with(&operator, client, options);
    says(&port, 503, &["Secret: ", "Probe: ok", "controller of Probe is not started: waiting for Secret ("]).await;
    assert_eq!(passes.of("probe"), 0, "no pass begins before the view is filled");
    broken.store(false, Ordering::Relaxed);
    is_available(&site, "probe").await;
    says(&port, 200, &["Secret: ok"]).await;
}

async fn forbidden(plane: Arc<Plane>) {
    let (site, operator) = operator(&plane).await;
    site.forbid("", "configmaps", "list").await;
    let port = Port::reserve();
    let options = RunOptions::default().probes(port.address());
    let _running = site.run(&operator, options).await;
    is_available(&site, "probe").await;
    // What is forbidden for good is said by the objects themselves.
    let says_so = |note: &Note| available(note.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Forbidden");
    until_object(&site.api::<Note>(), "note", "says what is forbidden", says_so).await;
    says(&port, 503, &["ConfigMap: the operator may not list configmaps", "Probe: ok"]).await;
    site.grant(&operator).await;
    until_object(&site.api::<ConfigMap>(), "note", "is made", |_| true).await;
    says(&port, 200, &["ConfigMap: ok"]).await;
}

/// A client for which the server fails with 500 on each list of a resource, as long as that is wanted.
fn without(resource: &'static str, client: Client, broken: Arc<AtomicBool>) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, broken) = (client.clone(), broken.load(Ordering::Relaxed));
        async move {
            let reads = request.method() == "GET" && request.uri().path().ends_with(resource);
            if !(broken && reads) {
                return client.send(request).await;
            }
            let text = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcd is away","reason":"InternalError","code":500}"#;
            let mut response = Response::new(Body::from(text.as_bytes().to_vec()));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            Ok::<_, kube::Error>(response)
        }
    });
    Client::new(service, namespace)
}

async fn is_available(site: &Site, name: &str) {
    let fits =
        |probe: &crate::operator::probe::Probe| available(probe.status.as_ref()).is_some_and(|(is, _, _)| is == "True");
    until_object(&site.api(), name, "is available", fits).await;
}

async fn says(port: &Port, code: u16, words: &[&str]) {
    wait::until(format!("readiness says {code} and {words:?}"), PATIENCE, async || {
        match readiness(port.address()).await? {
            (said, text) if said == code && words.iter().all(|word| text.contains(word)) => Ok(()),
            (said, text) => Err(format!("{said}: {text}")),
        }
    })
    .await;
}
