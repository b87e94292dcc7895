//! Parses the command line of an operator's binary and runs its verb.

use crate::{
    client::timeouts::Timeouts,
    command::{
        duration::duration, leader_election::LeaderElectionArgs, metrics_args::MetricsArgs, rbac::RbacVerb,
        reconcile::ReconcileArgs, terminal::with_runtime, trace, tree::TreeArgs, uninstall::UninstallArgs,
        why::WhyArgs,
    },
    manager::{operator::Operator, run::RunOptions, run_error::RunError},
    manifest::{GenerateArgs, exit_with_error, run_generator},
};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::{io::IsTerminal, net::SocketAddr, process::ExitCode, time::Duration};
use tracing_subscriber::EnvFilter;

/// The command line; `A` are the operator's own options.
#[derive(Parser)]
#[group(skip)]
struct Cli<A: Args> {
    #[command(subcommand)]
    verb: Option<Subcommands<A>>,
    #[command(flatten)]
    run: RunArgs<A>,
}

#[derive(Subcommand)]
enum Subcommands<A: Args> {
    /// Run the controllers (the default)
    Run(Box<RunArgs<A>>),
    /// Print, write or compare the manifests
    Manifests(GenerateArgs),
    /// Show the tree of each kind with its permissions, or the state of an object in the cluster
    Tree(TreeArgs),
    /// Explain the operator's rights, or compare them with its requests
    #[command(subcommand)]
    Rbac(RbacVerb),
    /// Explain why an object is not ready or not deleted
    Why(WhyArgs),
    /// Request a reconcile of an object now
    Reconcile(ReconcileArgs),
    /// Uninstall the operator and delete everything it created
    Uninstall(UninstallArgs),
    /// Forward requests to the API server, for `opgen dev`
    #[command(hide = true)]
    Relay,
}

#[derive(Args)]
#[group(skip)]
struct RunArgs<A: Args> {
    #[command(flatten)]
    process: ProcessArgs,
    #[command(flatten)]
    options: A,
}

#[derive(Debug, Args)]
#[group(skip)]
struct ProcessArgs {
    /// Watch this namespace only
    #[arg(long, env = "WATCH_NAMESPACE")]
    namespace: Option<String>,
    /// Address of /healthz and /readyz; `0` disables them
    #[arg(long, env = "PROBE_ADDRESS", default_value = "0.0.0.0:8081")]
    probe_address: String,
    #[command(flatten)]
    metrics: MetricsArgs,
    /// Log filter, by module and level
    #[arg(long, env = "RUST_LOG", default_value = "info")]
    log: String,
    /// Log format
    #[arg(long, env = "LOG_FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,
    #[command(flatten)]
    timeouts: TimeoutArgs,
    #[command(flatten)]
    leader_election: LeaderElectionArgs,
    /// Report each pass on standard output, for `opgen dev`
    #[arg(long, hide = true)]
    tell_passes: bool,
}

/// Timeouts that override those of the operator, whose defaults are those of the library.
#[derive(Debug, Args)]
#[group(skip)]
struct TimeoutArgs {
    /// Timeout of a connection to the API server, including TLS [default: the operator's, else 10s]
    #[arg(long, env = "CONNECT_TIMEOUT", value_name = "DURATION", value_parser = duration)]
    connect_timeout: Option<Duration>,
    /// Timeout until the API server starts its response to a request [default: the operator's, else 70s]
    #[arg(long, env = "RESPONSE_TIMEOUT", value_name = "DURATION", value_parser = duration)]
    response_timeout: Option<Duration>,
    /// Timeout of the rest of a response, except for watches [default: the operator's, else 60s]
    #[arg(long, env = "BODY_TIMEOUT", value_name = "DURATION", value_parser = duration)]
    body_timeout: Option<Duration>,
    /// Restart a watch that receives no event or bookmark for this time [default: the operator's, else 150s]
    #[arg(long, env = "WATCH_TIMEOUT", value_name = "DURATION", value_parser = duration)]
    watch_timeout: Option<Duration>,
}

impl TimeoutArgs {
    /// Overrides the timeouts of the operator with those of the command line.
    fn override_timeouts(&self, timeouts: Timeouts) -> Timeouts {
        let set = |timeouts: Timeouts, time: Option<Duration>, set: fn(Timeouts, Duration) -> Timeouts| match time {
            Some(time) => set(timeouts, time),
            None => timeouts,
        };
        let timeouts = set(timeouts, self.connect_timeout, Timeouts::connect);
        let timeouts = set(timeouts, self.response_timeout, Timeouts::response);
        let timeouts = set(timeouts, self.body_timeout, Timeouts::body);
        set(timeouts, self.watch_timeout, Timeouts::watch)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// Lines of text
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

/// The exit status of the operator's binary after [`RunError::LeadLost`]: another replica may lead, and a restart is expected. Other
/// errors have the status 1, and errors of the command line 2.
pub const LEAD_LOST_STATUS: u8 = 3;

/// Implements the `main` of an operator's binary.
pub fn main(operator: Operator) -> ExitCode {
    main_with(|()| operator.clone())
}

/// Implements the `main` of an operator with its own options, which are flags of `run` beside those of the process. All other
/// verbs, such as `manifests`, use the default options.
pub fn main_with<A: Args + Default>(build: impl Fn(A) -> Operator) -> ExitCode {
    let operator = build(A::default());
    let command = Cli::<A>::command().name(operator.name.clone()).version(operator.version.clone());
    let command = command.about(format!("The {} operator", operator.name));
    let cli = match Cli::<A>::from_arg_matches(&command.get_matches()) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    match cli.verb.unwrap_or(Subcommands::Run(Box::new(cli.run))) {
        Subcommands::Run(args) => run(build(args.options), &args.process),
        Subcommands::Manifests(args) => run_generator(&operator, &args),
        Subcommands::Tree(args) => args.run(&operator),
        Subcommands::Why(args) => args.run(&operator),
        Subcommands::Reconcile(args) => args.run(&operator),
        Subcommands::Rbac(verb) => verb.run(&operator),
        Subcommands::Relay => with_runtime(crate::command::relay::run()),
        Subcommands::Uninstall(args) => with_runtime(async { args.run(&operator).await }),
    }
}

/// Silences the log of failed calls and watches of `kube`. The operator logs each with its object or kind, and repeated lines
/// would hide that. A filter that names these modules takes precedence.
const QUIET_FILTER: &str =
    "kube_client::client=off,kube_client::client::tls=warn,kube_client::client::auth=warn,kube_runtime=off";

/// Runs the controllers until the process gets a stop signal.
fn run(mut operator: Operator, args: &ProcessArgs) -> ExitCode {
    if args.tell_passes {
        operator.environment = trace::with_trace(operator.environment);
    }
    operator.timeouts = args.timeouts.override_timeouts(operator.timeouts);
    operator.leader_election = args.leader_election.override_options(operator.leader_election.take());
    let probes = match args.probe_address.as_str() {
        "" | "0" => None,
        address => match address.parse::<SocketAddr>() {
            Ok(address) => Some(address),
            Err(error) => return exit_with_error(&error, Some("use an address such as 0.0.0.0:8081, or 0 for none")),
        },
    };
    let metrics = match args.metrics.server() {
        Ok(metrics) => metrics,
        Err(error) => return exit_with_error(&error, Some("use an address such as :8443, or 0 for none")),
    };
    let filter = match EnvFilter::try_new(format!("{QUIET_FILTER},{}", args.log)) {
        Ok(filter) => filter,
        Err(error) => return exit_with_error(&error, Some("use a level, or `module=level,...`")),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let log = log.with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none());
    match args.log_format {
        LogFormat::Json => log.json().init(),
        LogFormat::Text => log.init(),
    }
    let run_options = RunOptions { namespace: args.namespace.clone(), probes, metrics, ..RunOptions::default() };
    with_runtime(async {
        match operator.run(run_options).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let status = exit_with_error(&error, hint(&error));
                if matches!(error, RunError::LeadLost(_)) { ExitCode::from(LEAD_LOST_STATUS) } else { status }
            }
        }
    })
}

/// Returns the advice that is printed below an error of `run`; `None` if there is none.
fn hint(error: &RunError) -> Option<&'static str> {
    match error {
        RunError::Config(_) => Some("set KUBECONFIG, or run in a cluster with a service account"),
        RunError::LeaderElection(_) => Some("change the flags `--leader-elect-...`, or `Operator::leader_election`"),
        RunError::Probes { .. } => Some("choose another `--probe-address`, or 0 for none"),
        RunError::Metrics(error) => Some(error.hint()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_takes_the_place_of_the_operators_own_timeout() {
        let flags = TimeoutArgs {
            connect_timeout: None,
            response_timeout: duration("1m 30s").ok(),
            body_timeout: None,
            watch_timeout: duration("5s").ok(),
        };
        let options = Timeouts::default().connect(Duration::from_secs(3)).response(Duration::from_secs(4));
        let expected = options.response(Duration::from_secs(90)).watch(Duration::from_secs(5));
        assert_eq!(flags.override_timeouts(options), expected);
        for wrong in ["", "5", "0s", "-5s", "soon"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
