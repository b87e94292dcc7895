//! The built `opgen`, run in a folder of its own.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

use serde_json::Value;

/// A good command line, for tests that are about something else.
pub(crate) const GOOD: &str = "new demo --group demo.example.com --kind Widget";

/// The environment variable with the compiler of the packages of a workspace. CI lints this workspace by it, and no other.
const COMPILER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// The folder of the workspace that the tests belong to.
pub(crate) fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace")
}

/// The target folder that this suite is built in.
pub(crate) fn target_folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder below the target folder")
}

/// The target folder of scaffolded projects. It is kept between runs, so that only the first one builds the dependencies.
pub(crate) fn target_of_projects() -> PathBuf {
    target_folder().join("scaffold")
}

/// The folder of the scaffolded projects that are kept between runs. No other process uses it until this one ends.
pub(crate) fn folder_of_projects() -> &'static Path {
    static LOCKED: LazyLock<(PathBuf, File)> = LazyLock::new(|| {
        let folder = target_of_projects().join("projects");
        fs::create_dir_all(&folder).expect("a folder");
        let lock = File::create(folder.with_extension("lock")).expect("a lock file");
        lock.lock().expect("the lock");
        (folder, lock)
    });
    &LOCKED.0
}

/// The program, built once a run.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let output = cargo(checkout(), target_folder())
            // With the compiler and the features that this suite has, so that nothing is built twice.
            .envs(env::var_os(COMPILER).map(|compiler| (COMPILER, compiler)))
            .args(["build", "--quiet", "--workspace", "--test", "suites", "--bin", "opgen"])
            .arg("--message-format=json-render-diagnostics")
            .stderr(Stdio::inherit())
            .output()
            .expect("cargo runs");
        let messages = String::from_utf8(output.stdout).expect("cargo prints JSON");
        let artifact = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|message| message["target"]["name"] == "opgen" && message["executable"].is_string());
        artifact.expect("opgen builds")["executable"].as_str().expect("a path").into()
    });
    &PROGRAM
}

/// Cargo with a target folder, and without what an outer cargo says about the package of the tests.
pub(crate) fn cargo(folder: &Path, target: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(folder).env("CARGO_TARGET_DIR", target);
    without_outer_cargo(&mut command);
    command
}

/// Removes what an outer cargo says about its package. What says how to build stays, or all packages would be built a second time.
fn without_outer_cargo(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if (name.starts_with("CARGO_") && !is_build_setting(&name)) || ["CARGO", COMPILER].contains(&&*name) {
            command.env_remove(&*name);
        }
    }
}

/// Returns whether a variable says where and how Cargo builds.
pub(crate) fn is_build_setting(name: &str) -> bool {
    ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_INCREMENTAL"].contains(&name) || name.starts_with("CARGO_PROFILE_")
}

/// An empty folder to run the program in.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().canonicalize().expect("the folder exists");
        Self { folder, root }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Runs `opgen` with arguments that have no spaces in them.
    pub(crate) fn opgen(&self, args: &str) -> Run {
        Run::of(self.command(args), &self.root)
    }

    pub(crate) fn command(&self, args: &str) -> Command {
        command(&self.root, args)
    }

    /// Every file below the folder with its text, by its path.
    pub(crate) fn files(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        collect(self.folder.path(), self.folder.path(), &mut files);
        files.sort();
        files
    }
}

/// `opgen`, with no terminal and no wishes about colours.
pub(crate) fn command(folder: &Path, args: &str) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder).args(args.split_whitespace()).stdin(Stdio::null());
    without_outer_cargo(&mut command);
    for name in ["CLICOLOR", "CLICOLOR_FORCE", "NO_COLOR", "OPGEN_PATH"] {
        command.env_remove(name);
    }
    command
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            collect(root, &entry, files);
        } else {
            let path = entry.strip_prefix(root).expect("a path below the folder").to_str().expect("UTF-8").to_owned();
            files.push((path, fs::read_to_string(&entry).expect("text")));
        }
    }
}

/// What a run ended in; machine paths are replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(mut command: Command, root: &Path) -> Self {
        let output = command.output().expect("opgen runs");
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("UTF-8");
            text.replace(root.to_str().expect("UTF-8"), "[here]")
                .replace(checkout().to_str().expect("UTF-8"), "[checkout]")
        };
        Self { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
