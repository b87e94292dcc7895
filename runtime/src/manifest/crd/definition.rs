//! `Definition`: the CustomResourceDefinition of one kind, with all its versions.

use serde_json::Value;

/// The CustomResourceDefinition of one kind, with all its versions.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) group: String,
    pub(crate) plural: String,
    pub(crate) kind: String,
    pub(crate) value: Value,
}

impl Definition {
    /// Returns the object name `<plural>.<group>`.
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// Returns the path of the definition's file, relative to the folder of the kustomize base.
    pub(crate) fn file_path(&self) -> String {
        format!("crds/{}_{}.yaml", self.group, self.plural)
    }

    /// Returns the OpenAPI schema of `version`; `None` if the definition has no such version.
    pub(crate) fn schema(&self, version: &str) -> Option<&Value> {
        let versions = self.value["spec"]["versions"].as_array()?;
        versions.iter().find(|listed| listed["name"] == version).map(|listed| &listed["schema"]["openAPIV3Schema"])
    }
}
