//! Defines the options of the client: timeouts, page size and rate limit.

use super::{
    duration::{duration, optional},
    merge::overriding,
};
use crate::{
    client::{rate_limit::RateLimit, timeouts::Timeouts},
    manager::operator::Operator,
};
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error};
use std::{num::NonZeroU32, time::Duration};

/// The requests to the API server.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(super) struct ClientOptions {
    /// Timeout of a connection to the API server, including TLS [default: the operator's, else 10s]
    #[arg(long, env = "CONNECT_TIMEOUT", value_name = "DURATION", value_parser = duration)]
    #[serde(deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    pub(super) connect_timeout: Option<Duration>,
    /// Timeout until the API server starts its response to a request [default: the operator's, else 70s]
    #[arg(long, env = "RESPONSE_TIMEOUT", value_name = "DURATION", value_parser = duration)]
    #[serde(deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    pub(super) response_timeout: Option<Duration>,
    /// Timeout of the rest of a response, except for watches [default: the operator's, else 60s]
    #[arg(long, env = "BODY_TIMEOUT", value_name = "DURATION", value_parser = duration)]
    #[serde(deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    pub(super) body_timeout: Option<Duration>,
    /// Restart a watch that receives no event or bookmark for this time [default: the operator's, else 150s]
    #[arg(long, env = "WATCH_TIMEOUT", value_name = "DURATION", value_parser = duration)]
    #[serde(deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    pub(super) watch_timeout: Option<Duration>,
    /// Maximum number of objects in one page of a list [default: the operator's, else 500]
    #[arg(long, env = "PAGE_SIZE", value_name = "NUMBER")]
    pub(super) page_size: Option<NonZeroU32>,
    /// Maximum average number of requests a second, without leader election; `0` is no limit [default: the operator's, else no
    /// limit]
    #[arg(long, env = "KUBE_API_QPS", value_name = "NUMBER", value_parser = rate)]
    #[serde(rename = "qps", deserialize_with = "optional_rate")]
    #[schemars(range(min = 0))]
    pub(super) kube_api_qps: Option<f64>,
    /// Number of requests that exceed the rate for a moment [default: the operator's, else the rate, rounded up]
    #[arg(long, env = "KUBE_API_BURST", value_name = "NUMBER")]
    #[serde(rename = "burst")]
    pub(super) kube_api_burst: Option<NonZeroU32>,
}

overriding!(ClientOptions {
    connect_timeout,
    response_timeout,
    body_timeout,
    watch_timeout,
    page_size,
    kube_api_qps,
    kube_api_burst,
});

impl ClientOptions {
    /// Overrides the timeouts, the page size and the rate limit of an operator with the options that are set. A rate without a burst
    /// keeps the operator's burst; if the operator has none, the burst is the rate, rounded up. A rate of zero is no limit.
    pub(super) fn apply_to(&self, operator: &mut Operator) {
        let set = |timeouts: Timeouts, time: Option<Duration>, setter: fn(Timeouts, Duration) -> Timeouts| match time {
            Some(time) => setter(timeouts, time),
            None => timeouts,
        };
        let timeouts = set(operator.timeouts, self.connect_timeout, Timeouts::connect);
        let timeouts = set(timeouts, self.response_timeout, Timeouts::response);
        let timeouts = set(timeouts, self.body_timeout, Timeouts::body);
        operator.timeouts = set(timeouts, self.watch_timeout, Timeouts::watch);
        operator.page_size = self.page_size.map_or(operator.page_size, NonZeroU32::get);
        let operator_limit = operator.rate_limit;
        operator.rate_limit = self.kube_api_qps.or(operator_limit.map(|limit| limit.qps)).and_then(|qps| {
            let burst = self.kube_api_burst.map(NonZeroU32::get).or(operator_limit.map(|limit| limit.burst));
            RateLimit::new(qps, burst.unwrap_or(qps.ceil() as u32))
        });
    }
}

/// Parses a rate of the command line.
fn rate(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("{text:?} is no number")).and_then(check_rate)
}

/// Deserializes a rate of the configuration file.
fn optional_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Option::<f64>::deserialize(deserializer)?.map(|rate| check_rate(rate).map_err(D::Error::custom)).transpose()
}

/// Checks that a rate is zero or positive.
fn check_rate(rate: f64) -> Result<f64, String> {
    if rate.is_finite() && rate >= 0.0 { Ok(rate) } else { Err("a rate must be zero or positive".to_owned()) }
}
