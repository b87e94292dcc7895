//! Prints the generated manifests, writes them to a folder, or compares them with the files there, as the command-line options ask.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::folder::{Action, compare, write};
use super::lint::ManifestError;
use super::project::Project;
use super::render::{Rendered, files};

/// The options of `manifests`.
#[derive(Clone, Debug, Default, clap::Args)]
#[non_exhaustive]
pub struct GenerateArgs {
    /// Write the files to this folder instead of printing `install.yaml`.
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// Write nothing: print how the folder (`deploy` by default) differs from the code, and fail if it does.
    #[arg(long)]
    pub check: bool,
    /// The output format.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output: OutputFormat,
}

/// The output format of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
#[non_exhaustive]
pub enum OutputFormat {
    /// Text; YAML for manifests.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

impl GenerateArgs {
    /// Prints, writes or compares the manifests according to the options; see [`generate()`].
    ///
    /// # Errors
    ///
    /// As [`generate()`].
    pub fn run(&self, project: &Project, out: &mut dyn Write) -> Result<bool, ManifestError> {
        let dir = match (&self.dir, self.check) {
            (None, true) => Some(Path::new("deploy")),
            (dir, _) => dir.as_deref(),
        };
        generate(project, dir, self.check, self.output == OutputFormat::Json, out)
    }
}

/// Generates the manifests of `project` and prints, writes or compares them. Returns whether the folder differs from them; the
/// answer is false unless `check` is set.
///
/// Without `dir` it prints the manifests: `install.yaml`, or with `output_json` every file with its text. With `dir` it writes
/// them, or with `check` compares them. Warnings go to `out` as comments, or into the JSON object.
///
/// # Errors
///
/// Fails with the linter's errors, or if a file or `out` can't be read or written.
pub fn generate(
    project: &Project,
    dir: Option<&Path>,
    check: bool,
    output_json: bool,
    out: &mut dyn Write,
) -> Result<bool, ManifestError> {
    let rendered = files(project)?;
    let (report, drifted) = match dir {
        None => (all_files(&rendered), false),
        Some(dir) if check => {
            let drift = compare(&rendered, dir).map_err(|source| io_error(dir, source))?;
            let text = drift.iter().map(|drift| drift.diff.as_str()).collect();
            (Report { json: json!({"drift": drift}), text }, !drift.is_empty())
        }
        Some(dir) => {
            let changes = write(&rendered, dir).map_err(|source| io_error(dir, source))?;
            let line = |path: &str, action: Action| format!("{action:>12} {}\n", dir.join(path).display());
            let text = changes.iter().map(|change| line(&change.path, change.action)).collect();
            (Report { json: json!({"changes": changes}), text }, false)
        }
    };
    report.print(&rendered, output_json, out).map_err(|source| io_error(Path::new("standard output"), source))?;
    Ok(drifted)
}

/// The outcome of [`generate()`] in both output formats.
struct Report {
    json: Value,
    text: String,
}

/// Returns a report whose JSON contains every generated file, and whose text is only `install.yaml`, which kubectl can apply.
fn all_files(rendered: &Rendered) -> Report {
    let file_json = |file: &super::File| json!({"path": file.path, "text": file.text});
    let files: Vec<_> = rendered.files.iter().map(file_json).collect();
    Report { json: json!({"files": files}), text: rendered.text("install.yaml").unwrap_or_default().to_owned() }
}

impl Report {
    /// Prints the report with the linter's warnings: as JSON, in the field `findings`; as text, in comments before the text.
    fn print(mut self, rendered: &Rendered, output_json: bool, out: &mut dyn Write) -> io::Result<()> {
        if output_json {
            self.json["findings"] = json!(rendered.findings);
            return writeln!(out, "{}", self.json);
        }
        for finding in &rendered.findings {
            writeln!(out, "# warning: {finding}")?;
        }
        out.write_all(self.text.as_bytes())
    }
}

fn io_error(path: &Path, source: io::Error) -> ManifestError {
    ManifestError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::fixture;
    use super::*;

    /// Runs the command with these options, and returns whether the folder differs and the printed text.
    fn run_with(args: &GenerateArgs) -> (bool, String) {
        let mut out = Vec::new();
        let drifted = args.run(&fixture::project(), &mut out).unwrap();
        (drifted, String::from_utf8(out).unwrap())
    }

    #[test]
    fn install_yaml_is_printed_if_no_folder_is_set() {
        let (drifted, text) = run_with(&GenerateArgs::default());
        assert!(!drifted);
        assert_eq!(text, files(&fixture::project()).unwrap().text("install.yaml").unwrap());
    }

    #[test]
    fn the_json_output_contains_every_file() {
        let (_, text) = run_with(&GenerateArgs { output: OutputFormat::Json, ..GenerateArgs::default() });
        let value: Value = serde_json::from_str(&text).unwrap();
        let rendered = files(&fixture::project()).unwrap();
        assert_eq!(value["files"].as_array().unwrap().len(), rendered.files.len());
        assert_eq!(value["findings"], json!([]));
    }

    #[test]
    fn a_check_reports_drift_until_the_files_are_written() {
        let dir = std::env::temp_dir().join(format!("opgen-door-{}", std::process::id()));
        let check = GenerateArgs { dir: Some(dir.clone()), check: true, ..GenerateArgs::default() };
        let (drifted, text) = run_with(&check);
        assert!(drifted && text.contains("+++ b/base/rbac.yaml"), "{text}");
        let (_, text) = run_with(&GenerateArgs { check: false, ..check.clone() });
        assert!(text.contains("     Created ") && text.contains("rbac.yaml"), "{text}");
        assert_eq!(run_with(&check), (false, String::new()));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
