//! Defines the options of the log: its filter and its format.

use super::{duration::parse, merge::overriding};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use tracing_subscriber::EnvFilter;

/// The log, which is written to standard error.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(super) struct LogOptions {
    /// Log filter, by module and level; in the file, a change takes effect without a restart [default: info]
    #[arg(long, env = "RUST_LOG", value_name = "FILTER", value_parser = checked_filter)]
    #[serde(rename = "filter", deserialize_with = "optional_filter")]
    pub(super) log: Option<String>,
    /// Log format [default: text]
    #[arg(long, env = "LOG_FORMAT", value_name = "FORMAT", value_enum)]
    #[serde(rename = "format")]
    pub(super) log_format: Option<LogFormat>,
}

overriding!(LogOptions { log, log_format });

impl LogOptions {
    /// Returns the log filter, or the default.
    pub(super) fn filter(&self) -> &str {
        self.log.as_deref().unwrap_or("info")
    }
}

/// The format of the log.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "camelCase")]
pub(super) enum LogFormat {
    /// Lines of text
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

/// Silences the log of failed calls and watches of `kube`. The operator logs each with its object or kind, and repeated lines
/// would hide that. It also keeps the spans of the runtime out of the log, whose lines name the object themselves. A filter that
/// names these modules takes precedence.
const QUIET_FILTER: &str = "kube_client::client=off,kube_client::client::tls=warn,kube_client::client::auth=warn,\
    kube_runtime=off,opgen::trace=off";

/// Parses a log filter.
pub(super) fn parse_filter(text: &str) -> Result<EnvFilter, String> {
    let filter = EnvFilter::try_new(format!("{QUIET_FILTER},{text}"));
    filter.map_err(|error| format!("{error}; use a level such as debug, or `module=level,...`"))
}

/// Checks a log filter.
fn checked_filter(text: &str) -> Result<String, String> {
    parse_filter(text).map(|_| text.to_owned())
}

/// Deserializes a log filter.
fn optional_filter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    parse(deserializer, checked_filter)
}
