//! Tests that the log lines of a traced reconcile pass have the ids of the trace and of its span.

use super::reload::Lines;
use crate::{
    cache::Header,
    command::options::{
        log_options::{LogFormat, LogOptions},
        log_reload::LogReload,
    },
    kind::kind_of,
    queue::Trigger,
    spans::{convergence::Lineage, pass::PassSpan},
};
use k8s_openapi::api::core::v1::ConfigMap;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::time::Instant;
use tracing::Instrument as _;
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _};

#[tokio::test(start_paused = true)]
async fn each_log_line_of_a_traced_pass_has_its_ids_and_not_its_attributes() {
    for log_format in [LogFormat::Text, LogFormat::Json] {
        let (lines, options) = (Lines::default(), LogOptions { log_format: Some(log_format), ..LogOptions::default() });
        let writer = lines.clone();
        let (_reload, log) = LogReload::new(options, None, move || writer.clone(), false).unwrap();
        let provider = SdkTracerProvider::builder().build();
        let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("test")).boxed();
        let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry().with(vec![log, spans]));
        let header = Header::parse(br#"{"metadata": {"name": "web"}}"#).unwrap();
        let lineage = Lineage::of_next(None, true, None, Instant::now());
        let pass = PassSpan::begin(&kind_of::<ConfigMap>(), &header, Trigger::Request, &lineage);
        tracing::info!("before");
        async { tracing::info!(object = "web", "within") }.instrument(pass.span.clone()).await;
        let (context, text) = (pass.context.unwrap(), lines.take());
        let lines: Vec<_> = text.lines().collect();
        assert!(!lines[0].contains("trace_id"), "{text}");
        for id in [context.trace_id_text(), context.span_id_text()] {
            assert!(lines[1].contains(&id), "{text}");
        }
        assert!(!lines[1].contains("opgen.") && lines[1].matches("web").count() == 1, "{text}");
    }
}
