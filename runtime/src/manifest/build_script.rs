//! Defines `Describe`, the trait of operators whose manifests can be generated, and functions that generate or check them in build scripts,
//! in tests and in the program of `opgen generate`.

use super::{Drift, GenerateArgs, ManifestError, Project, compare, files, write};
use crate::error::ErrorChain;
use clap::Parser;
use std::{
    error::Error as StdError,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

/// An operator that describes itself as a [`Project`], the input of the manifests.
pub trait Describe {
    /// Returns the names, the image and the kinds of the operator.
    ///
    /// # Errors
    /// Fails if the definition of a kind can't be derived.
    fn project(&self) -> Result<Project, ProjectError>;
}

/// The reasons why an operator can't be described as a [`Project`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// `kube` panics on some enum shapes.
    #[error("failed to derive the definition of {kind}: {message}")]
    Underivable {
        /// The kind.
        kind: String,
        /// The message of the panic.
        message: String,
    },
    /// The definition can't be written as JSON.
    #[error("failed to write the definition of {kind} as JSON")]
    Json {
        /// The kind.
        kind: String,
        /// The error of the serializer.
        #[source]
        source: serde_json::Error,
    },
}

/// The reasons why manifests can't be generated, written or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The definition of a kind can't be derived.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A definition is wrong, or a file can't be read or written.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A folder can't be read or written.
    #[error("failed to compare with {path}")]
    Folder {
        /// The folder.
        path: String,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The folder differs from the code.
    #[error("{}\n{}", "the generated files are not up to date; run `cargo build` or `opgen generate`", .0)]
    Drift(String),
}

/// Updates the YAML below `dir` (relative to the package); call it from a `build.rs`, and every `cargo build` updates
/// the manifests. The linter's warnings become warnings of the build, and its errors fail the build.
///
/// ```no_run
/// # mod demo_controller { pub fn operator() -> opgen::Operator { opgen::Operator::new("demo") } }
/// fn main() -> std::process::ExitCode {
///     opgen::manifest::build_script(demo_controller::operator(), "../deploy")
/// }
/// ```
pub fn build_script(operator: impl Describe, dir: impl AsRef<Path>) -> ExitCode {
    // Writes the manifests and returns the linter's warnings.
    let write_files = || -> Result<Vec<String>, GenerateError> {
        let rendered = files(&operator.project()?)?;
        let path = dir.as_ref().display().to_string();
        write(&rendered, dir.as_ref()).map_err(|source| GenerateError::Folder { path, source })?;
        Ok(rendered.findings.iter().map(ToString::to_string).collect())
    };
    let mut out = io::stdout();
    // Without this line Cargo runs the script again whenever any file of the package changes. The inputs of the YAML are linked
    // into the script, and Cargo runs a rebuilt script anyway.
    let mut printed = writeln!(out, "cargo::rerun-if-changed={}", dir.as_ref().display());
    let code = match write_files() {
        Ok(warnings) => {
            for line in warnings {
                printed = printed.and_then(|()| writeln!(out, "cargo::warning={}", line.replace('\n', " ")));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            for line in ErrorChain(&error).to_string().lines() {
                printed = printed.and_then(|()| writeln!(out, "cargo::error={line}"));
            }
            ExitCode::FAILURE
        }
    };
    if printed.is_err() { ExitCode::FAILURE } else { code }
}

/// Checks that the YAML below `dir` equals the generated YAML; call it from a test.
///
/// # Errors
/// Fails with a diff if a file differs.
pub fn check(operator: &impl Describe, dir: impl AsRef<Path>) -> Result<(), GenerateError> {
    let rendered = files(&operator.project()?)?;
    let path = dir.as_ref().display().to_string();
    let drift = compare(&rendered, dir.as_ref()).map_err(|source| GenerateError::Folder { path, source })?;
    if drift.is_empty() { Ok(()) } else { Err(GenerateError::Drift(diffs(&drift))) }
}

/// Returns the diffs of all drifted files as one text.
fn diffs(drift: &[Drift]) -> String {
    drift.iter().map(|drift| drift.diff.as_str()).collect()
}

/// The command line of [`generator`].
#[derive(Debug, Parser)]
#[command(about = "Writes the manifests of an operator")]
struct Generator {
    #[command(flatten)]
    args: GenerateArgs,
}

/// Implements the `main` of the program that `opgen generate` builds.
pub fn generator(operator: impl Describe) -> ExitCode {
    run_generator(&operator, &Generator::parse().args)
}

/// Writes, prints or compares the manifests of `operator`, as the arguments say. The exit code is 1 after an error, and if a compared file
/// differs from the generated one.
pub(crate) fn run_generator(operator: &impl Describe, args: &GenerateArgs) -> ExitCode {
    let drifted = operator
        .project()
        .map_err(GenerateError::from)
        .and_then(|project| Ok(args.run(&project, &mut io::stdout().lock())?));
    match drifted {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::FAILURE,
        Err(error) => exit_with_error(&error, None),
    }
}

/// Prints an error with its causes and a hint to standard error, in the format of every command, and returns a failure code.
pub(crate) fn exit_with_error(error: &(dyn StdError + 'static), hint: Option<&str>) -> ExitCode {
    let hint = hint.map_or(String::new(), |hint| format!("\nhint: {hint}\n"));
    // If standard error is closed, only the exit code reports the failure.
    let _ = writeln!(io::stderr(), "error: {}\n{hint}", ErrorChain(error));
    ExitCode::FAILURE
}
