//! `Release`: the objects in the YAML of one release, read from files or from a revision of git.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    error::{Error, Result, ResultExt as _},
    interrupt,
    project::Project,
};

/// The folder of the Helm chart inside the folder of the generated YAML. It is skipped: its templates are no YAML, and the other files
/// have the same objects.
const CHART: &str = "chart";

/// The objects of a release, without duplicates: an object may stand in several files.
#[derive(Debug, Default)]
pub(crate) struct Release {
    objects: Vec<Located>,
}

/// An object and the file that it was read from.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) file: PathBuf,
    pub(crate) object: Value,
}

impl Located {
    /// Returns the kind of the object.
    pub(crate) fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or_default()
    }

    /// Returns the name of the object, with its namespace if it has one.
    pub(crate) fn full_name(&self) -> String {
        let text = |key: &str| self.object["metadata"][key].as_str();
        let name = text("name").unwrap_or_default();
        text("namespace").map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
    }
}

impl Release {
    /// Reads the current YAML of a project.
    pub(crate) fn current(project: &Project) -> Result<Self> {
        let release = Self::read(&project.generated_folder(), &project.root)?;
        if release.objects.is_empty() {
            let problem = format!("`{}` has no YAML", project.generated_folder().display());
            return Err(Error::failed(problem).hint("run `opgen generate`"));
        }
        Ok(release)
    }

    /// Reads the release that `against` names: a file, a folder, or else a revision of git.
    pub(crate) fn of(against: &str, project: &Project) -> Result<Self> {
        let path = Path::new(against);
        let release = if path.exists() { Self::read(path, path)? } else { Self::of_revision(against, project)? };
        if release.objects.is_empty() {
            let problem = format!("`{against}` has no YAML in `{}`", project.generated.display());
            return Err(Error::failed(problem).hint("name a release that has the generated YAML"));
        }
        Ok(release)
    }

    /// Returns a release of these objects.
    pub(super) fn from_objects(objects: Vec<Located>) -> Self {
        Self { objects }
    }

    /// Returns the objects of a kind.
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Located> {
        self.objects.iter().filter(move |located| located.kind() == kind)
    }

    /// Reads a file, or all YAML files in a folder and below it. `Located::file` is relative to `root`.
    fn read(path: &Path, root: &Path) -> Result<Self> {
        let mut release = Self::default();
        for file in files(path)? {
            let text = fs_err::read_to_string(&file).or_failed(|| "failed to read a release".to_owned())?;
            release.add(
                // The relative name is empty if `root` is the file.
                file.strip_prefix(root).ok().filter(|name| !name.as_os_str().is_empty()).unwrap_or(&file),
                &text,
            )?;
        }
        Ok(release)
    }

    /// Reads the YAML of a project as it was in a revision of git.
    fn of_revision(revision: &str, project: &Project) -> Result<Self> {
        // The suffix resolves an annotated tag to its commit.
        let commit = format!("{revision}^{{commit}}");
        let found = git(project, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
        let Some(commit) = found else {
            let problem = format!("`{revision}` is no file, no folder and no revision of git");
            return Err(Error::usage(problem).hint("name a tag or a branch, for example `--against v1.2.0`, or a file"));
        };
        let (commit, folder) = (commit.trim(), project.generated.to_string_lossy());
        let listed = git(project, &["ls-tree", "-r", "--name-only", "-z", commit, "--", &folder])?.unwrap_or_default();
        let mut release = Self::default();
        for name in listed.split('\0').map(Path::new).filter(|name| is_yaml(name)) {
            // The templates of a Helm chart are no YAML.
            if name.strip_prefix(&project.generated).is_ok_and(|inner| inner.starts_with(CHART)) {
                continue;
            }
            let blob = format!("{commit}:./{}", name.display());
            let Some(text) = git(project, &["show", &blob])? else {
                return Err(Error::failed(format!("failed to read `{}` of `{revision}`", name.display())));
            };
            release.add(name, &text)?;
        }
        Ok(release)
    }

    /// Parses the YAML text of a file and adds its objects, except those with a kind and name that the release already has.
    fn add(&mut self, file: &Path, text: &str) -> Result<()> {
        let objects: Vec<Value> =
            serde_saphyr::from_multiple(text).or_failed(|| format!("`{}` is no YAML", file.display()))?;
        for object in objects.into_iter().filter(|object| object["kind"].is_string()) {
            let located = Located { file: file.to_owned(), object };
            let is_same = |other: &Located| (other.kind(), other.full_name()) == (located.kind(), located.full_name());
            if !self.objects.iter().any(is_same) {
                self.objects.push(located);
            }
        }
        Ok(())
    }
}

/// Returns `path` if it is a file. Returns the YAML files in and below a folder, sorted, except those of its Helm chart.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = || "failed to read a release".to_owned();
    let (mut folders, mut found) = (vec![path.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(&folder).or_failed(failed)? {
            let entry = entry.or_failed(failed)?.path();
            match entry.is_dir() {
                true if entry != path.join(CHART) => folders.push(entry),
                false if is_yaml(&entry) => found.push(entry),
                // The chart, or a file that is not YAML.
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_yaml(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Runs git in the folder of a project and returns its output; `None` if git exits with an error. A signal that ends this process ends
/// git, too.
fn git(project: &Project, arguments: &[&str]) -> Result<Option<String>> {
    let output = interrupt::output(Command::new("git").arg("-C").arg(&project.root).args(arguments));
    let output = output.map_err(|error| {
        Error::failed("failed to run git").because(error).hint("install git, or name a file or folder with the release")
    })?;
    if !output.status.success() {
        return Ok(None);
    }
    String::from_utf8(output.stdout).map(Some).or_failed(|| "git printed something else than text".to_owned())
}
