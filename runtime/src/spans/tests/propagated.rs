//! Tests the OpenTelemetry spans of reconcile passes, tree nodes and API calls, and the trace context in requests to the API server.

use crate::{
    cache::Header,
    client::{Client, Target},
    error::Error,
    kind::kind_of,
    metrics::calls::CallMetrics,
    queue::Trigger,
    spans::{bridge, convergence::Lineage, node, pass::PassSpan},
};
use http::{HeaderMap, Request, Response};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use opentelemetry::trace::{SpanId, Status, TracerProvider as _};
use opentelemetry_sdk::{
    error::OTelSdkResult,
    trace::{Sampler, SdkTracerProvider, SpanData, SpanExporter},
};
use parking_lot::Mutex;
use serde::de::IgnoredAny;
use std::{convert::Infallible, future::ready, sync::Arc};
use tokio::time::Instant;
use tracing::{Instrument as _, subscriber::DefaultGuard};
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _};

/// An exporter that keeps all spans.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Kept {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().extend(batch);
        Ok(())
    }
}

/// The spans of the current thread, and an API server that keeps the headers of its requests.
struct Scene {
    spans: Kept,
    headers: Arc<Mutex<Vec<HeaderMap>>>,
    client: Client,
    _subscriber: DefaultGuard,
}

impl Scene {
    fn new(sampler: Sampler) -> Self {
        let spans = Kept::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).with_sampler(sampler).build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test")).boxed();
        let subscriber = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        let headers = Arc::<Mutex<Vec<HeaderMap>>>::default();
        let kept = headers.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            kept.lock().push(request.headers().clone());
            let (code, body) = match request.uri().path().ends_with("gone") {
                true => (404, r#"{"kind": "Status", "code": 404, "reason": "NotFound"}"#),
                false => (200, r#"{"metadata": {"name": "web", "resourceVersion": "42"}}"#),
            };
            ready(Ok::<_, Infallible>(
                Response::builder().status(code).body(Body::from(body.as_bytes().to_vec())).unwrap(),
            ))
        });
        let client = Client::new(CallMetrics::default().wrap(kube::Client::new(service, "default")));
        Self { spans, headers, client, _subscriber: subscriber }
    }

    async fn get(&self, name: &str) {
        let kind = kind_of::<ConfigMap>();
        let target = Target { kind: &kind, namespace: Some("shop"), name };
        self.client.get::<IgnoredAny>(target).await.unwrap();
    }

    /// A pass that starts a trace.
    fn pass(&self) -> PassSpan {
        let header = Header::parse(br#"{"metadata": {"name": "web", "uid": "u", "resourceVersion": "7"}}"#).unwrap();
        let lineage = Lineage::of_next(None, true, None, Instant::now());
        PassSpan::begin(&kind_of::<ConfigMap>(), &header, Trigger::Request, &lineage)
    }

    fn span(&self, name: &str) -> SpanData {
        let spans = self.spans.0.lock();
        spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name} is not in {spans:#?}")).clone()
    }
}

fn attribute(span: &SpanData, name: &str) -> String {
    let found = span.attributes.iter().find(|attribute| attribute.key.as_str() == name);
    found.map(|attribute| attribute.value.to_string()).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_call_is_below_its_node_and_its_pass_and_the_request_has_its_context() {
    let scene = Scene::new(Sampler::AlwaysOn);
    let pass = scene.pass();
    let run = async {
        assert!(bridge::is_recorded());
        let call = async {
            scene.get("web").await;
            scene.get("gone").await;
            Err(Error::unexpected("password=hunter2"))
        };
        node::in_span(true, "pools[blue]/config", call).await
    };
    run.instrument(pass.span.clone()).await.unwrap_err();
    pass.record_result("error");
    drop(pass);
    let (pass, node, call) =
        (scene.span("pass ConfigMap"), scene.span("node pools/config"), scene.span("get configmaps"));
    assert_eq!((pass.parent_span_id, node.parent_span_id), (SpanId::INVALID, pass.span_context.span_id()));
    assert_eq!(call.parent_span_id, node.span_context.span_id());
    let parent = format!("00-{}-{}-01", call.span_context.trace_id(), call.span_context.span_id());
    assert_eq!(scene.headers.lock()[0]["traceparent"], parent);
    for (span, name, value) in [
        (&pass, "opgen.object.resource_version", "7"),
        (&pass, "opgen.pass.trigger", "request"),
        (&pass, "opgen.pass.result", "error"),
        (&node, "opgen.node.path", "pools[blue]/config"),
        (&node, "opgen.node.outcome", "error"),
        (&call, "http.request.method", "GET"),
        (&call, "http.response.status_code", "200"),
        (&call, "k8s.namespace.name", "shop"),
        (&call, "opgen.object.name", "web"),
        (&call, "opgen.object.resource_version", "42"),
    ] {
        assert_eq!(attribute(span, name), value, "{name}");
    }
    assert!(matches!(&node.status, Status::Error { description } if !description.contains("hunter2")), "{node:?}");
    let gone =
        scene.spans.0.lock().iter().find(|span| attribute(span, "opgen.object.name") == "gone").cloned().unwrap();
    assert_eq!((attribute(&gone, "error.type"), gone.status), ("404".to_owned(), Status::error("Not Found")));
}

#[tokio::test(start_paused = true)]
async fn a_call_outside_of_a_pass_has_no_span_and_no_context() {
    let scene = Scene::new(Sampler::AlwaysOn);
    scene.get("web").await;
    assert!(scene.spans.0.lock().is_empty());
    assert!(!scene.headers.lock()[0].contains_key("traceparent"));
}

#[tokio::test(start_paused = true)]
async fn a_trace_that_is_left_out_is_passed_on_as_such() {
    let scene = Scene::new(Sampler::AlwaysOff);
    let pass = scene.pass();
    assert!(pass.context.as_ref().is_some_and(|context| !context.is_sampled));
    let run = async {
        assert!(!bridge::is_recorded());
        scene.get("web").await;
    };
    run.instrument(pass.span.clone()).await;
    let header = scene.headers.lock()[0]["traceparent"].clone();
    assert!(header.to_str().unwrap().ends_with("-00"), "{header:?}");
    drop(pass);
    assert!(scene.spans.0.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_later_pass_is_a_child_of_the_first_and_a_new_trace_links_to_the_last() {
    let scene = Scene::new(Sampler::AlwaysOn);
    let header = Header::parse(br#"{"metadata": {"name": "web"}}"#).unwrap();
    let pass = |lineage: &Lineage| {
        PassSpan::begin(&kind_of::<ConfigMap>(), &header, Trigger::Children, lineage).context.unwrap()
    };
    let lineage = Lineage::of_next(None, true, None, Instant::now());
    let first = pass(&lineage);
    let open = lineage.end(first.clone(), true);
    let second = pass(&Lineage::of_next(Some(&open), false, None, Instant::now()));
    let third = pass(&Lineage::of_next(Some(&open), true, None, Instant::now()));
    assert_eq!(second.trace_id, first.trace_id);
    assert_ne!(third.trace_id, first.trace_id);
    let spans = scene.spans.0.lock();
    assert_eq!(u64::from_be_bytes(spans[1].parent_span_id.to_bytes()), first.span_id);
    let links: Vec<_> = spans[2].links.iter().map(|link| link.span_context.span_id()).collect();
    assert_eq!(links, [SpanId::from_bytes(first.span_id.to_be_bytes())]);
}
