//! Runs the subcommand that the command line names, such as `opgen new` or `opgen dev`.

mod check;
mod dev;
mod generate;
mod new;
mod operator;
mod sandbox;

use std::{ffi::OsString, process::ExitCode};

use clap::CommandFactory as _;

use crate::{
    args::{Cli, Command, Completions, ObjectArgs, OutputFormat, Rbac, Tree},
    error::{Error, Result},
    interrupt,
    ui::{self, Ui},
};

/// Runs the subcommand, and returns the exit code of the process. Installs the signal handlers of `interrupt` first, except for `dev` and
/// `sandbox`, which have their own.
pub(crate) fn run(command: &Command, ui: Ui) -> Result<ExitCode> {
    let output = ui.output();
    if matches!(output, OutputFormat::Mermaid | OutputFormat::Svg) && !matches!(command, Command::Tree(_)) {
        let problem = format!("`--output {}` is for trees only", output.as_str());
        return Err(Error::usage(problem).hint("use it with `opgen tree`, or choose `text` or `json`"));
    }
    if !matches!(command, Command::Dev(_) | Command::Sandbox(_)) {
        interrupt::listen()?;
    }
    match command {
        Command::New(args) => new::run(args, ui),
        Command::Generate(args) => generate::run(args, ui),
        Command::Check(args) => check::run(args, ui),
        Command::Tree(args) => operator::run("tree", &tree_args(args, output)?, ui),
        Command::Rbac(args) => operator::run("rbac", &rbac_args(args), ui),
        Command::Dev(args) => dev::run(args, ui),
        Command::Sandbox(args) => sandbox::run(args, ui),
        Command::Why(args) => operator::run("why", &object_args(args), ui),
        Command::Reconcile(args) => operator::run("reconcile", &object_args(args), ui),
        Command::Profile(args) => operator::run("profile", &args.args, ui),
        Command::Uninstall(args) => operator::run("uninstall", &args.args, ui),
        Command::Completions(args) => Ok(print_completions(args)),
    }
}

/// Returns the arguments for the operator's `tree`. Fails for `--mermaid` with another output format.
fn tree_args(args: &Tree, output: OutputFormat) -> Result<Vec<OsString>> {
    if args.mermaid && output != OutputFormat::Text {
        let problem = format!("`--mermaid` and `--output {}` can't be combined", output.as_str());
        return Err(Error::usage(problem).hint("remove one of them"));
    }
    let mut arguments: Vec<OsString> = args.target.iter().map(OsString::from).collect();
    if let Some(namespace) = &args.namespace {
        arguments.extend(["--namespace".into(), namespace.into()]);
    }
    arguments.extend(args.mermaid.then(|| "--mermaid".into()));
    arguments.extend(args.args.iter().cloned());
    Ok(arguments)
}

/// Returns the arguments for a command of the operator that takes an object, such as `why`.
fn object_args(args: &ObjectArgs) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![args.object.clone().into()];
    if let Some(namespace) = &args.namespace {
        arguments.extend(["--namespace".into(), namespace.into()]);
    }
    arguments
}

/// Returns the arguments for the operator's `rbac`.
fn rbac_args(args: &Rbac) -> Vec<OsString> {
    match args {
        Rbac::Explain => vec!["explain".into()],
        Rbac::Verify(args) => {
            let mut arguments: Vec<OsString> = vec!["verify".into(), args.log.clone().into()];
            if let Some(user) = &args.user {
                arguments.extend(["--user".into(), user.into()]);
            }
            arguments
        }
    }
}

/// Prints the completion script of a shell.
fn print_completions(args: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "opgen", &mut script);
    ui::print_bytes(&script);
    ExitCode::SUCCESS
}
