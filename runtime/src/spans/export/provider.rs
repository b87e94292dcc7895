//! Creates the `TracerProvider` of OpenTelemetry: sampler, attributes of the process, batches and OTLP exporter.

use super::{
    layer::BoxedLayer,
    reported::ReportedExporter,
    settings::{ExportError, ExportSettings, NO_URL, is_collector_url},
    transport::CollectorClient,
};
use crate::spans::{pass::PASS_NUMBER, sampling, target::TARGET};
use opentelemetry::{
    Context, InstrumentationScope, KeyValue,
    trace::{Link, SpanKind, TraceId, TracerProvider as _},
};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkError,
    resource::TelemetryResourceDetector,
    trace::{Sampler, SamplingResult, SdkTracerProvider, ShouldSample},
};
use std::{sync::OnceLock, time::Duration};
use tokio::sync::oneshot;
use tracing::{Level, Metadata, level_filters::LevelFilter};
use tracing_subscriber::{Layer as _, filter::filter_fn};

/// The provider of the process.
static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

/// The variables that the generated Deployment sets, and the attributes of the resource with their values.
const POD_VARIABLES: [(&str, &str); 3] =
    [("POD_NAMESPACE", "k8s.namespace.name"), ("POD_NAME", "k8s.pod.name"), ("POD_UID", "k8s.pod.uid")];

/// Starts the export of spans to the collector of the settings, in a thread of its own. Returns the layer of the `tracing` subscriber that
/// records spans for the export.
///
/// # Errors
/// Fails if a setting is invalid.
pub(crate) fn start(settings: &ExportSettings) -> Result<BoxedLayer, ExportError> {
    if !is_collector_url(&settings.endpoint) {
        return Err(ExportError::Invalid(format!("{:?}: {NO_URL}", settings.endpoint)));
    }
    let client = CollectorClient::new(settings).map_err(ExportError::Invalid)?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(&settings.endpoint)
        .build()
        .map_err(|error| ExportError::Invalid(error.to_string()))?;
    let ratio = settings.sampling_ratio.unwrap_or(1.0);
    sampling::set_ratio(ratio);
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(ReportedExporter::new(exporter, &settings.endpoint))
        .with_sampler(PassSampler { others: Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(ratio))) })
        .with_resource(resource(settings))
        .build();
    let scope = InstrumentationScope::builder("opgen").with_version(env!("CARGO_PKG_VERSION")).build();
    let tracer = provider.tracer_with_scope(scope);
    // If an export runs already, its provider stays: a second subscriber of the process is refused later.
    let _ = PROVIDER.set(provider);
    let layer = tracing_opentelemetry::layer()
        .with_tracer(tracer)
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false);
    Ok(layer.with_filter(filter_fn(is_exported).with_max_level_hint(LevelFilter::DEBUG)).boxed())
}

/// Records all spans of passes, since a pass of an unrecorded trace has no span, and a fraction of the traces that other code begins.
#[derive(Clone, Debug)]
struct PassSampler {
    others: Sampler,
}

impl ShouldSample for PassSampler {
    /// Samples each span with the number of a pass, and lets `others` decide about all other spans.
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace_id: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        let is_pass = attributes.iter().any(|attribute| attribute.key.as_str() == PASS_NUMBER);
        let sampler = if is_pass { &Sampler::AlwaysOn } else { &self.others };
        sampler.should_sample(parent, trace_id, name, kind, attributes, links)
    }
}

/// Returns whether spans with this metadata are exported: all spans of the runtime, and spans of other code at the level info or above. Log
/// events are not exported; log lines have the ids of their span instead.
fn is_exported(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && (metadata.target() == TARGET || *metadata.level() <= Level::INFO)
}

/// Returns the OpenTelemetry resource: the attributes that describe the operator. Later sources override earlier ones: the environment
/// variables of the Pod, the name and version of the operator (or the name of the program), the attributes and the name in the settings.
fn resource(settings: &ExportSettings) -> Resource {
    let pod = POD_VARIABLES.iter().filter_map(|(variable, key)| Some((*key, std::env::var(variable).ok()?)));
    let mut attributes: Vec<_> = pod.map(|(key, value)| KeyValue::new(key, value)).collect();
    if let Some((name, version)) = &settings.service.operator {
        attributes
            .extend([("service.name", name), ("service.version", version)].map(|(k, v)| KeyValue::new(k, v.clone())));
    } else if let Some(program) = program_name() {
        attributes.push(KeyValue::new("service.name", program));
    }
    let chosen = settings.resource_attributes.iter().cloned();
    let name = settings.service_name.iter().map(|name| ("service.name".to_owned(), name.clone()));
    attributes.extend(chosen.chain(name).map(|(key, value)| KeyValue::new(key, value)));
    let builder = Resource::builder_empty().with_detector(Box::new(TelemetryResourceDetector));
    builder.with_attributes(attributes).build()
}

/// Returns the name of the file of this program.
fn program_name() -> Option<String> {
    Some(std::env::current_exe().ok()?.file_name()?.to_str()?.to_owned())
}

/// Exports all spans that have ended, and waits for this time at most. Does nothing for a limit of zero, or without an export.
pub(crate) async fn flush(limit: Duration) {
    let Some(provider) = PROVIDER.get().filter(|_| !limit.is_zero()).cloned() else { return };
    let (sender, receiver) = oneshot::channel();
    // A thread of its own, since the end of the tokio runtime would wait for a task of `spawn_blocking`.
    std::thread::spawn(move || drop(sender.send(provider.force_flush())));
    match tokio::time::timeout(limit, receiver).await {
        Ok(Ok(Ok(()))) => {}
        // The exporter has logged the error.
        Ok(Ok(Err(OTelSdkError::InternalFailure(_)))) => {}
        _ => tracing::warn!("some spans were not exported before the shutdown"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::spans::export::ServiceFacts;
    use opentelemetry::Key;

    #[test]
    fn an_endpoint_that_is_no_url_is_refused() {
        let settings = ExportSettings { endpoint: "collector:4317".to_owned(), ..ExportSettings::default() };
        let error = start(&settings).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("\"collector:4317\": write a URL such as http://collector:4318"), "{error}");
    }

    #[test]
    fn the_name_of_the_service_comes_from_the_most_specific_setting() {
        let name = |settings: &ExportSettings| resource(settings).get(&Key::new("service.name")).unwrap().to_string();
        let operator = Some(("webapp".to_owned(), "1.2.0".to_owned()));
        let mut settings = ExportSettings::default();
        assert!(!name(&settings).is_empty(), "the program has a name");
        settings.service = ServiceFacts { operator };
        assert_eq!(name(&settings), "webapp");
        assert_eq!(resource(&settings).get(&Key::new("service.version")).unwrap().to_string(), "1.2.0");
        settings.resource_attributes = vec![("service.name".to_owned(), "shop".to_owned())];
        assert_eq!(name(&settings), "shop");
        settings.service_name = Some("blue".to_owned());
        assert_eq!(name(&settings), "blue");
    }
}
