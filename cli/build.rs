//! Has the templates embedded again when one is added or removed.

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
