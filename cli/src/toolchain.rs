//! The installed Rust toolchain: checks that it can build a project, and prepares the environment of its `cargo`.

use std::{env, ffi::OsStr, process::Command};

use crate::error::{Error, Result, ResultExt as _};

/// The minimum supported Rust version of opgen.
pub(crate) const RUST_VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// Fails if cargo or rustc is missing, or if rustc is older than the minimum version of opgen.
pub(crate) fn check() -> Result<()> {
    let install = "install Rust with https://rustup.rs";
    version_of("cargo").map_err(|error| error.hint(install))?;
    let rustc = version_of("rustc").map_err(|error| error.hint(install))?;
    check_rustc(&rustc)
}

/// Fails if the version in the output of `rustc --version` is older than the minimum.
fn check_rustc(output: &str) -> Result<()> {
    let found = output.split_whitespace().nth(1).unwrap_or(output);
    if numbers(found) >= numbers(RUST_VERSION) {
        return Ok(());
    }
    Err(Error::failed(format!("rustc {found} is too old: opgen needs {RUST_VERSION} or newer"))
        .hint("run `rustup update stable`, or choose a newer toolchain for this folder with `rustup override set`"))
}

/// Removes from a command the environment variables that `cargo run` sets for the package of this program, if `cargo run` started it. Some
/// build scripts, for example that of ring, read variables with these names. If the variables differ between two builds, cargo runs these
/// scripts again and compiles their dependents again.
pub(crate) fn remove_variables_of_cargo_run(command: &mut Command) {
    for (name, _) in env::vars_os().filter(|(name, _)| is_set_by_cargo_run(name)) {
        command.env_remove(name);
    }
}

/// Returns whether `cargo run` sets the variable to a property of the package that it runs.
fn is_set_by_cargo_run(name: &OsStr) -> bool {
    let has_prefix = |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix));
    name.to_str().is_some_and(|name| name == "OUT_DIR" || has_prefix(name))
}

/// Returns the output of `<program> --version`. Fails if the program does not run.
fn version_of(program: &str) -> Result<String> {
    let output = Command::new(program)
        .arg("--version")
        .output()
        .or_failed(|| format!("no working `{program}` found on the PATH"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Error::failed(format!("no working `{program}` found on the PATH")).because(stderr))
}

/// Returns the major and minor version in a text such as `1.97.0-nightly`; 0 for a missing number.
fn numbers(version: &str) -> (u32, u32) {
    let mut numbers = version.split(['.', '-']).map_while(|number| number.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_of_the_minimum_version_is_accepted() {
        for output in
            ["rustc 1.89.0 (29483883e 2025-08-04)", "rustc 1.95.0", "rustc 1.97.0-nightly (abc)", "rustc 2.0.0"]
        {
            assert!(check_rustc(output).is_ok(), "{output}");
        }
    }

    #[test]
    fn an_older_toolchain_or_none_is_refused() {
        for output in ["rustc 1.88.0 (6b00bc388 2025-06-23)", "rustc 1.9.0", "rustc", ""] {
            assert!(check_rustc(output).is_err(), "{output}");
        }
    }
}
