//! Finds Helm and kustomize in `KUBEBUILDER_ASSETS`, or builds them with Go, once per version, and runs them.

use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

use crate::{
    Plane,
    binaries::{Missing, assets, build_folder, go_build_stamped, go_runs, lock, pinned, target_folder, tell},
};

const MODULE: &str = "controlplane/tools";
const GO_MOD: &str = include_str!("../controlplane/tools/go.mod");

/// The programs, each with its module and its Go package.
const PROGRAMS: [(&str, &str, &str); 2] = [
    ("helm", "helm.sh/helm/v4", "helm.sh/helm/v4/cmd/helm"),
    ("kustomize", "sigs.k8s.io/kustomize/kustomize/v5", "sigs.k8s.io/kustomize/kustomize/v5"),
];

/// Checks whether Helm and kustomize exist, or can be built because Go is installed. It builds nothing.
///
/// # Errors
/// Fails with what is missing.
pub fn availability() -> Result<(), Missing> {
    if find_complete_folder().is_some() || go_runs() {
        return Ok(());
    }
    Err(Missing("Go is not installed, so Helm and kustomize can't be built".to_owned()))
}

/// Returns the folder of the programs, and builds them if they are missing. Concurrent processes build them once.
///
/// # Errors
/// Fails with the missing program, or with the reason why it can't be built.
pub fn find() -> Result<PathBuf, Missing> {
    static FOLDER: OnceLock<Result<PathBuf, Missing>> = OnceLock::new();
    FOLDER.get_or_init(|| find_complete_folder().map_or_else(build, Ok)).clone()
}

/// Runs `helm` with `arguments` against a plane, and returns its output. Its files are in the folder of the plane.
pub fn helm(plane: &Plane, arguments: &[&str]) -> Output {
    let mut command = command("helm");
    for (variable, folder) in [("CACHE", "cache"), ("CONFIG", "config"), ("DATA", "data")] {
        command.env(format!("HELM_{variable}_HOME"), plane.folder().join("helm").join(folder));
    }
    command.env("KUBECONFIG", plane.kubeconfig());
    output(command, arguments)
}

/// Runs `kustomize build` on a folder, and returns its output.
pub fn kustomize_build(folder: &str) -> Output {
    output(command("kustomize"), &["build", folder])
}

/// Returns a command that runs a program.
///
/// # Panics
/// If the program doesn't exist and can't be built.
fn command(program: &str) -> Command {
    let folder = find().unwrap_or_else(|missing| panic!("this case needs {program}, but {missing}"));
    Command::new(folder.join(program))
}

fn output(mut command: Command, arguments: &[&str]) -> Output {
    command.args(arguments).stdin(Stdio::null());
    command.output().unwrap_or_else(|error| panic!("{command:?} can't be run: {error}"))
}

/// Returns the first folder with all programs.
fn find_complete_folder() -> Option<PathBuf> {
    let is_complete = |folder: &PathBuf| PROGRAMS.iter().all(|(program, ..)| folder.join(program).is_file());
    assets().into_iter().chain([build_folder_path()]).find(is_complete)
}

/// Returns the path of the folder for built programs. Its name has their versions, for example `helm-v4.3.1-kustomize-v5.8.2`.
fn build_folder_path() -> PathBuf {
    let version = |(program, module, _): (&str, &str, &str)| {
        let version = pinned(GO_MOD, module).expect("tests/controlplane/tools/go.mod requires the module");
        format!("{program}-{version}")
    };
    target_folder().join(PROGRAMS.map(version).join("-"))
}

/// Builds Helm and kustomize if no process has built them yet, and returns their folder. A lock lets one process build at a time.
fn build() -> Result<PathBuf, Missing> {
    availability()?;
    let failed = |error: std::io::Error| Missing(format!("Helm and kustomize can't be built: {error}"));
    let _lock = lock().map_err(failed)?;
    // Another process may have built them in the meantime.
    if let Some(folder) = find_complete_folder() {
        return Ok(folder);
    }
    tell("building Helm and kustomize with Go, once; this takes minutes");
    let packages = PROGRAMS.map(|(_, _, package)| package);
    build_folder(&build_folder_path(), |staging| {
        for ((program, ..), package) in PROGRAMS.iter().zip(packages) {
            go_build_stamped(MODULE, &staging.join(program), &[package], "")?;
        }
        Ok(())
    })
    .map_err(failed)?;
    Ok(build_folder_path())
}
