//! Builds the operator of the current project and runs one of its commands, such as `tree`, `rbac` or `why`.

use std::{
    env,
    ffi::OsString,
    process::{Command, ExitCode},
};

use crate::{
    args::OutputFormat,
    error::{Result, ResultExt as _},
    generator::cargo,
    interrupt,
    project::Project,
    ui::Ui,
};

/// Builds the operator of the project around the current folder, and runs `<operator> <verb> <args>` on this terminal. Returns the exit
/// code of the operator, or 1 if a signal ended it.
pub(super) fn run(verb: &str, args: &[OsString], ui: Ui) -> Result<ExitCode> {
    let current_folder = env::current_dir().or_failed(|| "failed to find the current folder".to_owned())?;
    let project = Project::find_above(&current_folder)?;
    let metadata = cargo::metadata(&project)?;
    let manifest = metadata.workspace_root.join("Cargo.toml");
    let program =
        cargo::build(&project, manifest.as_std_path(), &project.name, metadata.target_directory.as_std_path(), ui)?;
    let mut operator = Command::new(&program);
    operator.arg(verb).args(args);
    if ui.output() != OutputFormat::Text {
        operator.args(["--output", ui.output().as_str()]);
    }
    let failed = || format!("failed to run `{}`", program.display());
    let status = interrupt::wait(operator.spawn().or_failed(failed)?).or_failed(failed)?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
