//! A write of the status of which nobody knows whether it was done.

use std::time::Duration;

use k8s_openapi::{
    api::apps::v1::Deployment, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, CustomResourceExt as _,
    api::{DeleteParams, PostParams},
};
use opgen::{
    RunOptions,
    environment::Environment,
    queue::{Jitter as _, Seeded},
};
use opgen_sandbox::{
    Sandbox, User,
    fault::{EventFault, Fault, Faults, Timeline, TimelineEvent},
};
use webapp_api::WebApp;

/// Longer than an operator may do nothing although there is something to do.
const PAUSE: Duration = Duration::from_secs(16);
const LOST: &str = "the Deployment was deleted";

/// The status says that the Deployment is waited for; the answer is an error, and the watch tells of it late. Meanwhile the
/// Deployment is ready, so all seems to be as it was before.
#[tokio::test(start_paused = true)]
async fn a_status_that_may_have_been_written_is_written_again() {
    let (undisturbed, _) = live(Faults::none()).await;
    let entries =
        undisturbed.entries.iter().skip_while(|entry| entry.event != TimelineEvent::Note { text: LOST.into() });
    let entries: Vec<_> = entries.map(|entry| &entry.event).collect();
    let write = entries.iter().find_map(|event| match event {
        TimelineEvent::Call(call) if call.method == "PUT" && call.uri.contains("/status") => Some(call.number),
        _ => None,
    });
    let news = entries.iter().find_map(|event| match event {
        TimelineEvent::Event(event) if event.kind == "WebApp" => Some(event.number),
        _ => None,
    });
    let (write, news) = (write.unwrap(), news.unwrap());

    let faults = Faults::none().at_call(write, Fault::Deny { code: 500 });
    let (disturbed, app) = live(faults.at_event(news, EventFault::Delay { seconds: 2 })).await;
    let denied = disturbed.calls().find(|call| call.fault.is_some()).unwrap();
    assert!(denied.uri.contains("/status") && denied.code == Some(500), "{disturbed}");
    let conditions = app.status.unwrap().conditions;
    let available = conditions.iter().find(|condition| condition.type_ == "Available").unwrap();
    assert_eq!((available.status.as_str(), available.reason.as_str()), ("True", "Provisioned"), "{disturbed}");
}

/// The operator of webapps makes what its sample is made of, and then once more the Deployment, which somebody deletes.
async fn live(faults: Faults) -> (Timeline, WebApp) {
    let sandbox = Sandbox::builder().seed(1).workloads(true).start();
    let client = sandbox.client();
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    definitions.create(&PostParams::default(), &WebApp::crd()).await.unwrap();
    let (dice, clock) = (Seeded::new(1), sandbox.clone());
    let environment = Environment::new(move || clock.now(), move || dice.bits());
    let operator = webapp_controller::operator().environment(environment);
    let through = sandbox.client_through(User::admin("operator"), &faults);
    let running = tokio::spawn(async move {
        operator.run_with(through, RunOptions::default(), std::future::pending::<()>()).await.unwrap();
    });
    let apps = Api::<WebApp>::namespaced(client.clone(), "default");
    let sample = apps.create(&PostParams::default(), &super::sample()).await.unwrap();
    let name = sample.metadata.name.unwrap();
    faults.stir();
    faults.quiet(PAUSE).await;
    faults.note(LOST);
    let deployments = Api::<Deployment>::namespaced(client, "default");
    deployments.delete(&name, &DeleteParams::default()).await.unwrap();
    faults.stir();
    faults.quiet(PAUSE).await;
    running.abort();
    (faults.timeline(), apps.get(&name).await.unwrap())
}
