//! Defines the options of leader election, with the names that kubebuilder and the controllers of Kubernetes use.

use super::{
    duration::{duration, optional},
    merge::overriding,
};
use crate::lease::options::LeaderElection;
use clap::{ArgAction, Args};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Leader election: of several replicas, only one writes.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(super) struct LeaderElectionOptions {
    /// Enable leader election, so that only one replica writes [default: the operator's, else false]
    #[arg(long, env = "LEADER_ELECT", value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", action = ArgAction::Set)]
    #[serde(rename = "enabled")]
    leader_elect: Option<bool>,
    /// Time after the last renewal until another replica takes the lead, in whole seconds [default: the operator's, else 15s]
    #[arg(long, env = "LEADER_ELECT_LEASE_DURATION", value_name = "DURATION", value_parser = duration)]
    #[serde(rename = "leaseDuration", deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    leader_elect_lease_duration: Option<Duration>,
    /// How long the leader retries to renew the Lease before it stops and exits [default: the operator's, else 10s]
    #[arg(long, env = "LEADER_ELECT_RENEW_DEADLINE", value_name = "DURATION", value_parser = duration)]
    #[serde(rename = "renewDeadline", deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    leader_elect_renew_deadline: Option<Duration>,
    /// Time between two attempts to acquire or renew the Lease [default: the operator's, else 2s]
    #[arg(long, env = "LEADER_ELECT_RETRY_PERIOD", value_name = "DURATION", value_parser = duration)]
    #[serde(rename = "retryPeriod", deserialize_with = "optional")]
    #[schemars(with = "Option<String>")]
    leader_elect_retry_period: Option<Duration>,
    /// The name of the Lease [default: the operator's, else `NAME.opgen.dev`]
    #[arg(long, env = "LEADER_ELECT_LEASE_NAME", value_name = "NAME")]
    #[serde(rename = "leaseName")]
    leader_elect_lease_name: Option<String>,
    /// The namespace of the Lease [default: the operator's, else the namespace of the Pod]
    #[arg(long, env = "LEADER_ELECT_NAMESPACE", value_name = "NAMESPACE")]
    #[serde(rename = "namespace")]
    leader_elect_namespace: Option<String>,
}

overriding!(LeaderElectionOptions {
    leader_elect,
    leader_elect_lease_duration,
    leader_elect_renew_deadline,
    leader_elect_retry_period,
    leader_elect_lease_name,
    leader_elect_namespace,
});

impl LeaderElectionOptions {
    /// Returns the leader election of the operator with these options applied; `None` if it is off. Only `--leader-elect` turns it on or
    /// off; the other options change the settings of an election that is on.
    pub(super) fn override_options(&self, operator: Option<LeaderElection>) -> Option<LeaderElection> {
        let is_on = self.leader_elect.unwrap_or(operator.is_some());
        is_on.then(|| self.override_leases(operator))
    }

    /// Returns the settings of the operator's Leases with the options for their name, namespace and times applied. Leader election and
    /// shards use these settings.
    pub(super) fn override_leases(&self, operator: Option<LeaderElection>) -> LeaderElection {
        let mut options = operator.unwrap_or_default();
        if let Some(duration) = self.leader_elect_lease_duration {
            options = options.lease_duration(duration);
        }
        if let Some(deadline) = self.leader_elect_renew_deadline {
            options = options.renew_deadline(deadline);
        }
        if let Some(period) = self.leader_elect_retry_period {
            options = options.retry_period(period);
        }
        if let Some(name) = &self.leader_elect_lease_name {
            options = options.lease_name(name);
        }
        if let Some(namespace) = &self.leader_elect_namespace {
            options = options.namespace(namespace);
        }
        options
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        args: LeaderElectionOptions,
    }

    /// Parses the flags, and returns the options of the operator with them applied.
    fn apply(flags: &[&str], operator: Option<LeaderElection>) -> Option<LeaderElection> {
        let arguments = ["operator"].iter().chain(flags);
        Command::try_parse_from(arguments).unwrap().args.override_options(operator)
    }

    #[test]
    fn manager_m1_flags_turn_the_election_on_and_off_and_set_its_times() {
        let operator_options = LeaderElection::default().retry_period(Duration::from_secs(1));
        assert_eq!(
            (apply(&[], None), apply(&[], Some(operator_options.clone()))),
            (None, Some(operator_options.clone()))
        );
        assert_eq!(apply(&["--leader-elect"], None), Some(LeaderElection::default()));
        assert_eq!(apply(&["--leader-elect=true"], Some(operator_options.clone())), Some(operator_options.clone()));
        assert_eq!(apply(&["--leader-elect=false"], Some(operator_options.clone())), None);
        assert_eq!(apply(&["--leader-elect-retry-period=1s"], None), None);
        let all = [
            "--leader-elect",
            "--leader-elect-lease-duration=30s",
            "--leader-elect-renew-deadline=20s",
            "--leader-elect-lease-name=a",
            "--leader-elect-namespace=b",
        ];
        let expected = operator_options.lease_duration(Duration::from_secs(30)).renew_deadline(Duration::from_secs(20));
        let expected = expected.lease_name("a").namespace("b");
        let operator_options = LeaderElection::default().retry_period(Duration::from_secs(1)).lease_name("c");
        assert_eq!(apply(&all, Some(operator_options)), Some(expected));
        assert!(Command::try_parse_from(["operator", "--leader-elect", "false"]).is_err());
        let leases = Command::try_parse_from(["operator", "--leader-elect-namespace=b"]).unwrap().args;
        assert_eq!(leases.override_leases(None), LeaderElection::default().namespace("b"));
    }
}
