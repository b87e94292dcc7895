//! Runs the real Argo CD and Flux against a cluster, as processes.

mod argo_cd;
mod build;
mod flux;

pub use argo_cd::{ArgoCd, CLUSTER as ARGO_CD_CLUSTER, NAMESPACE as ARGO_CD_NAMESPACE};
pub use build::{availability, find};
pub use flux::Flux;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::Plane;

/// Applies all definitions in a folder, with those in the folders below it.
async fn apply_definitions(plane: &Plane, folder: &Path) {
    for file in yaml_files(folder) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for document in text.split("\n---\n").filter(|text| text.contains("kind: CustomResourceDefinition")) {
            plane.apply(document).await;
        }
    }
}

/// Returns the YAML files in a folder and in the folders below it, sorted.
fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry of the folder").path()) {
        if path.is_dir() {
            files.extend(yaml_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    files.sort();
    files
}
