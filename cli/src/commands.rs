//! What each verb does.

mod generate;
mod new;
mod operator;

use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::{
    args::{Cli, Command, Completions},
    error::Result,
    ui::{self, Ui},
};

pub(crate) fn run(command: &Command, ui: Ui) -> Result<ExitCode> {
    match command {
        Command::New(args) => new::run(args, ui),
        Command::Generate(args) => generate::run(args, ui),
        Command::Tree(args) => operator::run("tree", &args.args, ui),
        Command::Uninstall(args) => operator::run("uninstall", &args.args, ui),
        Command::Completions(args) => Ok(completions(args)),
    }
}

fn completions(args: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "opgen", &mut script);
    ui::pass_on(&script);
    ExitCode::SUCCESS
}
