//! Implements `opgen generate`: writes the YAML of a project, or checks that the written YAML is up to date.

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
    error::{Error, Result, ResultExt as _},
    generator::{
        cargo, package,
        report::Report,
        sandbox_check,
        stamp::{self, Stamp},
        validation,
    },
    interrupt,
    project::Project,
    ui::Ui,
};

/// Runs `opgen generate`: generates the YAML of the project around the path, or checks it for drift. A stamp, the stored hashes of all
/// inputs and outputs of the last run, saves the build if nothing has changed since.
pub(super) fn run(args: &Generate, ui: Ui) -> Result<ExitCode> {
    let project = Project::find_above(&args.path)?;
    let metadata = cargo::metadata(&project)?;
    let (target, workspace) = (metadata.target_directory.as_std_path(), metadata.workspace_root.as_std_path());
    let folder = target.join("opgen").join(package::name(&project));
    let stamp_file = folder.join("stamp.json");
    if let Some(stamp) = Stamp::load_current(&stamp_file, &project) {
        return conclude(args, &project, &stamp.report(), ui);
    }
    let start = SystemTime::now();
    cargo::lock(&project, workspace)?;
    write_package(&project, &metadata, &folder)?;
    let program = cargo::build(&project, &folder.join("Cargo.toml"), &package::name(&project), target, ui)?;
    let inputs = stamp::inputs(&project, workspace, &program.with_extension("d"), &folder);
    validation::check(inputs.iter().flatten().map(PathBuf::as_path), workspace)?;
    check_in_sandbox(&project, &program, ui)?;
    let report = generate(args, &project, &program)?;
    // A stamp is stored only for YAML that is up to date: it was just written, or has no drift.
    if let Some(inputs) = inputs.filter(|_| writes(args) || report.is_clean()) {
        let stamp = Stamp::new(&project, inputs, &report);
        if !stamp.has_input_newer_than(start) {
            stamp.store(&stamp_file).or_failed(|| "failed to store the inputs of the YAML".to_owned())?;
        }
    }
    conclude(args, &project, &report, ui)
}

/// Returns whether the command writes the YAML.
fn writes(args: &Generate) -> bool {
    !args.check && !args.dry_run
}

/// Creates the generated CRDs and samples in a sandbox, an API server inside this process. Prints the warnings of the server, and fails
/// if it refuses an object.
fn check_in_sandbox(project: &Project, program: &Path, ui: Ui) -> Result<()> {
    let mut command = Command::new(program);
    // Without `--dir`, the generator prints the files and writes nothing.
    command.args(["--output", "json"]);
    let files = run_generator(command, project, program)?.files;
    for warning in sandbox_check::check(&files)?.into_result()? {
        ui.warning(&warning);
    }
    Ok(())
}

/// Runs the generator, which writes the YAML to the folder of the project. With `--check` or `--dry-run` it only reports the drift.
fn generate(args: &Generate, project: &Project, program: &Path) -> Result<Report> {
    let mut command = Command::new(program);
    command.args(["--output", "json", "--dir"]).arg(project.generated_folder());
    if !writes(args) {
        command.arg("--check");
    }
    run_generator(command, project, program)
}

/// Runs the generator in the project's folder, and parses its report. A signal that ends this process ends the generator, too.
fn run_generator(mut command: Command, project: &Project, program: &Path) -> Result<Report> {
    command.current_dir(&project.root);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let failed = || format!("failed to run `{}`", program.display());
    let child = command.spawn().or_failed(failed)?;
    let guard = interrupt::terminate_group(&child);
    let output = child.wait_with_output().or_failed(failed)?;
    drop(guard);
    Report::read(&output, &project.generated)
}

/// Prints findings, changes and drift, and all of them as JSON if that is the output format. Fails if `--check` found drift.
fn conclude(args: &Generate, project: &Project, report: &Report, ui: Ui) -> Result<ExitCode> {
    let display_path = |path: &str| project.generated.join(path).display().to_string();
    for finding in &report.findings {
        ui.warning(&finding.text());
    }
    for change in &report.changes {
        ui.status(change.action.change_verb(), &display_path(&change.path));
    }
    for change in &report.drift {
        ui.status(change.action.drift_word(), &display_path(&change.path));
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
        return Err(Error::failed(format!("`{folder}` is not up to date")).hint("run `opgen generate`"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the package of the generator, a small program that prints the project's YAML, to `folder`. Leaves files with the same text
/// untouched, so that cargo rebuilds only after changes.
fn write_package(project: &Project, metadata: &Metadata, folder: &Path) -> Result<()> {
    let failed = || format!("failed to write the generator to `{}`", folder.display());
    let Some(operator) = metadata.packages.iter().find(|package| package.name.as_str() == project.name) else {
        return Err(Error::failed(format!("the workspace has no package `{}`", project.name))
            .hint("use the name of the operator's package as `name` in `opgen.toml`"));
    };
    // The root of the workspace is not that of the project if the project is a part of a larger workspace.
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
