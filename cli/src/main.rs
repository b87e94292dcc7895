//! The opgen command: scaffolds operator projects and writes their YAML.

mod args;
mod ask;
mod checkout;
mod commands;
mod dev;
mod error;
mod generator;
mod interrupt;
mod names;
mod project;
mod scaffold;
mod serving;
mod toolchain;
mod ui;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return ui::said(&said),
    };
    let ended = commands::run(&cli.command, ui::Ui::new(cli.quiet, cli.output));
    // A failure of the command itself is the better reason.
    ended.and_then(|code| ui::all_handed_out().map(|()| code)).unwrap_or_else(|error| {
        ui::error(&mut ui::screen(), &error);
        error.exit_code()
    })
}
