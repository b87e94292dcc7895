//! Exports spans to an OpenTelemetry collector by OTLP over HTTP, with the feature `otlp`.

mod layer;
mod pairs;
#[cfg(feature = "otlp")]
mod provider;
#[cfg(feature = "otlp")]
mod reported;
mod settings;
#[cfg(feature = "otlp")]
mod transport;
#[cfg(not(feature = "otlp"))]
mod unavailable;

pub(crate) use layer::BoxedLayer;
pub(crate) use pairs::parse_pairs;
#[cfg(feature = "otlp")]
pub(crate) use provider::{flush, start};
pub(crate) use settings::{ExportError, ExportSettings, NO_URL, ServiceFacts, is_collector_url};
#[cfg(not(feature = "otlp"))]
pub(crate) use unavailable::{flush, start};
