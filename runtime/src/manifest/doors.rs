//! The three ways from an operator to its YAML; all give the same bytes.

use super::{DoorArgs, Drift, ManifestError, Project, compare, files, write};
use crate::error::Chain;
use clap::Parser;
use std::{
    error::Error as StdError,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

/// What manifests can be made of: an operator.
pub trait Described {
    /// Its names, image and kinds.
    ///
    /// # Errors
    /// If the definition of a kind can't be made.
    fn project(&self) -> Result<Project, ProjectError>;
}

/// Why an operator has no manifests.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// `kube` panics on some enum shapes.
    #[error("failed to derive the definition of {kind}: {message}")]
    Underivable {
        /// The kind.
        kind: String,
        /// What the panic said.
        message: String,
    },
    /// The definition is no JSON.
    #[error("failed to write the definition of {kind} as JSON")]
    Json {
        /// The kind.
        kind: String,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
}

/// Why there are no manifests.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DoorError {
    /// The definition of a kind can't be made.
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
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The folder differs from the code.
    #[error("{}\n{}", "the generated files differ from the code; `cargo build` or `opgen generate` writes them anew", .0)]
    Drift(String),
}

/// For a `build.rs`: brings the YAML below `dir` (relative to the package) up to date, so that `cargo build` leaves it
/// current. Warnings of the linter become warnings of the build, its errors fail it.
///
/// ```no_run
/// # mod demo_controller { pub fn operator() -> opgen::Operator { opgen::Operator::new("demo") } }
/// fn main() -> std::process::ExitCode {
///     opgen::manifest::build_script(demo_controller::operator(), "../deploy")
/// }
/// ```
pub fn build_script(operator: impl Described, dir: impl AsRef<Path>) -> ExitCode {
    let written = || -> Result<Vec<String>, DoorError> {
        let rendered = files(&operator.project()?)?;
        let path = dir.as_ref().display().to_string();
        write(&rendered, dir.as_ref()).map_err(|source| DoorError::Folder { path, source })?;
        Ok(rendered.findings.iter().map(ToString::to_string).collect())
    };
    let mut out = io::stdout();
    // Without this line Cargo would run the script again whenever any file of the package changes; what the YAML is made
    // from is linked into the script, and a new script is run anyway.
    let mut say = writeln!(out, "cargo::rerun-if-changed={}", dir.as_ref().display());
    let code = match written() {
        Ok(warnings) => {
            for line in warnings {
                say = say.and_then(|()| writeln!(out, "cargo::warning={}", line.replace('\n', " ")));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            for line in Chain(&error).to_string().lines() {
                say = say.and_then(|()| writeln!(out, "cargo::error={line}"));
            }
            ExitCode::FAILURE
        }
    };
    if say.is_err() { ExitCode::FAILURE } else { code }
}

/// For a test: whether the YAML below `dir` is what the code gives.
///
/// # Errors
/// With a diff, if it isn't.
pub fn check(operator: &impl Described, dir: impl AsRef<Path>) -> Result<(), DoorError> {
    let rendered = files(&operator.project()?)?;
    let path = dir.as_ref().display().to_string();
    let drift = compare(&rendered, dir.as_ref()).map_err(|source| DoorError::Folder { path, source })?;
    if drift.is_empty() { Ok(()) } else { Err(DoorError::Drift(diffs(&drift))) }
}

fn diffs(drift: &[Drift]) -> String {
    drift.iter().map(|drift| drift.diff.as_str()).collect()
}

#[derive(Debug, Parser)]
#[command(about = "Writes the manifests of an operator")]
struct Generator {
    #[command(flatten)]
    door: DoorArgs,
}

/// The `main` of the program that `opgen generate` builds.
pub fn generator(operator: impl Described) -> ExitCode {
    through(&operator, &Generator::parse().door)
}

/// Writes, prints or compares; 1 for an error or a drift.
pub(crate) fn through(operator: &impl Described, door: &DoorArgs) -> ExitCode {
    let drifted = operator
        .project()
        .map_err(DoorError::from)
        .and_then(|project| Ok(door.run(&project, &mut io::stdout().lock())?));
    match drifted {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::FAILURE,
        Err(error) => failed(&error, None),
    }
}

/// Says an error as every command of opgen does.
pub(crate) fn failed(error: &(dyn StdError + 'static), hint: Option<&str>) -> ExitCode {
    let hint = hint.map_or(String::new(), |hint| format!("\nhint: {hint}\n"));
    // Standard error being gone leaves the exit code to tell.
    let _ = writeln!(io::stderr(), "error: {}\n{hint}", Chain(error));
    ExitCode::FAILURE
}
