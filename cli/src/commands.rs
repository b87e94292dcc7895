//! What each verb does.

mod dev;
mod generate;
mod new;
mod operator;
mod sandbox;

use std::{ffi::OsString, process::ExitCode};

use clap::CommandFactory as _;

use crate::{
    args::{Cli, Command, Completions, OfObject, Output, Rbac, Tree},
    error::{Error, Result},
    interrupt,
    ui::{self, Ui},
};

pub(crate) fn run(command: &Command, ui: Ui) -> Result<ExitCode> {
    let output = ui.output();
    if matches!(output, Output::Mermaid | Output::Svg) && !matches!(command, Command::Tree(_)) {
        let what = format!("`--output {}` is for trees only", output.word());
        return Err(Error::usage(what).hint("`opgen tree` draws; everything else says `text` or `json`"));
    }
    if !matches!(command, Command::Dev(_) | Command::Sandbox(_)) {
        interrupt::listen()?;
    }
    match command {
        Command::New(args) => new::run(args, ui),
        Command::Generate(args) => generate::run(args, ui),
        Command::Tree(args) => operator::run("tree", &tree(args, output)?, ui),
        Command::Rbac(args) => operator::run("rbac", &rbac(args), ui),
        Command::Dev(args) => dev::run(args, ui),
        Command::Sandbox(args) => sandbox::run(args, ui),
        Command::Why(args) => operator::run("why", &object(args), ui),
        Command::Reconcile(args) => operator::run("reconcile", &object(args), ui),
        Command::Uninstall(args) => operator::run("uninstall", &args.args, ui),
        Command::Completions(args) => Ok(completions(args)),
    }
}

/// The arguments of the operator's `tree`.
fn tree(args: &Tree, output: Output) -> Result<Vec<OsString>> {
    if args.mermaid && output != Output::Text {
        let what = format!("`--mermaid` and `--output {}` can't both be meant", output.word());
        return Err(Error::usage(what).hint("leave one of them out"));
    }
    let mut passed: Vec<OsString> = args.of.iter().map(OsString::from).collect();
    if let Some(namespace) = &args.namespace {
        passed.extend(["--namespace".into(), namespace.into()]);
    }
    passed.extend(args.mermaid.then(|| "--mermaid".into()));
    passed.extend(args.args.iter().cloned());
    Ok(passed)
}

/// The arguments of a verb of the operator that is about an object.
fn object(args: &OfObject) -> Vec<OsString> {
    let mut passed: Vec<OsString> = vec![args.of.clone().into()];
    if let Some(namespace) = &args.namespace {
        passed.extend(["--namespace".into(), namespace.into()]);
    }
    passed
}

/// The arguments of the operator's `rbac`.
fn rbac(args: &Rbac) -> Vec<OsString> {
    match args {
        Rbac::Explain => vec!["explain".into()],
        Rbac::Verify(args) => {
            let mut passed: Vec<OsString> = vec!["verify".into(), args.log.clone().into()];
            if let Some(user) = &args.user {
                passed.extend(["--user".into(), user.into()]);
            }
            passed
        }
    }
}

fn completions(args: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "opgen", &mut script);
    ui::pass_on(&script);
    ExitCode::SUCCESS
}
