//! Makes Cargo rebuild the crate when a template changes, and checks that the templates folder exists.

use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=templates");
    if Path::new("templates").is_dir() {
        return ExitCode::SUCCESS;
    }
    println!(
        "cargo::error=`cli/templates` is not a folder; check out with symbolic links on (`git config core.symlinks true`)"
    );
    ExitCode::FAILURE
}
