//! Runs `promtool`, which checks files of Prometheus and tests rules.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use super::binary;

/// Runs promtool in a folder, with a file as its input; panics with its output if it finds fault.
#[track_caller]
pub(super) fn succeed(folder: &Path, arguments: &[&str], input: Option<&str>) {
    let mut command = Command::new(binary::program("promtool").unwrap());
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    if let Some(input) = input {
        command.stdin(fs::File::open(folder.join(input)).unwrap());
    }
    let output = command.output().expect("promtool runs");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "promtool {}: {}\n{said}", arguments.join(" "), output.status);
}

/// Writes a value as a file of Prometheus: JSON is YAML, too.
pub(super) fn write(folder: &Path, file: &str, value: &Value) {
    fs::write(folder.join(file), format!("{value:#}")).unwrap();
}
