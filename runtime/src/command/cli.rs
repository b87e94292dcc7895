//! Parses the command line of an operator's binary and runs the given verb (subcommand).

use crate::{
    command::{
        connect::bucket_hint,
        options::{ConfigurationError, LogReload, ManagerArgs},
        profile::ProfileArgs,
        rbac::RbacVerb,
        reconcile::ReconcileArgs,
        terminal::with_runtime,
        trace,
        tree::TreeArgs,
        uninstall::UninstallArgs,
        why::WhyArgs,
    },
    manager::{operator::Operator, run_error::RunError, run_options::RunOptions},
    manifest::{GenerateArgs, exit_with_error, run_generator},
    spans::export::ServiceFacts,
};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

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
    /// Fetch a CPU profile of the running operator, and open it
    Profile(ProfileArgs),
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
    #[command(flatten)]
    manager: ManagerArgs,
    /// Report each pass on standard output, for `opgen dev`
    #[arg(long, hide = true)]
    tell_passes: bool,
}

/// The exit status of the operator's binary after [`RunError::LeadLost`]: another replica may lead, and a restart is expected.
/// Other errors have the status 1, and errors of the command line and of the configuration 2.
pub const LEAD_LOST_STATUS: u8 = 3;

/// Implements the `main` of an operator's binary.
pub fn main(operator: Operator) -> ExitCode {
    main_with(|()| operator.clone())
}

/// Implements the `main` of an operator that has options of its own: flags of the verb (subcommand) `run` beside those of the process.
/// `build` creates the operator from these options. All other verbs, such as `manifests`, use the operator with the default options.
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
        Subcommands::Profile(args) => args.run(&operator),
        Subcommands::Rbac(verb) => verb.run(&operator),
        Subcommands::Relay => with_runtime(crate::command::relay::run()),
        Subcommands::Uninstall(args) => with_runtime(async { args.run(&operator).await }),
    }
}

/// The exit status after an error of the configuration, as after an error of the command line.
const USAGE_STATUS: u8 = 2;

/// Runs the controllers until the process gets a stop signal. Meanwhile a task applies changes of the log filter in the configuration
/// file. Returns the exit code: 2 for wrong options, 3 for a lost leader election, 1 for other errors.
fn run(operator: Operator, args: &ProcessArgs) -> ExitCode {
    let (mut operator, options, log) = match prepare(operator, &args.manager) {
        Ok(prepared) => prepared,
        Err(error) => {
            exit_with_error(&error, error.hint().as_deref());
            return ExitCode::from(USAGE_STATUS);
        }
    };
    if args.tell_passes {
        operator.environment = trace::with_trace(operator.environment);
    }
    with_runtime(async {
        let log = tokio::spawn(log.follow_file());
        let result = operator.run(options).await;
        log.abort();
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let status = exit_with_error(&error, hint(&error));
                if matches!(error, RunError::LeadLost(_)) { ExitCode::from(LEAD_LOST_STATUS) } else { status }
            }
        }
    })
}

/// Loads the configuration, applies it to the operator, and starts the log. Returns the configured operator, the options of its run,
/// and the handle that applies changes of the log filter in the configuration file.
fn prepare(operator: Operator, args: &ManagerArgs) -> Result<(Operator, RunOptions, LogReload), ConfigurationError> {
    let configuration = args.load()?;
    let (operator, options) = configuration.apply_to(operator, RunOptions::default())?;
    let service = ServiceFacts { operator: Some((operator.name.clone(), operator.version.clone())) };
    Ok((operator, options, configuration.start_log_of(service)?))
}

/// Returns the advice that is printed below an error of `run`; `None` if there is none.
fn hint(error: &RunError) -> Option<&'static str> {
    match error {
        RunError::Config(_) => Some("set KUBECONFIG, or run in a cluster with a service account"),
        RunError::LeaderElection(_) => Some("change the flags `--leader-elect-...`, or `Operator::leader_election`"),
        RunError::Probes { .. } => {
            Some("choose another `--probe-address` (`probes.address` in the file), or 0 for none")
        }
        RunError::Metrics(error) => Some(error.hint()),
        error => bucket_hint(error),
    }
}
