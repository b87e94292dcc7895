//! A small OpenTelemetry collector: it receives spans as OTLP, over HTTP and over gRPC, and keeps them.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{Router, body::Bytes, http::StatusCode, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::{
        ExportTraceServiceRequest, ExportTraceServiceResponse,
        trace_service_server::{TraceService, TraceServiceServer},
    },
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, span::Link, status::StatusCode as SpanStatus},
};
use opgen_tests::wait::{self, PATIENCE};
use prost::Message as _;
use tokio::{net::TcpListener, task::JoinHandle};

/// A received span.
#[derive(Clone, Debug)]
pub(super) struct Received {
    /// The attribute `service.name` of its resource.
    pub(super) service: String,
    pub(super) name: String,
    pub(super) trace: String,
    pub(super) id: String,
    /// The id of its parent; empty for a root.
    pub(super) parent: String,
    /// The traces and the spans that it links to.
    pub(super) links: Vec<(String, String)>,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) is_error: bool,
}

impl Received {
    pub(super) fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map(String::as_str).unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<Received>>>);

impl Kept {
    fn add(&self, request: ExportTraceServiceRequest) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for resource in request.resource_spans {
            let attributes = attributes(resource.resource.map(|resource| resource.attributes).unwrap_or_default());
            let service = attributes.get("service.name").cloned().unwrap_or_default();
            let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            kept.extend(spans.map(|span| received(&service, span)));
        }
    }
}

#[tonic::async_trait]
impl TraceService for Kept {
    async fn export(
        &self,
        request: tonic::Request<ExportTraceServiceRequest>,
    ) -> Result<tonic::Response<ExportTraceServiceResponse>, tonic::Status> {
        self.add(request.into_inner());
        Ok(tonic::Response::new(ExportTraceServiceResponse::default()))
    }
}

/// A collector that runs. Dropping it stops it.
pub(super) struct Collector {
    kept: Kept,
    server: JoinHandle<()>,
}

impl Collector {
    /// Starts to listen at an address.
    pub(super) async fn start(address: SocketAddr) -> Self {
        let kept = Kept::default();
        let over_http = kept.clone();
        let receive = move |body: Bytes| {
            let request = ExportTraceServiceRequest::decode(body);
            let answer = request.map(|request| over_http.add(request)).map_err(|_| StatusCode::BAD_REQUEST);
            std::future::ready(answer)
        };
        let over_grpc = tonic::service::Routes::new(TraceServiceServer::new(kept.clone())).into_axum_router();
        let router = Router::new().route("/v1/traces", post(receive)).merge(over_grpc);
        let listener = TcpListener::bind(address).await.unwrap_or_else(|error| panic!("{address}: {error}"));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.expect("a server that runs") });
        Self { kept, server }
    }

    /// The spans so far.
    pub(super) fn spans(&self) -> Vec<Received> {
        self.kept.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until there is a span that fits, and returns the first of them.
    pub(super) async fn until(&self, what: &str, fits: impl Fn(&Received) -> bool) -> Received {
        wait::until(format!("the collector has {what}"), PATIENCE, async || {
            let spans = self.spans();
            let found = spans.iter().find(|span| fits(span)).cloned();
            found.ok_or_else(|| spans.iter().map(|span| format!("{} {}\n", span.service, span.name)).collect())
        })
        .await
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn received(service: &str, span: Span) -> Received {
    let link = |link: Link| (hex(&link.trace_id), hex(&link.span_id));
    Received {
        service: service.to_owned(),
        name: span.name,
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        links: span.links.into_iter().map(link).collect(),
        attributes: attributes(span.attributes),
        is_error: span.status.is_some_and(|status| status.code() == SpanStatus::Error),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attributes(pairs: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::StringValue(text) => text,
        Value::IntValue(number) => number.to_string(),
        Value::BoolValue(is) => is.to_string(),
        other => format!("{other:?}"),
    };
    let value = |pair: &KeyValue| pair.value.clone().and_then(|value| value.value).map(text).unwrap_or_default();
    pairs.into_iter().map(|pair| (pair.key.clone(), value(&pair))).collect()
}
