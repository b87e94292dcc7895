//! The options of the operator.

use std::time::Duration;

use clap::{ArgAction, Args};
use k8s_openapi::jiff::SignedDuration;

/// The options that decide which allocations are orphans, and how often pools are checked. Each option is a flag of `run`
/// and an environment variable.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct Options {
    /// Free the address of a Pod that is being deleted. Default: no
    #[arg(long, env, value_name = "BOOL", default_value_t = Self::USUAL.cleanup_terminating)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_default_value = true)]
    pub cleanup_terminating: bool,
    /// Free the address of a Pod that the taint manager is about to evict. Default: yes
    #[arg(long, env, value_name = "BOOL", default_value_t = Self::USUAL.cleanup_disrupted)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_default_value = true)]
    pub cleanup_disrupted: bool,
    /// Free the address of a running Pod if its network status does not contain it. Default: yes; use no if the CNI plugin
    /// does not write a network status
    #[arg(long, env, value_name = "BOOL", default_value_t = Self::USUAL.verify_network_status)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_default_value = true)]
    pub verify_network_status: bool,
    /// The resync period of pools and reservations. Default: 30s
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

/// Parses `30s` or `1m 30s`.
fn interval(text: &str) -> Result<Duration, String> {
    let read = text.parse::<SignedDuration>().ok().and_then(|signed| Duration::try_from(signed).ok());
    read.filter(|interval| !interval.is_zero()).ok_or_else(|| "use a duration, for example `30s` or `5m`".to_owned())
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
        // Ignore the environment of the test.
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
