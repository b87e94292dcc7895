//! The options of an operator's process: flags, environment variables, and a configuration file.
//!
//! [`ManagerArgs`] is the group of the flags. [`ManagerArgs::load`] reads the file and returns the [`OperatorConfiguration`], which
//! applies the options to an operator.

mod address;
mod client;
mod configuration;
mod controllers;
mod correlated;
mod duration;
mod error;
mod file;
mod group;
mod keys;
mod leader_election;
mod log_options;
mod log_reload;
mod manager_args;
mod merge;
mod metrics;
mod nats;
mod otlp;
mod schema;
#[cfg(test)]
mod tests;
mod webhooks;

pub(crate) use nats::BucketOptions;

pub use configuration::OperatorConfiguration;
pub use error::ConfigurationError;
pub use log_reload::LogReload;
pub use manager_args::ManagerArgs;
pub use schema::configuration_schema;
