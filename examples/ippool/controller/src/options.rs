//! What a user may decide.

use std::time::Duration;

use clap::{ArgAction, Args};
use k8s_openapi::jiff::SignedDuration;

/// Which allocations count as orphans, and how often that is looked at. Each is a flag of `run`, and a variable of its
/// environment.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct Options {
    /// Whether the address of a Pod that is being deleted is free already. Default: no
    #[arg(long, env, value_name = "BOOL", default_value_t = Self::USUAL.cleanup_terminating)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_default_value = true)]
    pub cleanup_terminating: bool,
    /// Whether the address of a Pod is free that the taint manager is about to evict. Default: yes
    #[arg(long, env, value_name = "BOOL", default_value_t = Self::USUAL.cleanup_disrupted)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_default_value = true)]
    pub cleanup_disrupted: bool,
    /// Whether the address of a running Pod is free that its network status doesn't show. Default: yes; say no where the CNI
    /// plugin doesn't write one
    #[arg(long, env, value_name = "BOOL", default_value_t = Self::USUAL.verify_network_status)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_default_value = true)]
    pub verify_network_status: bool,
    /// How often each pool and each reservation is looked at, whatever happens. Default: 30s
    #[arg(long, env = "RECONCILE_INTERVAL", value_name = "TIME", value_parser = interval, default_value = "30s")]
    #[arg(hide_default_value = true)]
    pub interval: Duration,
}

impl Options {
    const USUAL: Self = Self {
        cleanup_terminating: false,
        cleanup_disrupted: true,
        verify_network_status: true,
        interval: Duration::from_secs(30),
    };
}

impl Default for Options {
    fn default() -> Self {
        Self::USUAL
    }
}

/// Reads `30s` or `1m 30s`.
fn interval(text: &str) -> Result<Duration, String> {
    let read = text.parse::<SignedDuration>().ok().and_then(|signed| Duration::try_from(signed).ok());
    read.filter(|interval| !interval.is_zero()).ok_or_else(|| "write a time, for example `30s` or `5m`".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _, Parser, builder::Resettable};

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        options: Options,
    }

    fn told(flags: &[&str]) -> Result<Options, String> {
        // The environment of the test is not looked at.
        let command = Program::command().mut_args(|arg| arg.env(Resettable::Reset)).no_binary_name(true);
        let matches = command.try_get_matches_from(flags).map_err(|error| error.to_string())?;
        Program::from_arg_matches(&matches).map(|program| program.options).map_err(|error| error.to_string())
    }

    #[test]
    fn ippool_w1_options_have_the_documented_values() {
        let options = Options::default();
        let flags = [options.cleanup_terminating, options.cleanup_disrupted, options.verify_network_status];
        assert_eq!((flags, options.interval), ([false, true, true], Duration::from_secs(30)));
        assert_eq!(told(&[]), Ok(options), "without flags");
    }

    #[test]
    fn ippool_w1_each_option_is_a_flag() {
        let said =
            ["--cleanup-terminating", "--cleanup-disrupted=false", "--verify-network-status=false", "--interval=1m30s"];
        let expected = Options {
            cleanup_terminating: true,
            cleanup_disrupted: false,
            verify_network_status: false,
            interval: Duration::from_secs(90),
        };
        assert_eq!(told(&said), Ok(expected));
    }

    #[test]
    fn ippool_w3_interval_is_a_time_that_passes() {
        for wrong in ["--interval=0s", "--interval=-5s", "--interval=30", "--interval=soon", "--interval="] {
            let said = told(&[wrong]).unwrap_err();
            assert!(said.contains("--interval"), "{wrong}: {said}");
        }
    }
}
