//! The opgen command: scaffolds operator projects and writes their YAML.

mod args;
mod ask;
mod checkout;
mod commands;
mod dev;
mod error;
mod generator;
mod names;
mod project;
mod scaffold;
mod serving;
mod toolchain;
mod ui;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    commands::run(&cli.command, ui::Ui::new(cli.quiet, cli.output)).unwrap_or_else(|error| {
        ui::error(&mut ui::screen(), &error);
        error.exit_code()
    })
}
