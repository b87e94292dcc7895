//! `ManagerOptions`: all options of an operator's process, as flags of the command line and as keys of the configuration file.

use super::{
    address::BindAddress,
    client::ClientOptions,
    controllers::ControllerOptions,
    duration::{duration_or_zero, optional_or_zero},
    leader_election::LeaderElectionOptions,
    log_options::LogOptions,
    merge::overriding,
    metrics::MetricsOptions,
    nats::BucketOptions,
    otlp::OtlpOptions,
    webhooks::WebhookOptions,
};
use crate::shard::hash::ShardCount;
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};
use std::{collections::BTreeMap, time::Duration};

/// The options of an operator's process and of its controllers.
///
/// A flag overrides an environment variable, which overrides the file, which overrides the code of the operator.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(super) struct ManagerOptions {
    /// Watch these namespaces only, separated by commas; an empty text is all [default: all, or the operator's own if it is namespaced]
    #[arg(
        long = "namespace",
        alias = "namespaces",
        env = "WATCH_NAMESPACE",
        value_name = "NAMESPACES",
        value_delimiter = ','
    )]
    pub(super) namespaces: Option<Vec<String>>,
    /// Time for running passes to end after a stop signal [default: the operator's, else 30s]
    #[arg(long, env = "SHUTDOWN_TIMEOUT", value_name = "DURATION", value_parser = duration_or_zero)]
    #[serde(deserialize_with = "optional_or_zero")]
    #[schemars(with = "Option<String>")]
    pub(super) shutdown_timeout: Option<Duration>,
    /// Number of shards by which the objects are spread over the replicas, at most 256; `0` is none [default: the operator's, else 0]
    #[arg(long, env = "SHARDS", value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(0..=256))]
    #[serde(deserialize_with = "optional_shards")]
    #[schemars(range(max = 256))]
    pub(super) shards: Option<u16>,
    #[command(flatten)]
    pub(super) probes: ProbeOptions,
    #[command(flatten)]
    pub(super) metrics: MetricsOptions,
    #[command(flatten)]
    pub(super) webhooks: WebhookOptions,
    #[command(flatten)]
    pub(super) log: LogOptions,
    #[command(flatten)]
    pub(super) otlp: OtlpOptions,
    #[command(flatten)]
    pub(super) client: ClientOptions,
    #[command(flatten)]
    pub(super) nats: BucketOptions,
    #[command(flatten)]
    pub(super) leader_election: LeaderElectionOptions,
    #[command(flatten)]
    pub(super) controllers: ControllerOptions,
    /// The options of the controllers of single kinds, by the name of the kind, for example `WebApp` or `WebApp.demo.example.com`. They
    /// override `controllers`.
    #[arg(skip)]
    pub(super) kinds: Option<BTreeMap<String, ControllerOptions>>,
}

overriding!(ManagerOptions {
    namespaces,
    shutdown_timeout,
    shards,
    probes,
    metrics,
    webhooks,
    log,
    otlp,
    client,
    nats,
    leader_election,
    controllers,
    kinds,
});

/// Deserializes an optional number of shards, and refuses one above the maximum.
fn optional_shards<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    match Option::deserialize(deserializer)? {
        Some(count) if count > ShardCount::MAX => {
            Err(D::Error::custom(format!("{count} shards are too many; the maximum is {}", ShardCount::MAX)))
        }
        count => Ok(count),
    }
}

/// The server of the health and readiness probes.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(super) struct ProbeOptions {
    /// Address of /healthz and /readyz; `0` disables them [default: 0.0.0.0:8081]
    #[arg(long, env = "PROBE_ADDRESS", value_name = "ADDRESS")]
    #[serde(rename = "address", deserialize_with = "BindAddress::optional")]
    #[schemars(with = "Option<String>", extend("type" = ["string", "integer", "null"]))]
    pub(super) probe_address: Option<BindAddress>,
}

overriding!(ProbeOptions { probe_address });
