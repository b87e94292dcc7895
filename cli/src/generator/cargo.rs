//! Runs cargo for a project: metadata, the lock file and builds.

use std::{
    io::BufReader,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cargo_metadata::{Message, Metadata, MetadataCommand};

use crate::{
    error::{Error, Result, ResultExt as _},
    interrupt,
    project::Project,
    toolchain,
    ui::Ui,
};

/// Returns the packages of the project's workspace and its target folder.
pub(crate) fn metadata(project: &Project) -> Result<Metadata> {
    run_metadata(project, MetadataCommand::new().no_deps())
}

/// Returns the [`metadata`] with all dependencies.
pub(crate) fn metadata_with_dependencies(project: &Project) -> Result<Metadata> {
    run_metadata(project, &mut MetadataCommand::new())
}

/// Runs `cargo metadata` in the project's folder, and returns the metadata of the workspace, which may contain more than the project.
fn run_metadata(project: &Project, command: &mut MetadataCommand) -> Result<Metadata> {
    let metadata = command.current_dir(&project.root).exec();
    metadata.or_failed(|| format!("failed to run `cargo metadata` for `{}`", project.root.display()))
}

/// Generates the lock file of the project's workspace, unless it exists.
pub(crate) fn lock(project: &Project, workspace: &Path) -> Result<()> {
    if workspace.join("Cargo.lock").is_file() {
        return Ok(());
    }
    let status = cargo(project).args(["generate-lockfile", "--quiet"]).spawn().and_then(interrupt::wait);
    let failed = || "failed to resolve the dependencies of the project".to_owned();
    if status.or_failed(failed)?.success() { Ok(()) } else { Err(Error::failed(failed())) }
}

/// Builds the binary `package` of the package with the same name, shows the progress, and returns the path of the executable. The
/// compiler prints to stderr. A signal that ends this process also ends cargo and the compilers.
pub(crate) fn build(project: &Project, manifest: &Path, package: &str, target: &Path, ui: Ui) -> Result<PathBuf> {
    let failed = || "failed to build the project's code".to_owned();
    let progress = ui.progress("Building", None);
    progress.step(package);
    // The root as the current folder selects the project's `.cargo/config.toml` and toolchain.
    let mut child = cargo(project)
        .args(["build", "--quiet", "--message-format=json-render-diagnostics", "--package", package, "--bin", package])
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .stdout(Stdio::piped())
        // A process group of its own includes the compilers.
        .process_group(0)
        .spawn()
        .or_failed(failed)?;
    let guard = interrupt::terminate_group(&child);
    let mut program = None;
    if let Some(stdout) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(stdout)).flatten() {
            if let Message::CompilerArtifact(artifact) = message {
                progress.tick(&artifact.target.name);
                // The artifacts of libraries have no executable.
                program = artifact.executable.or(program);
            }
        }
    }
    let status = child.wait().or_failed(failed)?;
    drop(guard);
    match (status.success(), program) {
        (true, Some(program)) => Ok(program.into_std_path_buf()),
        _ => Err(Error::failed(failed()).hint("run `cargo check` in the project to see the errors")),
    }
}

/// Returns a cargo command in the project's folder.
fn cargo(project: &Project) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(&project.root).stdin(Stdio::null());
    toolchain::remove_variables_of_cargo_run(&mut command);
    command
}
