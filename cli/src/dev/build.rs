//! The operator's program, built by cargo.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Instant,
};

use cargo_metadata::Message;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::lifeline::Lifeline;
use crate::{
    error::{Error, Explain as _, Result},
    project::Project,
};

/// A program as it was after a build.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Where it stays as it is, whatever is built next and by whom.
    pub(super) path: PathBuf,
    /// Cargo replaces the file when it builds it anew.
    file: (u64, i64, i64),
    pub(super) built: Instant,
}

impl Program {
    /// Of what cargo has built, with a name of its own in a folder.
    fn kept(built: &Path, folder: &Path) -> std::io::Result<Self> {
        let metadata = fs_err::metadata(built)?;
        let file = (metadata.ino(), metadata.mtime_nsec(), metadata.mtime());
        let name = built.file_name().unwrap_or_default().display();
        let path = folder.join(format!("{name}-{}-{}", file.0, file.1));
        if !path.exists() && fs_err::hard_link(built, &path).is_err() {
            fs_err::copy(built, &path)?;
        }
        Ok(Self { path, file, built: Instant::now() })
    }

    /// Whether there is nothing new in it.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.file == other.file
    }

    pub(super) fn remove(&self) {
        // What can't be removed now goes with its folder.
        _ = fs_err::remove_file(&self.path);
    }
}

/// Builds the operator, and keeps the program in a folder. Cargo writes to stderr what it always does; `None` if the code
/// doesn't compile.
pub(super) async fn build(
    project: &Project,
    folder: &Path,
    lifeline: &Lifeline,
    is_first: bool,
) -> Result<Option<Program>> {
    let failed = || "failed to run `cargo build`".to_owned();
    let mut command = lifeline.command("cargo");
    command.current_dir(&project.root).stdout(Stdio::piped());
    command.args(["build", "--message-format=json-render-diagnostics"]);
    command.args(["--package", &project.name, "--bin", &project.name]);
    if !is_first {
        // The errors and warnings are enough.
        command.arg("--quiet");
    }
    let mut child = command.spawn().or_failed(failed)?;
    let mut program = None;
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await.or_failed(failed)? {
            // What is no message of cargo's was printed by a build script.
            if let Ok(Message::CompilerArtifact(artifact)) = serde_json::from_str(&line) {
                program = artifact.executable.or(program);
            }
        }
    }
    if !child.wait().await.or_failed(failed)?.success() {
        return Ok(None);
    }
    let program = program.ok_or_else(|| Error::failed("cargo built no program"))?;
    Program::kept(program.as_std_path(), folder).map(Some).or_failed(|| "failed to keep the program".to_owned())
}

/// Refuses a project that has no operator to run.
pub(super) fn check(project: &Project, metadata: &cargo_metadata::Metadata) -> Result<()> {
    let package = metadata.packages.iter().find(|package| package.name.as_str() == project.name);
    let Some(package) = package else {
        let what = format!("the workspace has no package `{}`", project.name);
        return Err(Error::failed(what).hint("`opgen.toml` names the package of the operator; keep the two alike"));
    };
    if package.targets.iter().any(|target| target.is_bin() && target.name == project.name) {
        return Ok(());
    }
    let manifest = Path::new(package.manifest_path.as_str()).display().to_string();
    Err(Error::failed(format!("package `{}` has no program of that name", project.name))
        .because(format!("`{manifest}` leads to no `src/main.rs`"))
        .hint(format!(
            "`opgen::operator!({}::operator());` in `src/main.rs` is one",
            project.controller_package().replace('-', "_")
        )))
}
