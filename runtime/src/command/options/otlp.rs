//! Defines the options of the export of spans by OTLP.

use super::{duration::parse, merge::overriding};
use crate::spans::export::{ExportSettings, NO_URL, ServiceFacts, is_collector_url, parse_pairs};
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error};
use std::{env, fmt, path::PathBuf};

/// The variable of the endpoint, which other signals share.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// The variable of the sampling ratio.
const RATIO: &str = "OTEL_TRACES_SAMPLER_ARG";
/// The variable of the headers.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// The path of spans below the endpoint.
const PATH: &str = "/v1/traces";

/// The export of spans to an OpenTelemetry collector, for operators that are built with the feature `otlp`.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(super) struct OtlpOptions {
    /// URL of an OpenTelemetry collector that receives spans as OTLP over HTTP, for example http://collector:4318 [default: none, spans are not recorded]
    #[arg(long, env = ENDPOINT, value_name = "URL")]
    #[serde(rename = "endpoint", deserialize_with = "optional_endpoint")]
    pub(super) otlp_endpoint: Option<String>,
    /// Headers of each export, as key=value pairs separated by commas [default: none]
    #[arg(long, env = HEADERS, hide_env_values = true, value_name = "PAIRS", value_parser = Headers::parse)]
    #[serde(rename = "headers")]
    #[schemars(with = "Option<String>")]
    pub(super) otlp_headers: Option<Headers>,
    /// PEM file with the certificates of the authorities that the collector's certificate must be from [default: those of the system]
    #[arg(long, env = "OTEL_EXPORTER_OTLP_CERTIFICATE", value_name = "FILE")]
    #[serde(rename = "certificate")]
    pub(super) otlp_certificate: Option<PathBuf>,
    /// Fraction of traces that are recorded, from 0 to 1 [default: 1]
    #[arg(long, env = RATIO, value_name = "NUMBER", value_parser = ratio)]
    #[serde(rename = "samplingRatio", deserialize_with = "optional_ratio")]
    #[schemars(range(min = 0, max = 1))]
    pub(super) otlp_sampling_ratio: Option<f64>,
    /// Name of the service in spans [default: the operator's name]
    #[arg(long, env = "OTEL_SERVICE_NAME", value_name = "NAME")]
    #[serde(rename = "serviceName")]
    pub(super) otlp_service_name: Option<String>,
    /// Attributes of the service in spans, as key=value pairs separated by commas [default: none]
    #[arg(long, env = "OTEL_RESOURCE_ATTRIBUTES", value_name = "PAIRS", value_parser = checked_pairs)]
    #[serde(rename = "resourceAttributes", deserialize_with = "optional_pairs")]
    pub(super) otlp_resource_attributes: Option<String>,
}

overriding!(OtlpOptions {
    otlp_endpoint,
    otlp_headers,
    otlp_certificate,
    otlp_sampling_ratio,
    otlp_service_name,
    otlp_resource_attributes,
});

impl OtlpOptions {
    /// Returns the settings of the export of spans; `None` if there is no endpoint, or if a variable of OpenTelemetry turns the export off.
    ///
    /// `self` are the effective options, and `flags` those of the command line and the environment, without the file. A flag overrides the
    /// variables for traces alone (`OTEL_EXPORTER_OTLP_TRACES_...`), which override the common variables and the file. clap reads the
    /// common variables into `flags`, so only a value that differs from the variable counts as that of a flag.
    pub(super) fn settings(&self, flags: &Self, service: ServiceFacts) -> Option<ExportSettings> {
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
        let endpoint = self.endpoint(flags).filter(|_| !is_off)?;
        let pairs = |text: &str| parse_pairs(text).unwrap_or_default();
        let certificate = self.otlp_certificate.clone().filter(|path| !path.as_os_str().is_empty());
        Some(ExportSettings {
            endpoint,
            headers: self.headers(flags),
            certificate,
            sampling_ratio: self.sampling_ratio(flags),
            service_name: self.otlp_service_name.clone().filter(|name| !name.is_empty()),
            resource_attributes: self.otlp_resource_attributes.as_deref().map(pairs).unwrap_or_default(),
            service,
        })
    }

    /// Returns the fraction of traces that are recorded; `None` for all. A variable `OTEL_TRACES_SAMPLER` that turns sampling always on or
    /// off overrides a ratio of the variable or the file, and not one of the flag.
    fn sampling_ratio(&self, flags: &Self) -> Option<f64> {
        let variable_ratio = variable(RATIO).and_then(|text| ratio(&text).ok());
        let is_flag = flags.otlp_sampling_ratio.is_some() && flags.otlp_sampling_ratio != variable_ratio;
        if is_flag { self.otlp_sampling_ratio } else { ratio_of_sampler().or(self.otlp_sampling_ratio) }
    }

    /// Returns the URL for spans: the endpoint for traces alone, unless a flag sets the common endpoint, else `/v1/traces` below the common
    /// endpoint. `flags` are the options without those of the file.
    fn endpoint(&self, flags: &Self) -> Option<String> {
        let is_flag = flags.otlp_endpoint.is_some() && flags.otlp_endpoint != variable(ENDPOINT);
        let trace_endpoint = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").filter(|_| !is_flag);
        let common = || self.otlp_endpoint.as_ref().filter(|endpoint| !endpoint.is_empty());
        trace_endpoint.or_else(|| common().map(|endpoint| format!("{}{PATH}", endpoint.trim_end_matches('/'))))
    }

    /// Returns the headers of each export: those for traces alone, unless a flag sets the common headers, else the common headers. `flags`
    /// are the options without those of the file.
    fn headers(&self, flags: &Self) -> Vec<(String, String)> {
        let flag_headers = flags.otlp_headers.as_ref().map(|headers| headers.0.clone());
        let is_flag = flag_headers.is_some() && flag_headers != variable(HEADERS);
        let trace_headers = variable("OTEL_EXPORTER_OTLP_TRACES_HEADERS").filter(|_| !is_flag);
        let chosen = trace_headers.or_else(|| self.otlp_headers.as_ref().map(|headers| headers.0.clone()));
        chosen.and_then(|text| parse_pairs(&text).ok()).unwrap_or_default()
    }
}

/// Returns the value of a variable that is set and not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the ratio of the sampler in `OTEL_TRACES_SAMPLER` if it samples all traces or none; `None` for samplers with a ratio, and
/// without the variable.
fn ratio_of_sampler() -> Option<f64> {
    match variable("OTEL_TRACES_SAMPLER")?.trim_start_matches("parentbased_") {
        "always_on" => Some(1.0),
        "always_off" => Some(0.0),
        _ => None,
    }
}

/// Headers, which may have secrets: they are not printed.
#[derive(Clone, Default, Deserialize, PartialEq)]
#[serde(try_from = "String")]
pub(super) struct Headers(pub(super) String);

impl Headers {
    /// Checks that the text has valid headers, as `name=value` pairs. Keeps the text, which is compared with the environment variable.
    fn parse(text: &str) -> Result<Self, String> {
        for (name, value) in parse_pairs(text)? {
            let is_valid = http::HeaderName::try_from(&name).is_ok() && http::HeaderValue::try_from(&value).is_ok();
            if !is_valid {
                return Err(format!("`{name}` is no valid header"));
            }
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for Headers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Headers")
    }
}

/// Checks the URL of a collector; an empty text is none. A variable is checked only when spans are exported: it may be meant for other
/// programs.
fn checked_endpoint(text: &str) -> Result<String, String> {
    if text.is_empty() || is_collector_url(text) { Ok(text.to_owned()) } else { Err(NO_URL.to_owned()) }
}

/// Deserializes the URL of a collector.
fn optional_endpoint<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    parse(deserializer, checked_endpoint)
}

/// Checks a list of pairs.
fn checked_pairs(text: &str) -> Result<String, String> {
    parse_pairs(text).map(|_| text.to_owned())
}

/// Deserializes a list of pairs.
fn optional_pairs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    parse(deserializer, checked_pairs)
}

/// Parses a fraction of the command line.
fn ratio(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("{text:?} is no number")).and_then(checked_ratio)
}

/// Deserializes a fraction.
fn optional_ratio<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Option::<f64>::deserialize(deserializer)?.map(|ratio| checked_ratio(ratio).map_err(D::Error::custom)).transpose()
}

/// Checks that a number is a fraction.
fn checked_ratio(ratio: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&ratio) { Ok(ratio) } else { Err("a ratio must be from 0 to 1".to_owned()) }
}
