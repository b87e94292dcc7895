//! Whole projects, committed: a change of the templates is reviewed as a change of these.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::command::{Place, checkout};

const BLESS: &str = "OPGEN_BLESS";

#[test]
fn a_namespaced_project_is_as_committed() {
    check_golden("namespaced", "demo --group demo.example.com --kind Widget");
}

#[test]
fn a_cluster_scoped_project_is_as_committed() {
    check_golden(
        "cluster-scoped",
        "web-shop --group shop.example.com --kind HTTPShop --api-version v1beta2 --cluster-scoped",
    );
}

#[test]
fn a_project_with_a_bucket_is_as_committed() {
    check_golden("nats", "demo --group demo.example.com --kind Widget --primary nats");
}

#[test]
fn a_project_with_a_bucket_of_cluster_scoped_objects_and_without_kubernetes_is_as_committed() {
    check_golden(
        "nats-without-kubernetes",
        "demo --group demo.example.com --kind Policy --primary nats --without-kubernetes --cluster-scoped",
    );
}

#[track_caller]
fn check_golden(case: &str, args: &str) {
    let place = Place::new();
    let run = place.opgen(&format!("new {args} --path . --quiet --opgen-path {}", checkout().display()));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let written: BTreeMap<_, _> =
        place.files().into_iter().map(|(path, text)| (stored_path(&path), stored_text(&text))).collect();
    let golden = checkout().join("tests/golden/scaffold").join(case);
    if env::var_os(BLESS).is_some() {
        bless(&golden, &written);
    }
    let mut drift = String::new();
    let mut committed = committed(&golden);
    for (path, text) in written {
        let before = committed.remove(&path).unwrap_or_default();
        if before != text {
            drift.push_str(&format!("{path}\n{}", diffy::create_patch(&before, &text)));
        }
    }
    drift.extend(committed.keys().map(|path| format!("{path} is not written any more\n")));
    assert!(drift.is_empty(), "{drift}\n{BLESS}=1 writes {}", golden.display());
}

/// A folder with a manifest would be taken for a package of this workspace.
fn stored_path(path: &str) -> String {
    match path.strip_suffix("Cargo.toml") {
        Some(folder) => format!("{folder}Cargo.toml.golden"),
        None => path.to_owned(),
    }
}

fn stored_text(text: &str) -> String {
    text.replace(checkout().to_str().expect("UTF-8"), "[checkout]")
}

fn committed(golden: &Path) -> BTreeMap<String, String> {
    fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => collect(root, &path, files),
                false => {
                    let name = path.strip_prefix(root).expect("a path below").to_str().expect("UTF-8").to_owned();
                    files.insert(name, fs::read_to_string(&path).expect("text"));
                }
            }
        }
    }
    let mut files = BTreeMap::new();
    collect(golden, golden, &mut files);
    files
}

fn bless(golden: &Path, written: &BTreeMap<String, String>) {
    if golden.is_dir() {
        fs::remove_dir_all(golden).expect("the old files go");
    }
    for (path, text) in written {
        let path = golden.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
}

#[test]
fn projects_of_any_name_are_formatted() {
    let (name, kind) = ("z".repeat(50), format!("Z{}", "z".repeat(62)));
    let names = [
        ("demo", "Widget", ""),
        ("zoo", "Ape", "--cluster-scoped"),
        (&name, &kind, ""),
        (&name, &kind, "--cluster-scoped"),
        ("demo", "Widget", "--primary nats"),
        (&name, &kind, "--primary nats --without-kubernetes --cluster-scoped"),
    ];
    for (name, kind, scope) in names {
        let place = Place::new();
        let run = place.opgen(&format!("new {name} --group g.example.com --kind {kind} {scope} --path . --quiet"));
        assert_eq!(run.code, 0, "{}", run.stderr);
        let sources: Vec<PathBuf> =
            place.files().into_iter().map(|(path, _)| path.into()).filter(|path: &PathBuf| is_rust(path)).collect();
        assert_eq!(sources.len(), 7);
        let mut check = Command::new("rustfmt");
        check.args(["--edition", "2024", "--check"]).args(sources).current_dir(&place.root);
        let output = check.output().expect("rustfmt runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}
