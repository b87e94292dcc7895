//! Implements the verbs (subcommands) of an operator's command line, one file each.

pub(crate) mod cli;
pub(crate) mod connect;
pub(crate) mod live;
pub(crate) mod lookup;
pub(crate) mod object_arg;
mod options;
mod profile;
pub(crate) mod rbac;
pub(crate) mod reconcile;
pub(crate) mod relay;
pub(crate) mod terminal;
pub(crate) mod trace;
pub(crate) mod tree;
pub(crate) mod uninstall;
pub(crate) mod why;

pub use {
    cli::LEAD_LOST_STATUS,
    lookup::LookupError,
    options::{ConfigurationError, LogReload, ManagerArgs, OperatorConfiguration, configuration_schema},
    why::cause::Why,
};
