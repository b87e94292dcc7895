//! The environment variables by which `faketime` changes the wall clock of a program.

use std::{path::Path, process::Command};

/// Returns the environment in which a program's clock differs by `offset`, for example `-10m`. `faketime` itself would stay its
/// parent, and keep signals for itself. The monotonic clock is not changed.
pub(super) fn shifted(offset: &str) -> Vec<(String, String)> {
    let mut command = Command::new("faketime");
    let output = command.args(["-m", "--exclude-monotonic", "-f", offset, "env"]).output();
    let output = String::from_utf8(output.expect("faketime is not installed").stdout).unwrap();
    let variables = output.lines().filter_map(|line| line.split_once('='));
    let needed =
        variables.filter(|(name, _)| name.contains("FAKETIME") && *name != "FAKETIME_SHARED" || *name == "LD_PRELOAD");
    needed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the environment in which the clock of a program differs by the offset in a file, which may change while it runs.
pub(super) fn shifted_by(file: &Path) -> Vec<(String, String)> {
    let mut variables = shifted("+0");
    variables.retain(|(name, _)| name != "FAKETIME");
    variables.extend([
        ("FAKETIME_TIMESTAMP_FILE".to_owned(), file.display().to_string()),
        ("FAKETIME_CACHE_DURATION".to_owned(), "1".to_owned()),
        // A killed process would leave its shared memory.
        ("FAKETIME_DISABLE_SHM".to_owned(), "1".to_owned()),
    ]);
    variables
}
