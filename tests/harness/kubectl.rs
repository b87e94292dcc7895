//! Runs kubectl as a user of the API server of a test.

use std::{
    io::Write as _,
    process::{Output, Stdio},
};

use crate::{Access, Plane};

/// Runs kubectl with `args` as the user of `access`, and returns its output.
#[track_caller]
pub fn run(plane: &Plane, access: &Access, args: &[&str]) -> Output {
    run_with_input(plane, access, args, "")
}

/// Runs kubectl with `args` as the user of `access`, with `input` as its standard input, for `-f -`. Returns its output.
#[track_caller]
pub fn run_with_input(plane: &Plane, access: &Access, args: &[&str], input: &str) -> Output {
    let mut command = plane.binaries().command("kubectl");
    command.arg("--kubeconfig").arg(access.kubeconfig()).args(args);
    // The default cache of discovery documents is in the home folder, which planes would share.
    command.arg("--cache-dir").arg(plane.folder().join("kubectl-cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let spawned = command.spawn().and_then(|mut child| {
        child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes())).transpose()?;
        child.wait_with_output()
    });
    spawned.unwrap_or_else(|error| panic!("kubectl {args:?} can't be run: {error}"))
}

/// Runs kubectl as the administrator and returns its standard output.
///
/// # Panics
/// With the output of kubectl, if it fails.
#[track_caller]
pub fn succeed(plane: &Plane, args: &[&str]) -> String {
    text(args, run(plane, plane.admin(), args))
}

/// Runs `kubectl apply -f -` as the administrator, with server-side apply and strict field validation by the server. Returns the
/// standard error of kubectl: the warnings of the API server.
///
/// # Panics
/// With the output of kubectl, if it fails.
#[track_caller]
pub fn apply(plane: &Plane, yaml: &str) -> String {
    let args = ["apply", "--server-side", "--validate=strict", "-f", "-"];
    let output = run_with_input(plane, plane.admin(), &args, yaml);
    let warnings = String::from_utf8_lossy(&output.stderr).into_owned();
    text(&args, output);
    warnings
}

/// Returns the standard output of a run of kubectl with `args`.
///
/// # Panics
/// With the standard error of kubectl, if it failed.
#[track_caller]
fn text(args: &[&str], output: Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "kubectl {args:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    out
}
