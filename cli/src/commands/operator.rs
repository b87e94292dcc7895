//! Verbs that the project's own operator carries out.

use std::{
    env,
    ffi::OsString,
    process::{ExitCode, Stdio},
};

use crate::{
    error::{Explain as _, Result},
    generator::cargo::cargo,
    project::Project,
    ui::Ui,
};

/// Runs `<operator> <verb> <args>` with this terminal, and ends as it ends.
pub(super) fn run(verb: &str, args: &[OsString], ui: Ui) -> Result<ExitCode> {
    let here = env::current_dir().or_failed(|| "failed to find the current folder".to_owned())?;
    let project = Project::around(&here)?;
    let mut command = cargo(&project);
    command.args(["run", "--quiet", "--manifest-path"]).arg(project.root.join("Cargo.toml"));
    command.args(["--package", &project.name, "--", verb]);
    if ui.is_json() {
        command.args(["--output", "json"]);
    }
    let status = command
        .args(args)
        .current_dir(here)
        .stdin(Stdio::inherit())
        .status()
        .or_failed(|| format!("failed to run `{} {verb}`", project.name))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
