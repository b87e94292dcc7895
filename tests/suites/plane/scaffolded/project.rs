//! A project as `opgen new` writes it, built.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::operator::program::{build, own, target_folder};

/// The operator's name, and that of its ServiceAccount and its role. The projects that other suites build into the same folder
/// have other names.
pub(crate) const NAME: &str = "kiosk";
/// Where its YAML installs it.
pub(crate) const HOME: &str = "kiosk-system";

pub(crate) struct Project {
    root: PathBuf,
    pub(crate) program: PathBuf,
}

impl Project {
    /// Written anew and built, into the target folder of all scaffolded projects: most of what it needs may be there already.
    pub(crate) fn new() -> Self {
        let target = target_folder().join("scaffold");
        let root = target.join("projects/plane");
        if root.exists() {
            fs::remove_dir_all(&root).expect("the last run's project goes");
        }
        fs::create_dir_all(&root).expect("a folder");
        write(&root);
        let program = build(&root, &[], &target).remove(NAME).expect("cargo names the program it has built");
        Self { root, program }
    }

    /// What the build left in `deploy/`.
    pub(crate) fn deploy(&self, file: &str) -> String {
        let path = self.root.join("deploy").join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The files in `deploy/`, below it by their paths.
    pub(crate) fn deployed(&self) -> Vec<String> {
        let root = self.root.join("deploy");
        let (mut files, mut folders) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push(path.strip_prefix(&root).expect("a path below").display().to_string()),
                }
            }
        }
        files.sort();
        files
    }
}

/// With the workspace's lock file, so that it resolves to the versions that opgen itself is tested with.
fn write(root: &Path) {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace");
    let mut command = Command::new(own("opgen"));
    command.args(["new", NAME, "--group", "demo.example.com", "--kind", "Widget", "--path", ".", "--quiet"]);
    let output = command.current_dir(root).env_remove("OPGEN_PATH").stdin(Stdio::null()).output().expect("opgen runs");
    assert!(output.status.success(), "opgen new: {}", String::from_utf8_lossy(&output.stderr));
    fs::copy(checkout.join("Cargo.lock"), root.join("Cargo.lock")).expect("a lock file");
}
