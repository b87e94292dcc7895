//! Defines the options of controllers: workers, requeue delay, resync period and backoff.

use super::{
    duration::{duration, duration_or_zero, optional, optional_or_zero},
    merge::overriding,
};
use crate::controller::overrides::SettingOverrides;
use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;
use std::{num::NonZeroUsize, time::Duration};

/// The options of controllers, of all of them or of the one of a kind.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(super) struct ControllerOptions {
    /// Number of objects that each controller reconciles at a time [default: the controller's, else 16]
    #[arg(long, env = "WORKERS", value_name = "NUMBER")]
    workers: Option<NonZeroUsize>,
    /// Delay until the next pass over an object that is not in its wanted state yet [default: the controller's, else 10s]
    #[arg(long, env = "REQUEUE_AFTER", value_name = "DURATION", value_parser = duration)]
    #[serde(deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    requeue_after: Option<Duration>,
    /// Period after which every object is reconciled again; `0s` waits for changes [default: the controller's, else 0s]
    #[arg(long, env = "RESYNC_PERIOD", value_name = "DURATION", value_parser = duration_or_zero)]
    #[serde(deserialize_with = "optional_or_zero")]
    #[schemars(with = "Option<String>")]
    resync_period: Option<Duration>,
    /// Delay after the first error of an object [default: the controller's, else 10s]
    #[arg(long, env = "BACKOFF_BASE", value_name = "DURATION", value_parser = duration)]
    #[serde(deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    backoff_base: Option<Duration>,
    /// Maximum delay after errors; the delay doubles with each error up to it [default: the controller's, else the same delay each time]
    #[arg(long, env = "BACKOFF_CAP", value_name = "DURATION", value_parser = duration)]
    #[serde(deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    backoff_cap: Option<Duration>,
}

overriding!(ControllerOptions { workers, requeue_after, resync_period, backoff_base, backoff_cap });

impl ControllerOptions {
    /// Returns the options that are set as overrides of the settings in the code of a controller.
    pub(super) fn overrides(&self) -> SettingOverrides {
        SettingOverrides {
            workers: self.workers.map(NonZeroUsize::get),
            requeue_after: self.requeue_after,
            resync_period: self.resync_period,
            backoff_base: self.backoff_base,
            backoff_cap: self.backoff_cap,
        }
    }
}
