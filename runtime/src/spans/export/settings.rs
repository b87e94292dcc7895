//! `ExportSettings`: the collector, the sampling ratio and the service name for the export of spans.

use http::Uri;
use std::{fmt, path::PathBuf};

/// The advice for an endpoint that is no URL.
pub(crate) const NO_URL: &str = "write a URL such as http://collector:4318";

/// Returns whether a text is a URL with a host and the scheme `http` or `https`.
pub(crate) fn is_collector_url(text: &str) -> bool {
    let is_url = |uri: &Uri| uri.host().is_some() && matches!(uri.scheme_str(), Some("http" | "https"));
    text.parse().is_ok_and(|uri| is_url(&uri))
}

/// The settings of the export.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct ExportSettings {
    /// The URL to which spans are sent, with its path.
    pub(crate) endpoint: String,
    /// Headers of each request.
    pub(crate) headers: Vec<(String, String)>,
    /// The file with the certificates of the authorities that the collector's certificate must be from; `None` for those of the system.
    pub(crate) certificate: Option<PathBuf>,
    /// The fraction of traces that is exported; `None` for all.
    pub(crate) sampling_ratio: Option<f64>,
    /// The name of the service; `None` for that of the operator.
    pub(crate) service_name: Option<String>,
    /// Attributes of the service.
    pub(crate) resource_attributes: Vec<(String, String)>,
    pub(crate) service: ServiceFacts,
}

/// The names of the running operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ServiceFacts {
    /// The name and the version of the operator; `None` if the caller does not know them.
    pub(crate) operator: Option<(String, String)>,
}

/// Hides the headers, which may have secrets.
impl fmt::Debug for ExportSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExportSettings").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// The reasons why spans can't be exported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    /// The operator was built without the feature `otlp`.
    #[cfg_attr(feature = "otlp", expect(dead_code, reason = "only a build without the feature returns it"))]
    #[error("the operator was built without the feature `otlp` of the crate opgen")]
    NotBuilt,
    /// A setting is wrong.
    #[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "only a build with the feature returns it"))]
    #[error("failed to set up the export of spans: {0}")]
    Invalid(String),
}
