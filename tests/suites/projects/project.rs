//! `Project`: a scaffolded project that a case edits, builds and runs.

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command, time::Instant};

use crate::scaffold::command::{Run, cargo, checkout, command, folder_of_projects, target_of_projects};

/// A project of `opgen new`, in a folder that is kept for the next run. It resolves to the versions that opgen itself is tested with.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
}

impl Project {
    /// Writes a project into the folder of a case. The arguments of `opgen new` name the project. Each case needs another name: all
    /// projects share a target folder, where Cargo does not tell two packages with one name and the same place in a workspace apart.
    pub(crate) fn new(case: &str, args: &str) -> Self {
        let root = folder_of_projects().join(case);
        if root.exists() {
            fs::remove_dir_all(&root).expect("the project of the last run can be removed");
        }
        fs::create_dir_all(&root).expect("a folder");
        let run = Run::of(command(&root, &format!("new {args} --path .")), &root);
        assert_eq!(run.code, 0, "{}", run.stderr);
        fs::copy(checkout().join("Cargo.lock"), root.join("Cargo.lock")).expect("a lock file");
        Self { root }
    }

    /// Runs cargo and returns its output.
    #[track_caller]
    pub(crate) fn cargo(&self, args: &str) -> String {
        run_cargo(cargo(&self.root, &target_of_projects()), args)
    }

    /// Returns the warnings of Clippy. It compiles the packages of the project with Clippy, and uses the dependencies that are built:
    /// `cargo clippy` would check each of them once more.
    #[track_caller]
    pub(crate) fn lint(&self) -> String {
        let mut command = cargo(&self.root, &target_of_projects());
        command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        run_cargo(command, "build --quiet --all-targets")
    }

    /// Runs `opgen` in a subfolder of the project.
    pub(crate) fn opgen(&self, args: &str) -> Run {
        let mut command = command(&self.root.join("api"), args);
        command.env("CARGO_TARGET_DIR", target_of_projects());
        Run::of(command, &self.root)
    }

    /// Runs `opgen`, which must end with an exit code and print a text to stderr. Returns its stdout.
    #[track_caller]
    pub(crate) fn check_opgen(&self, args: &str, code: i32, printed: &str) -> String {
        let run = self.opgen(args);
        assert_eq!(run.code, code, "opgen {args}\n{}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(printed), "opgen {args}: `{printed}` is not in\n{}", run.stderr);
        run.stdout
    }

    /// Returns the files of `deploy/`: their texts by path.
    pub(crate) fn deploy(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.root.join("deploy")];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.root.join("deploy")).expect("a path below").display().to_string();
                    files.insert(name, fs::read_to_string(path).expect("text"));
                }
            }
        }
        files
    }

    /// Replaces a text in a file, and returns the time when the file was saved.
    #[track_caller]
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) -> Instant {
        let path = self.root.join(path);
        let text = fs::read_to_string(&path).expect("text");
        assert!(text.contains(from), "`{from}` is in {}", path.display());
        fs::write(path, text.replace(from, to)).expect("a file");
        Instant::now()
    }
}

#[track_caller]
fn run_cargo(mut command: Command, args: &str) -> String {
    let output = command.args(args.split_whitespace()).output().expect("cargo runs");
    let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "cargo {args}\n{printed}");
    printed
}
