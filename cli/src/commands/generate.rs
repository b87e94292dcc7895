//! `opgen generate`: the YAML of a project, written or checked.

use std::{
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::SystemTime,
};

use cargo_metadata::Metadata;
use serde_json::json;
use toml_edit::DocumentMut;

use crate::{
    args::Generate,
    error::{Error, Explain as _, Result},
    generator::{
        cargo, package,
        report::Report,
        rules,
        stamp::{self, Stamp},
        verdict,
    },
    interrupt,
    project::Project,
    ui::Ui,
};

pub(super) fn run(args: &Generate, ui: Ui) -> Result<ExitCode> {
    let project = Project::around(&args.path)?;
    let metadata = cargo::metadata(&project)?;
    let (target, workspace) = (metadata.target_directory.as_std_path(), metadata.workspace_root.as_std_path());
    let folder = target.join("opgen").join(package::name(&project));
    let stamp_file = folder.join("stamp.json");
    if let Some(stamp) = Stamp::current(&stamp_file, &project) {
        return conclude(args, &project, &stamp.unchanged(), ui);
    }
    let start = SystemTime::now();
    cargo::lock(&project, workspace)?;
    write_package(&project, &metadata, &folder)?;
    let program = cargo::build(&project, &folder.join("Cargo.toml"), &package::name(&project), target, ui)?;
    let inputs = stamp::inputs(&project, workspace, &program.with_extension("d"), &folder);
    rules::check(inputs.iter().flatten().map(PathBuf::as_path), workspace)?;
    accepted(&project, &program, ui)?;
    let report = generate(args, &project, &program)?;
    if let Some(inputs) = inputs.filter(|_| writes(args) || report.is_clean()) {
        let stamp = Stamp::taken(&project, inputs, &report);
        if !stamp.has_input_newer_than(start) {
            stamp.store(&stamp_file).or_failed(|| "failed to note what the YAML was made from".to_owned())?;
        }
    }
    conclude(args, &project, &report, ui)
}

fn writes(args: &Generate) -> bool {
    !args.check && !args.dry_run
}

/// An error where an API server would refuse a file, before any is written.
fn accepted(project: &Project, program: &Path, ui: Ui) -> Result<()> {
    let mut command = Command::new(program);
    command.args(["--output", "json"]);
    let files = asked(command, project, program)?.files;
    for warning in verdict::of(&files)?.into_result()? {
        ui.warning(&warning);
    }
    Ok(())
}

fn generate(args: &Generate, project: &Project, program: &Path) -> Result<Report> {
    let mut command = Command::new(program);
    command.args(["--output", "json", "--dir"]).arg(project.generated_folder());
    if !writes(args) {
        command.arg("--check");
    }
    asked(command, project, program)
}

/// Runs the generator in the project's folder; a signal ends it.
fn asked(mut command: Command, project: &Project, program: &Path) -> Result<Report> {
    command.current_dir(&project.root);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let failed = || format!("failed to run `{}`", program.display());
    let child = command.spawn().or_failed(failed)?;
    let guard = interrupt::group(&child);
    let output = child.wait_with_output().or_failed(failed)?;
    drop(guard);
    Report::read(&output, &project.generated)
}

/// Says what was done or found, and whether that is how it should be.
fn conclude(args: &Generate, project: &Project, report: &Report, ui: Ui) -> Result<ExitCode> {
    let shown = |path: &str| project.generated.join(path).display().to_string();
    for finding in &report.findings {
        ui.warning(&finding.text());
    }
    for change in &report.changes {
        ui.status(change.action.done(), &shown(&change.path));
    }
    for change in &report.drift {
        ui.status(change.action.due(), &shown(&change.path));
        ui.data(change.diff.trim_end());
    }
    ui.json(&if writes(args) {
        json!({"changes": report.changes, "findings": report.findings})
    } else {
        json!({"drift": report.drift, "findings": report.findings})
    });
    let folder = format!("{}/", project.generated.display());
    if report.is_clean() {
        ui.status("Unchanged", &folder);
    }
    if args.check && !report.drift.is_empty() {
        return Err(Error::failed(format!("`{folder}` is not what the code says")).hint("run `opgen generate`"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the package where it differs, so that cargo sees no change where there is none.
fn write_package(project: &Project, metadata: &Metadata, folder: &Path) -> Result<()> {
    let failed = || format!("failed to write the generator to `{}`", folder.display());
    let Some(operator) = metadata.packages.iter().find(|package| package.name.as_str() == project.name) else {
        return Err(Error::failed(format!("the workspace has no package `{}`", project.name))
            .hint("`opgen.toml` names the package of the operator; keep the two alike"));
    };
    // The project may be a part of a larger workspace.
    let root = metadata.workspace_root.as_std_path();
    let workspace = fs_err::read_to_string(root.join("Cargo.toml")).or_failed(failed)?;
    let workspace: DocumentMut = workspace.parse().or_failed(failed)?;
    let text = package::generator(project, operator, root, &workspace)?;
    fs_err::create_dir_all(folder.join("src")).or_failed(failed)?;
    for (path, text) in [("Cargo.toml", &text.manifest), ("src/main.rs", &text.main)] {
        let path = folder.join(path);
        if fs_err::read_to_string(&path).ok().as_ref() != Some(text) {
            fs_err::write(path, text).or_failed(failed)?;
        }
    }
    fs_err::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).or_failed(failed)?;
    Ok(())
}
