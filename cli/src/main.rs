//! Implements the command `opgen`: scaffolds operator projects, generates their YAML and runs them during development.

mod args;
mod check;
mod checkout;
mod commands;
mod dev;
mod error;
mod generator;
mod interrupt;
mod names;
mod project;
mod prompt;
mod report_file;
mod sandbox_server;
mod scaffold;
mod shutdown;
mod toolchain;
mod ui;

use std::process::ExitCode;

use clap::Parser as _;

/// Parses the command line, runs the command, and prints its error.
fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ui::clap_error(&error),
    };
    let result = commands::run(&cli.command, ui::Ui::new(cli.quiet, cli.output));
    // An error of the command takes precedence over one of standard output.
    result.and_then(|code| ui::flush_stdout().map(|()| code)).unwrap_or_else(|error| {
        ui::error(&mut ui::stderr(), &error);
        error.exit_code()
    })
}
