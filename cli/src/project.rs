//! Finds the project that contains a folder and reads its `opgen.toml`.

use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item};

use crate::{
    checkout::canonical_path,
    error::{Error, Result, ResultExt as _},
};

/// The file at the root of a project.
pub(crate) const PROJECT_FILE: &str = "opgen.toml";

/// The settings in a project's file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// The name of the operator and its package.
    pub(crate) name: String,
    /// The folder of the YAML, relative to the root.
    pub(crate) generated: PathBuf,
}

impl Project {
    /// Reads the `opgen.toml` in a folder or in its nearest ancestor that has this file. Fails if no folder has it.
    pub(crate) fn find_above(folder: &Path) -> Result<Self> {
        let folder = canonical_path(folder)?;
        let Some(root) = folder.ancestors().find(|ancestor| ancestor.join(PROJECT_FILE).is_file()) else {
            let problem = format!("`{PROJECT_FILE}` not found in `{}` or its parent folders", folder.display());
            return Err(Error::failed(problem).hint("run this inside a project, or create one with `opgen new`"));
        };
        let file = root.join(PROJECT_FILE);
        let invalid = || format!("`{}` is not an opgen project file", file.display());
        let text = fs_err::read_to_string(&file).or_failed(invalid)?;
        let settings: DocumentMut = text.parse().or_failed(invalid)?;
        let setting = |key: &str| {
            let item = settings.get("project").and_then(|project| project.get(key)).and_then(Item::as_str);
            item.ok_or_else(|| Error::failed(invalid()).because(format!("`{key}` is missing in `[project]`")))
        };
        Ok(Self { root: root.to_owned(), name: setting("name")?.to_owned(), generated: setting("generated")?.into() })
    }

    /// Returns the absolute path of the folder with the YAML.
    pub(crate) fn generated_folder(&self) -> PathBuf {
        self.root.join(&self.generated)
    }

    /// Returns the name of the package that exports `operator()`.
    pub(crate) fn controller_package(&self) -> String {
        format!("{}-controller", self.name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::error::Error as _;

    use super::*;

    /// Writes an `opgen.toml` to a temporary folder and reads the project from a subfolder. Returns both, since a drop removes the folder.
    fn project(text: &str) -> (tempfile::TempDir, Result<Project>) {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join(PROJECT_FILE), text).unwrap();
        let project = Project::find_above(&folder.path().join("api/src"));
        (folder, project)
    }

    #[test]
    fn the_project_is_found_from_a_folder_inside() {
        let (folder, project) = project("[project]\nname = \"demo\"\ngenerated = \"deploy\"\n");
        let root = folder.path().canonicalize().unwrap();
        assert_eq!(project.unwrap(), Project { root, name: "demo".to_owned(), generated: "deploy".into() });
    }

    #[test]
    fn the_error_for_an_incomplete_project_file_names_the_missing_setting() {
        let (_folder, project) = project("[project]\nname = \"demo\"\n");
        assert_eq!(project.unwrap_err().source().unwrap().to_string(), "`generated` is missing in `[project]`");
    }

    #[test]
    fn the_error_outside_of_a_project_has_a_hint_to_create_a_project() {
        let folder = tempfile::tempdir().unwrap();
        let error = Project::find_above(folder.path()).unwrap_err();
        assert!(error.hint_text().unwrap().contains("`opgen new`"));
    }
}
