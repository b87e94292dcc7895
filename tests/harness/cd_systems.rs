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

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::{
    Plane,
    wait::{self, PATIENCE},
};

/// Applies the CustomResourceDefinitions in the YAML files of a folder and of its subfolders, and waits until the API server lists all of
/// their kinds: a controller of Argo CD or Flux ends if a kind is missing at its start.
async fn apply_definitions(plane: &Plane, folder: &Path) {
    let mut kinds = Vec::new();
    for file in yaml_files(folder) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for document in text.split("\n---\n").filter(|text| text.contains("kind: CustomResourceDefinition")) {
            plane.apply(document).await;
            let definition: CustomResourceDefinition =
                serde_saphyr::from_str(document).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let spec = definition.spec;
            let served = spec.versions.into_iter().filter(|version| version.served);
            kinds.extend(served.map(|version| (format!("{}/{}", spec.group, version.name), spec.names.plural.clone())));
        }
    }
    let client = plane.client();
    for (version, plural) in kinds {
        wait::until(format!("the API server lists {plural} of {version}"), PATIENCE, async || {
            let found = client.list_api_group_resources(&version).await.map_err(|error| error.to_string())?;
            match found.resources.iter().any(|resource| resource.name == plural) {
                true => Ok(()),
                false => Err(format!("{} others", found.resources.len())),
            }
        })
        .await;
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
