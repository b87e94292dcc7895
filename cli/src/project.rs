//! The project that a command is run in.

use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item};

use crate::{
    checkout::resolved,
    error::{Error, Explain as _, Result},
};

/// The file that makes a folder a project of opgen.
pub(crate) const PROJECT_FILE: &str = "opgen.toml";

/// A project by its file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// The operator and its package.
    pub(crate) name: String,
    /// The folder of the YAML, relative to the root.
    pub(crate) generated: PathBuf,
}

impl Project {
    /// The project that a folder lies in.
    pub(crate) fn around(folder: &Path) -> Result<Self> {
        let folder = resolved(folder)?;
        let Some(root) = folder.ancestors().find(|ancestor| ancestor.join(PROJECT_FILE).is_file()) else {
            return Err(Error::failed(format!("there is no `{PROJECT_FILE}` in `{}` or above", folder.display()))
                .hint("run this inside a project; `opgen new` makes one"));
        };
        let file = root.join(PROJECT_FILE);
        let broken = || format!("`{}` is no project file of opgen", file.display());
        let text = fs_err::read_to_string(&file).or_failed(broken)?;
        let document: DocumentMut = text.parse().or_failed(broken)?;
        let answer = |key: &str| {
            let item = document.get("project").and_then(|project| project.get(key)).and_then(Item::as_str);
            item.ok_or_else(|| Error::failed(broken()).because(format!("`{key}` is missing in `[project]`")))
        };
        Ok(Self { root: root.to_owned(), name: answer("name")?.to_owned(), generated: answer("generated")?.into() })
    }

    /// The folder of the YAML.
    pub(crate) fn generated_folder(&self) -> PathBuf {
        self.root.join(&self.generated)
    }

    /// The package that exports `operator()`.
    pub(crate) fn controller_package(&self) -> String {
        format!("{}-controller", self.name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn project(text: &str) -> (tempfile::TempDir, Result<Project>) {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join(PROJECT_FILE), text).unwrap();
        let project = Project::around(&folder.path().join("api/src"));
        (folder, project)
    }

    #[test]
    fn the_project_is_found_from_a_folder_inside() {
        let (folder, project) = project("[project]\nname = \"demo\"\ngenerated = \"deploy\"\n");
        let root = folder.path().canonicalize().unwrap();
        assert_eq!(project.unwrap(), Project { root, name: "demo".to_owned(), generated: "deploy".into() });
    }

    #[test]
    fn a_project_file_that_lacks_an_answer_says_which() {
        let (_folder, project) = project("[project]\nname = \"demo\"\n");
        assert_eq!(project.unwrap_err().source().unwrap().to_string(), "`generated` is missing in `[project]`");
    }

    #[test]
    fn outside_of_a_project_the_hint_says_how_to_get_one() {
        let folder = tempfile::tempdir().unwrap();
        let error = Project::around(folder.path()).unwrap_err();
        assert!(error.hinted().unwrap().contains("`opgen new`"));
    }
}
