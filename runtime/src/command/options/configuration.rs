//! `OperatorConfiguration`: the options of an operator's process from flags, environment and configuration file. It applies them to an
//! operator, and starts the log.

use super::{
    address::BindAddress, controllers::ControllerOptions, error::ConfigurationError, file::ConfigurationFile,
    group::ManagerOptions, log_reload::LogReload,
};
use crate::{
    kind::Kind,
    manager::{operator::Operator, run_options::RunOptions},
    nearest::nearest,
    spans::export::{ExportSettings, ServiceFacts},
};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The address of the probes if no option sets one.
const DEFAULT_PROBE_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 8081);

/// The options of an operator's process from the command line, the environment and the configuration file.
///
/// [`ManagerArgs::load`](super::ManagerArgs::load) creates it.
#[derive(Clone, Debug)]
pub struct OperatorConfiguration {
    /// The flags and the environment variables.
    pub(super) flags: ManagerOptions,
    pub(super) file: Option<ConfigurationFile>,
}

impl OperatorConfiguration {
    /// Applies the options to an operator and to the options of its run. An option that is not set keeps the value of the code.
    /// The default address is `0.0.0.0:8081` for the probes, and `[::]:9443` for the webhooks if the operator has any.
    ///
    /// # Errors
    /// Fails if the file has options for a kind that the operator does not control, if the options of leader election contradict
    /// each other, or if there are credentials for NATS but no URL.
    pub fn apply_to(
        &self,
        mut operator: Operator,
        mut run: RunOptions,
    ) -> Result<(Operator, RunOptions), ConfigurationError> {
        let options = self.options();
        if let Some(namespaces) = options.namespaces {
            run.namespaces = namespaces;
        }
        run.probes = match options.probes.probe_address {
            Some(BindAddress(address)) => address,
            None => run.probes.or(Some(DEFAULT_PROBE_ADDRESS)),
        };
        run.metrics = options.metrics.override_server(run.metrics);
        run.webhooks = options.webhooks.override_server(run.webhooks, operator.has_webhooks());
        operator.shutdown = options.shutdown_timeout.unwrap_or(operator.shutdown);
        if let Some(shards) = options.shards {
            operator = operator.shards(shards);
        }
        options.client.apply_to(&mut operator);
        options.nats.apply_to(&mut operator)?;
        let election = run.leader_election.take().or(operator.leader_election.take());
        operator.shard_leases = Some(options.leader_election.override_leases(election.clone()));
        operator.leader_election = options.leader_election.override_options(election);
        // Shards have Leases with the same times, also without leader election.
        let leases = operator.shard_leases.as_ref().filter(|_| operator.shards.is_some());
        if let Some(election) = operator.leader_election.as_ref().or(leases) {
            election.check().map_err(ConfigurationError::LeaderElection)?;
        }
        self.check_kinds(&operator)?;
        let kinds = operator.factories.iter().map(|factory| factory.kind());
        operator.overrides = kinds.map(|kind| (kind.clone(), self.controller_options(&kind).overrides())).collect();
        Ok((operator, run))
    }

    /// Starts the log of the process on standard error, with the filter and the format of the options. Keep the returned value
    /// running, so that a change of the filter in the file takes effect.
    ///
    /// With an endpoint for spans, and the feature `otlp` of this crate, it starts their export as well. The name of the service is
    /// that of the program, unless an option sets it.
    ///
    /// # Errors
    /// Fails if the process has a log already, or if the options of the export can't be used.
    pub fn start_log(&self) -> Result<LogReload, ConfigurationError> {
        self.start_log_of(ServiceFacts::default())
    }

    /// Starts the log as [`OperatorConfiguration::start_log`] does; the name of the service is that of an operator.
    pub(crate) fn start_log_of(&self, service: ServiceFacts) -> Result<LogReload, ConfigurationError> {
        LogReload::start(self.flags.log.clone(), self.file.clone(), self.export_settings(service))
    }

    /// Returns the settings of the export of spans; `None` without an endpoint.
    pub(super) fn export_settings(&self, service: ServiceFacts) -> Option<ExportSettings> {
        self.options().otlp.settings(&self.flags.otlp, service)
    }

    /// Returns the effective options of the log.
    #[cfg(test)]
    pub(super) fn log_options(&self) -> super::log_options::LogOptions {
        self.options().log
    }

    /// Returns the effective options of the export of spans.
    #[cfg(test)]
    pub(super) fn otlp_options(&self) -> super::otlp::OtlpOptions {
        self.options().otlp
    }

    /// Returns the effective options of the connection to NATS.
    #[cfg(test)]
    pub(super) fn bucket_options(&self) -> super::nats::BucketOptions {
        self.options().nats
    }

    /// Returns the effective options: those of the flags and the environment, else those of the file.
    fn options(&self) -> ManagerOptions {
        let file = self.file.as_ref().map(|file| file.options.clone()).unwrap_or_default();
        self.flags.clone().or(file)
    }

    /// Returns the effective options of the controllers of a kind. Flags come first, then in the file the options of the kind with its
    /// group (`WebApp.demo.example.com`), those of the kind alone (`WebApp`), and those of all controllers.
    fn controller_options(&self, kind: &Kind) -> ControllerOptions {
        let mut options = self.flags.controllers.clone();
        let Some(file) = &self.file else { return options };
        let kinds = file.options.kinds.iter();
        for name in [name_with_group(kind), kind.kind.to_string()] {
            if let Some(kind_options) = kinds.clone().find_map(|kinds| kinds.get(&name)) {
                options = options.or(kind_options.clone());
            }
        }
        options.or(file.options.controllers.clone())
    }

    /// Checks that the operator controls each kind for which the file has options. The error suggests the controlled kind with the most
    /// similar name.
    fn check_kinds(&self, operator: &Operator) -> Result<(), ConfigurationError> {
        let Some(file) = &self.file else { return Ok(()) };
        let kinds: Vec<_> = operator.factories.iter().map(|factory| factory.kind()).collect();
        let is_known = |name: &&String| kinds.iter().any(|kind| kind.kind == **name || name_with_group(kind) == **name);
        let mut names = file.options.kinds.iter().flat_map(|kinds| kinds.keys());
        let Some(unknown) = names.find(|name| !is_known(name)) else { return Ok(()) };
        let mut known: Vec<_> = kinds.iter().map(|kind| kind.kind.to_string()).collect();
        known.dedup();
        Err(ConfigurationError::UnknownKind {
            path: file.path.clone(),
            kind: unknown.clone(),
            operator: operator.name.clone(),
            nearest: nearest(unknown, known.iter().map(String::as_str)).map(str::to_owned),
            known,
        })
    }
}

/// Returns the name of a kind with its group, for example `WebApp.demo.example.com`.
fn name_with_group(kind: &Kind) -> String {
    if kind.group.is_empty() { kind.kind.to_string() } else { format!("{}.{}", kind.kind, kind.group) }
}
