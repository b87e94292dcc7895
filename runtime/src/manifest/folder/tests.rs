//! Tests writing the generated files to a folder and comparing them with it.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::{files, fixture};
use super::*;

/// A folder that is gone when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("opgen-manifest-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(changes: &[FileChange]) -> Vec<String> {
    changes.iter().map(|change| format!("{} {}", change.action, change.path)).collect()
}

#[test]
fn nothing_changed_nothing_is_written() {
    let (folder, rendered) = (Folder::new(), files(&fixture::project()).unwrap());
    assert_eq!(write(&rendered, &folder.0).unwrap().len(), rendered.files.len());
    let written = fs::metadata(folder.0.join("base/rbac.yaml")).unwrap().modified().unwrap();
    assert_eq!(write(&rendered, &folder.0).unwrap(), []);
    assert_eq!(fs::metadata(folder.0.join("base/rbac.yaml")).unwrap().modified().unwrap(), written);
    assert_eq!(compare(&rendered, &folder.0).unwrap(), []);
}

#[test]
fn what_differs_is_written_and_what_is_stale_removed() {
    let (folder, mut project) = (Folder::new(), fixture::project());
    write(&files(&project).unwrap(), &folder.0).unwrap();
    fs::write(folder.0.join("mine.yaml"), "a: 1\n").unwrap();
    fs::write(folder.0.join("base/crds/mine.yaml"), "a: 1\n").unwrap();
    project.controllers.truncate(1);
    let changes = write(&files(&project).unwrap(), &folder.0).unwrap();
    assert_eq!(
        said(&changes),
        [
            "Removed base/crds/demo.example.com_networks.yaml",
            "Updated base/kustomization.yaml",
            "Updated base/rbac.yaml",
            "Updated base/roles.yaml",
            "Removed chart/templates/crds/demo.example.com_networks.yaml",
            "Updated chart/templates/finalizer-policy.yaml",
            "Updated chart/templates/rbac.yaml",
            "Updated chart/templates/roles.yaml",
            "Updated finalizer-policy.yaml",
            "Updated install.yaml",
            "Removed samples/demo.example.com_v1_network.yaml",
        ]
    );
    assert!(folder.0.join("mine.yaml").exists() && folder.0.join("base/crds/mine.yaml").exists());
    let left = fs::read_dir(&folder.0).unwrap().chain(fs::read_dir(folder.0.join("base/crds")).unwrap());
    assert!(left.flatten().all(|entry| !entry.path().to_string_lossy().ends_with(".tmp")));
}

#[test]
fn drift_is_shown_as_a_diff_from_what_is_there() {
    let (folder, rendered) = (Folder::new(), files(&fixture::project()).unwrap());
    write(&rendered, &folder.0).unwrap();
    let path = folder.0.join("base/rbac.yaml");
    let widened = fs::read_to_string(&path).unwrap().replacen("  - delete\n", "  - \"*\"\n", 1);
    fs::write(&path, widened).unwrap();
    fs::remove_file(folder.0.join("base/roles.yaml")).unwrap();
    let drift = compare(&rendered, &folder.0).unwrap();
    assert_eq!(
        drift.iter().map(|drift| (drift.path.as_str(), drift.action)).collect::<Vec<_>>(),
        [("base/rbac.yaml", Action::Updated), ("base/roles.yaml", Action::Created)]
    );
    assert!(drift[0].diff.starts_with("--- a/base/rbac.yaml\n+++ b/base/rbac.yaml\n"), "{}", drift[0].diff);
    assert!(drift[0].diff.contains("-  - \"*\"\n+  - delete\n"), "{}", drift[0].diff);
}

#[test]
fn a_file_written_by_hand_is_not_replaced() {
    let (folder, rendered) = (Folder::new(), files(&fixture::project()).unwrap());
    fs::create_dir_all(folder.0.join("base")).unwrap();
    fs::write(folder.0.join("base/rbac.yaml"), "mine\n").unwrap();
    let error = write(&rendered, &folder.0).unwrap_err().to_string();
    assert!(error.contains("base/rbac.yaml") && error.contains("is not a generated file"), "{error}");
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn a_generated_json_file_is_replaced_and_one_written_by_hand_is_not() {
    let (folder, rendered) = (Folder::new(), files(&fixture::project()).unwrap());
    write(&rendered, &folder.0).unwrap();
    let path = folder.0.join("grafana/dashboard.json");
    let edited = fs::read_to_string(&path).unwrap().replacen("\"now-6h\"", "\"now-1h\"", 1);
    fs::write(&path, edited).unwrap();
    fs::write(folder.0.join("grafana/mine.json"), "{}\n").unwrap();
    let drift = compare(&rendered, &folder.0).unwrap();
    assert_eq!(drift.iter().map(|drift| drift.path.as_str()).collect::<Vec<_>>(), ["grafana/dashboard.json"]);
    assert!(drift[0].diff.contains("-    \"from\": \"now-1h\",\n+    \"from\": \"now-6h\",\n"), "{}", drift[0].diff);
    assert_eq!(said(&write(&rendered, &folder.0).unwrap()), ["Updated grafana/dashboard.json"]);
    assert!(folder.0.join("grafana/mine.json").exists());
    fs::write(&path, "{}\n").unwrap();
    let error = write(&rendered, &folder.0).unwrap_err().to_string();
    assert!(error.contains("dashboard.json") && error.contains("is not a generated file"), "{error}");
}

#[test]
fn a_write_that_fails_changes_nothing() {
    let (folder, rendered) = (Folder::new(), files(&fixture::project()).unwrap());
    let in_the_way = format!("base/roles.{}.tmp", std::process::id());
    fs::create_dir_all(folder.0.join(&in_the_way)).unwrap();
    let error = write(&rendered, &folder.0).unwrap_err().to_string();
    assert!(error.contains(&in_the_way), "{error}");
    let files =
        |folder: PathBuf| fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_file()).count();
    assert_eq!(files(folder.0.join("base")) + files(folder.0.join("base/crds")), 0);
}

/// A folder that is not read would keep the files of an earlier version, and show every file as new.
#[test]
fn all_folders_of_generated_files_are_read() {
    for file in files(&fixture::with_webhooks()).unwrap().files {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        assert!(FOLDERS.contains(&folder), "{}", file.path);
    }
}

#[test]
fn files_of_earlier_versions_are_removed_with_their_folders() {
    let (folder, rendered) = (Folder::new(), files(&fixture::project()).unwrap());
    for path in ["crds/a.yaml", "prometheus/rules.yaml"] {
        fs::create_dir_all(folder.0.join(path).parent().unwrap()).unwrap();
        fs::write(folder.0.join(path), rendered.text("base/rbac.yaml").unwrap()).unwrap();
    }
    fs::write(folder.0.join("crds/mine.yaml"), "a: 1\n").unwrap();
    write(&rendered, &folder.0).unwrap();
    assert!(folder.0.join("crds/mine.yaml").exists() && !folder.0.join("crds/a.yaml").exists());
    assert!(!folder.0.join("prometheus").exists());
}

/// Else the second build of a project would fail on a file of the first one.
#[test]
fn the_folders_of_all_generated_files_are_read() {
    let project = fixture::with_remote_nodes();
    let rendered = files(&project).unwrap();
    assert!(rendered.text("remote/role.yaml").is_some());
    for file in &rendered.files {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        assert!(FOLDERS.contains(&folder), "{}", file.path);
    }
    let folder = Folder::new();
    write(&rendered, &folder.0).unwrap();
    assert!(compare(&rendered, &folder.0).unwrap().is_empty());
}
