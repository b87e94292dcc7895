//! Builds the operator with cargo, and links each built executable under a path that later builds don't replace.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Instant,
};

use cargo_metadata::Message;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::process_group::ProcessGroup;
use crate::{
    error::{Error, Result, ResultExt as _},
    project::Project,
    toolchain,
};

/// A program after a build.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The path of a link that later builds don't replace.
    pub(super) path: PathBuf,
    /// The inode and modification time; cargo replaces the file when it builds again.
    file_id: (u64, i64, i64),
    pub(super) built_at: Instant,
}

impl Program {
    /// Links the built program into a folder, so that later builds do not replace it; copies it if the folder is on another file
    /// system.
    fn link(built: &Path, folder: &Path) -> std::io::Result<Self> {
        let metadata = fs_err::metadata(built)?;
        let file_id = (metadata.ino(), metadata.mtime_nsec(), metadata.mtime());
        let name = built.file_name().unwrap_or_default().display();
        let path = folder.join(format!("{name}-{}-{}", file_id.0, file_id.1));
        if !path.exists() && fs_err::hard_link(built, &path).is_err() {
            fs_err::copy(built, &path)?;
        }
        Ok(Self { path, file_id, built_at: Instant::now() })
    }

    /// Returns whether cargo has not replaced the executable between the two builds.
    pub(super) fn is_same_build(&self, other: &Self) -> bool {
        self.file_id == other.file_id
    }

    pub(super) fn remove(&self) {
        // On an error the file is removed with its folder.
        _ = fs_err::remove_file(&self.path);
    }
}

/// Builds the operator with cargo and links the executable into a folder. Returns `None` if the code doesn't compile; cargo prints the
/// errors. The first build also prints cargo's progress.
pub(super) async fn build(
    project: &Project,
    folder: &Path,
    process_group: &ProcessGroup,
    is_first: bool,
) -> Result<Option<Program>> {
    let failed = || "failed to run `cargo build`".to_owned();
    let mut command = process_group.command("cargo");
    toolchain::remove_variables_of_cargo_run(command.as_std_mut());
    command.current_dir(&project.root).stdout(Stdio::piped());
    command.args(["build", "--message-format=json-render-diagnostics"]);
    command.args(["--package", &project.name, "--bin", &project.name]);
    if !is_first {
        // Later builds print errors and warnings only.
        command.arg("--quiet");
    }
    let mut child = command.spawn().or_failed(failed)?;
    let mut program = None;
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await.or_failed(failed)? {
            // Lines that don't parse are output of build scripts. The artifacts of libraries have no executable.
            if let Ok(Message::CompilerArtifact(artifact)) = serde_json::from_str(&line) {
                program = artifact.executable.or(program);
            }
        }
    }
    if !child.wait().await.or_failed(failed)?.success() {
        return Ok(None);
    }
    let program = program.ok_or_else(|| Error::failed("cargo built no binary"))?;
    Program::link(program.as_std_path(), folder).map(Some).or_failed(|| "failed to copy the binary".to_owned())
}

/// Checks that the workspace has the package of the operator, with a binary of the same name.
pub(super) fn check_package(project: &Project, metadata: &cargo_metadata::Metadata) -> Result<()> {
    let package = metadata.packages.iter().find(|package| package.name.as_str() == project.name);
    let Some(package) = package else {
        let problem = format!("the workspace has no package `{}`", project.name);
        return Err(Error::failed(problem).hint("use the name of the operator's package as `name` in `opgen.toml`"));
    };
    if package.targets.iter().any(|target| target.is_bin() && target.name == project.name) {
        return Ok(());
    }
    let manifest = Path::new(package.manifest_path.as_str()).display().to_string();
    Err(Error::failed(format!("package `{}` has no binary of the same name", project.name))
        .because(format!("`{manifest}` has no `src/main.rs`"))
        .hint(format!(
            "write `opgen::operator!({}::operator());` in `src/main.rs`",
            project.controller_package().replace('-', "_")
        )))
}
