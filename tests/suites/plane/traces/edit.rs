//! One trace leads from the edit of a user to the last write that follows from it, through the API server.

use std::{net::SocketAddr, sync::Arc};

use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen_tests::{Form, Options, Plane, Port, case_on, wait};
use serde_json::json;
use webapp_api::WebApp;

use super::{
    collector::{Collector, Received},
    groups::tracing_flags,
    program::{Role, Traced},
};
use crate::operator::{example::WEBAPP, fleet::app};

pub(super) fn cases() -> Vec<Trial> {
    let port = Port::reserve();
    // The API server records the traces that the operator records, and no others.
    let options = Options { apiserver_flags: tracing_flags(port.address(), 0), ..Options::served() };
    vec![case_on("tracing_one_trace_leads_from_an_edit_to_the_last_write", options, |plane| edited(plane, port))]
}

async fn edited(plane: Arc<Plane>, port: Port) {
    let collector = Collector::start(port.address()).await;
    WEBAPP.define(&plane).await;
    let metrics = Port::reserve();
    let flag = format!("--metrics-bind-address={}", metrics.address());
    // An administrator: the API server continues the traces of its clients.
    let mut operator = Traced::start(Role::WebApp, &plane, plane.admin(), (port.address(), 50), &[&flag]).await;
    let apps = Api::<WebApp>::namespaced(plane.client(), &plane.namespace("traces").await);
    apps.create(&PostParams::default(), &app("one")).await.unwrap();
    is_ready(&apps).await;
    let change = Patch::Merge(json!({"spec": {"image": "example.com/web:2"}}));
    let edited = apps.patch("one", &PatchParams::default(), &change).await.unwrap();
    let last = is_ready(&apps).await;

    let edit = version(&edited);
    let root = collector
        .until("the pass over the edit", |span| {
            is_pass(span) && span.attribute("opgen.object.resource_version") == edit
        })
        .await;
    assert_eq!((root.parent.as_str(), root.attribute("opgen.pass.trigger")), ("", "request"), "{root:?}");
    assert_eq!((root.service.as_str(), root.links.len()), ("webapp", 1), "it links to the pass before: {root:?}");
    let last_write = collector
        .until("the last write", |span| {
            is_call(span) && span.attribute("opgen.object.resource_version") == version(&last)
        })
        .await;
    assert_eq!(last_write.trace, root.trace, "{last_write:?}");
    assert_eq!(last_write.attribute("opgen.resource"), "webapps/status.demo.example.com");
    // The span of a pass ends after those of its calls, and may come in a later batch.
    let is_last_pass = |span: &Received| is_pass(span) && span.attribute("opgen.pass.result") == "success";
    collector.until("the last pass", |span| span.trace == root.trace && is_last_pass(span)).await;
    let trace: Vec<_> = collector.spans().into_iter().filter(|span| span.trace == root.trace).collect();
    passes_nodes_and_calls_are_nested(&trace, &root);
    if plane.form() != Form::Sandbox {
        the_api_server_takes_part(&collector, &last_write).await;
    }
    exemplars_lead_to_traces(metrics.address(), &collector).await;
    log_lines_have_their_trace(&operator.process.log(), &root.trace);
    operator.stop().await;
}

/// Waits until a WebApp is ready in its current generation.
async fn is_ready(apps: &Api<WebApp>) -> WebApp {
    wait::until_object(apps, "one", "is ready", |app| {
        let conditions = app.status.as_ref().map(|status| &status.conditions[..]).unwrap_or_default();
        conditions.iter().any(|condition| {
            condition.type_ == "Ready"
                && condition.status == "True"
                && condition.observed_generation == app.metadata.generation
        })
    })
    .await
}

fn version(app: &WebApp) -> String {
    app.resource_version().expect("a version")
}

fn is_pass(span: &Received) -> bool {
    span.name == "pass WebApp"
}

fn is_call(span: &Received) -> bool {
    span.service == "webapp" && !span.attribute("opgen.verb").is_empty()
}

/// The Deployment becomes available some time after the edit, so there are several passes.
fn passes_nodes_and_calls_are_nested(trace: &[Received], root: &Received) {
    let passes: Vec<_> = trace.iter().filter(|span| is_pass(span)).collect();
    assert!(passes.len() >= 2, "{trace:#?}");
    assert!(passes.iter().all(|pass| pass.id == root.id || pass.parent == root.id), "{passes:#?}");
    let results: Vec<_> = passes.iter().map(|pass| pass.attribute("opgen.pass.result")).collect();
    assert!(results.contains(&"requeue_after") && results.contains(&"success"), "{results:?}");
    let named =
        |name: &str| trace.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name}: {trace:#?}"));
    let (group, node, call) =
        (named("node workload"), named("node workload/deployment"), named("patch deployments.apps"));
    assert_eq!((&call.parent, &node.parent, &group.parent), (&node.id, &group.id, &root.id));
    assert_eq!((call.attribute("http.response.status_code"), call.attribute("opgen.object.name")), ("200", "one"));
    assert_eq!(node.attribute("opgen.node.outcome"), "yield");
    assert!(trace.iter().all(|span| !span.is_error), "{trace:#?}");
}

/// The API server continues the trace below the call, and so does its client of etcd.
async fn the_api_server_takes_part(collector: &Collector, call: &Received) {
    let server = collector.until("the span of the API server", |span| span.parent == call.id).await;
    assert_eq!((server.service.as_str(), &server.trace), ("apiserver", &call.trace), "{server:?}");
    assert!(server.name.contains("/webapps/{:name}/status"), "{server:?}");
    collector.until("the write in etcd", |span| span.trace == call.trace && span.name == "etcdserverpb.KV/Txn").await;
}

/// The histograms of passes and calls name traces that the collector has.
async fn exemplars_lead_to_traces(metrics: SocketAddr, collector: &Collector) {
    let text = open_metrics(metrics).await;
    for histogram in ["controller_runtime_reconcile_time_seconds_bucket", "opgen_call_duration_seconds_bucket"] {
        let lines = text.lines().filter(|line| line.starts_with(histogram));
        let trace = lines.filter_map(|line| line.split_once("trace_id=\"")?.1.split('"').next()).next();
        let trace = trace.unwrap_or_else(|| panic!("{histogram} has no exemplar:\n{text}"));
        collector.until("the trace of an exemplar", |span| span.trace == trace).await;
    }
}

async fn open_metrics(address: SocketAddr) -> String {
    let request = http::Request::get("/metrics").header("accept", "application/openmetrics-text").body(Vec::new());
    let client = kube::Client::try_from(kube::Config::new(format!("http://{address}").parse().unwrap())).unwrap();
    client.request_text(request.unwrap()).await.unwrap()
}

fn log_lines_have_their_trace(log: &str, trace: &str) {
    let applied: Vec<_> = log.lines().filter(|line| line.contains("applying")).collect();
    assert!(applied.iter().any(|line| line.contains(&format!("trace_id={trace}"))), "{trace} is not in {applied:#?}");
    let has_attributes = |line: &&str| line.contains("opgen.object.name");
    assert!(!log.lines().any(|line| has_attributes(&line)), "the log has attributes of spans: {log}");
}
