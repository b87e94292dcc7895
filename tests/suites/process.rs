//! Tests of `Process`, a child process of a test: when it counts as stopped.

use std::{fs, path::Path, process::Command};

use opgen_tests::{Process, usage, wait::PATIENCE};

fn start(folder: &Path, script: &str) -> Process {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Process::spawn("sh", command, &folder.join("log"))
}

#[tokio::test]
async fn a_process_that_has_ended_counts_as_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = start(folder.path(), "exit 0");
    // Nobody has waited for it yet, so it is in the table of processes until `pause` does.
    usage::wait_until_stopped(process.id());
    process.pause();
    process.wait_exit(PATIENCE).await;
    process.pause();
    usage::wait_until_stopped(process.id());
}

#[test]
fn a_process_that_runs_is_stopped_when_pause_returns() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = start(folder.path(), "while :; do :; done");
    process.pause();
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    assert!(status.contains("State:\tT"), "{status}");
    assert_eq!(process.exited(), None);
}
