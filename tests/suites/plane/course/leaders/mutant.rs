//! Builds the operator of WebApp from a copy of the workspace whose leader election has a defect.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::operator::{
    example::WEBAPP,
    program::{build, target_folder},
};

/// The file with the defect.
const FILE: &str = "runtime/src/lease/elector.rs";
/// The deadline of the lead after a renewal.
const DEADLINE: &str = "let deadline = valid_from + self.by_local_clock(self.times.renew_deadline);";
/// The defect: a deadline that is later than the expiry of the Lease.
const LATE_DEADLINE: &str = "let deadline = valid_from + self.by_local_clock(self.times.renew_deadline) * 10;";

/// Builds the operator with a late deadline, and returns the path of the program.
pub(super) fn with_late_deadline() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace of the tests");
    let target = target_folder().join("scaffold");
    let root = target.join("projects/mutant");
    if root.exists() {
        fs::remove_dir_all(&root).expect("the copy of the last run is removed");
    }
    copy(checkout, &root);
    let file = root.join(FILE);
    let code = fs::read_to_string(&file).expect("the source of the election");
    assert_eq!(
        code.matches(DEADLINE).count(),
        1,
        "{FILE} has changed; this case must contain the code of its deadline"
    );
    fs::write(&file, code.replace(DEADLINE, LATE_DEADLINE)).expect("the changed source");
    build(&root, &["-p", WEBAPP.name], &target).remove(WEBAPP.name).expect("the program")
}

/// Copies a folder without hidden files and target folders.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a new folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (name, path) = (entry.file_name(), entry.path());
        if name == "target" || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).expect("a copied file");
        }
    }
}
