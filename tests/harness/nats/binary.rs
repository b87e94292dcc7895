//! Finds nats-server by the variable `NATS_SERVER`, or builds it with Go once for each version.

use std::{path::PathBuf, sync::OnceLock};

use crate::binaries::{Missing, build_folder, go_build_stamped, go_runs, lock, pinned, target_folder, tell};

/// The environment variable for the path of nats-server, which is then not built.
const PROGRAM: &str = "NATS_SERVER";

/// The module, and its one package.
const PACKAGE: &str = "github.com/nats-io/nats-server/v2";
const NAME: &str = "nats-server";
const MODULE: &str = "controlplane/nats";
const GO_MOD: &str = include_str!("../../controlplane/nats/go.mod");

/// Checks whether nats-server exists, or can be built because Go is installed. It builds nothing. If `NATS_SERVER` is set, only the file at
/// that path counts.
///
/// # Errors
/// Fails with what is missing.
pub(super) fn availability() -> Result<(), Missing> {
    match path_from_environment() {
        Some(path) if path.is_file() => Ok(()),
        Some(path) => {
            Err(Missing(format!("{PROGRAM} is {}, which is no file; unset it, or name the program", path.display())))
        }
        None if build_folder_path().join(NAME).is_file() || go_runs() => Ok(()),
        None => Err(Missing(format!("Go is not installed and {PROGRAM} is not set, so there is no nats-server"))),
    }
}

/// Returns the path of the program, and builds it if it is missing. Concurrent processes build it once.
///
/// # Errors
/// Fails with what is missing, or with the reason why it can't be built.
pub fn find() -> Result<PathBuf, Missing> {
    static PATH: OnceLock<Result<PathBuf, Missing>> = OnceLock::new();
    PATH.get_or_init(|| path_from_environment().map_or_else(build, Ok)).clone()
}

/// Returns the path in the environment variable; `None` if it is not set.
fn path_from_environment() -> Option<PathBuf> {
    std::env::var_os(PROGRAM).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Returns the folder of the built program, for example `nats-server-v2.15.3`.
fn build_folder_path() -> PathBuf {
    let version = pinned(GO_MOD, PACKAGE).expect("tests/controlplane/nats/go.mod requires nats-server");
    target_folder().join(format!("{NAME}-{version}"))
}

/// Builds nats-server if no process has built it yet, and returns its path. A lock lets one process build at a time.
fn build() -> Result<PathBuf, Missing> {
    availability()?;
    let path = build_folder_path().join(NAME);
    let failed = |error: std::io::Error| Missing(format!("nats-server can't be built: {error}"));
    let _lock = lock().map_err(failed)?;
    // Another process may have built it in the meantime.
    if !path.is_file() {
        tell("building nats-server with Go, once; this takes half a minute");
        build_folder(&build_folder_path(), |staging| go_build_stamped(MODULE, &staging.join(NAME), &[PACKAGE], ""))
            .map_err(failed)?;
    }
    Ok(path)
}
