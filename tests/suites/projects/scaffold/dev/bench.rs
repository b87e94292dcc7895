//! A project to work on, as `opgen new` writes it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::scaffold::command::{Run, checkout, command, folder_of_projects};

/// A scaffolded project of the kind `Widget`, in a folder of the target folder; what it builds is found by the next run.
pub(super) struct Bench {
    root: PathBuf,
}

impl Bench {
    pub(super) fn new(name: &str) -> Self {
        let root = folder_of_projects().join(format!("dev-{name}"));
        if root.exists() {
            fs::remove_dir_all(&root).expect("the last run's project goes");
        }
        fs::create_dir_all(&root).expect("a folder");
        let run =
            Run::of(command(&root, &format!("new {name} --group demo.example.com --kind Widget --path .")), &root);
        assert_eq!(run.code, 0, "{}", run.stderr);
        fs::copy(checkout().join("Cargo.lock"), root.join("Cargo.lock")).expect("a lock file");
        Self { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Gives the exit code and what was said.
    pub(super) fn opgen(&self, args: &str) -> (i32, String) {
        let run = Run::of(command(&self.root, args), &self.root);
        (run.code, run.stderr)
    }

    /// Saves a file with another text in it, and says when.
    pub(super) fn edit(&self, path: &str, from: &str, to: &str) -> Instant {
        let path = self.root.join(path);
        let text = fs::read_to_string(&path).expect("text");
        assert!(text.contains(from), "`{from}` is in {}", path.display());
        fs::write(path, text.replace(from, to)).expect("a file");
        Instant::now()
    }
}
