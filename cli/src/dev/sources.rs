//! Watches the source files of the operator and of its path dependencies.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    time::Duration,
};

use cargo_metadata::{DependencyKind, Metadata, NodeDep};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};

use crate::{
    error::{Error, Result, ResultExt as _},
    project::Project,
};

/// The time without writes after which a change is complete, since editors write files in several steps.
const DEBOUNCE: Duration = Duration::from_millis(80);

/// The time after the first write of a change after which it counts as complete even if writes go on.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// A change of the sources.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SourceChange {
    /// A file that the operator is built from.
    Code(PathBuf),
    /// Samples only.
    Samples,
}

/// The watched files of the project and its path dependencies.
#[derive(Debug)]
pub(super) struct Sources {
    folders: Folders,
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    changes: mpsc::UnboundedReceiver<notify::Result<PathBuf>>,
    pending: BTreeSet<PathBuf>,
    first_change: Option<Instant>,
}

/// The folders of the project that contain sources, and the folders of built and generated files.
#[derive(Clone, Debug)]
struct Folders {
    packages: BTreeSet<PathBuf>,
    roots: BTreeSet<PathBuf>,
    target: PathBuf,
    generated: PathBuf,
}

impl Sources {
    /// Starts to watch the source files of the project and its path dependencies; `metadata` includes the dependencies.
    pub(super) fn watch(project: &Project, metadata: &Metadata) -> Result<Self> {
        let folders = Folders {
            packages: packages(project, metadata),
            roots: [project.root.clone(), metadata.workspace_root.clone().into_std_path_buf()].into(),
            target: metadata.target_directory.clone().into_std_path_buf(),
            generated: project.generated_folder(),
        };
        let (sender, changes) = mpsc::unbounded_channel();
        let filter = folders.clone();
        let watcher = notify::recommended_watcher(move |event| send_paths(event, &filter, &sender));
        let watcher = watcher.or_failed(|| "failed to watch files".to_owned())?;
        let (watched, pending) = (BTreeSet::new(), BTreeSet::new());
        let mut sources = Self { folders, watcher, watched, changes, pending, first_change: None };
        sources.watch_new_folders()?;
        Ok(sources)
    }

    /// Watches the folders that are not watched yet.
    pub(super) fn watch_new_folders(&mut self) -> Result<()> {
        for (folder, mode) in self.folders.watch_list()? {
            if self.watched.insert(folder.clone()) {
                self.watcher.watch(&folder, mode).map_err(|cause| watch_error(&folder, cause))?;
            }
        }
        Ok(())
    }

    /// Waits for a change, collects further changes until there is none for `DEBOUNCE`, at most for `MAX_DELAY`, and returns them as one.
    /// Cancel safe: a later call continues with the changes collected so far.
    pub(super) async fn next_change(&mut self) -> Result<SourceChange> {
        loop {
            let next = match self.first_change {
                None => self.changes.recv().await,
                Some(first) => {
                    match timeout_at((Instant::now() + DEBOUNCE).min(first + MAX_DELAY), self.changes.recv()).await {
                        Ok(next) => next,
                        Err(_) => return Ok(self.take_pending()),
                    }
                }
            };
            let path = next.ok_or_else(|| Error::failed("the file watcher stopped unexpectedly"))?;
            self.pending.insert(path.or_failed(|| "failed to watch files".to_owned())?);
            self.first_change.get_or_insert_with(Instant::now);
        }
    }

    /// Takes the collected changes and returns them as one: a change of code if any changed path is outside the folder of generated
    /// YAML, which has the samples, else a change of samples.
    fn take_pending(&mut self) -> SourceChange {
        self.first_change = None;
        let pending = std::mem::take(&mut self.pending);
        // A folder that was created again needs a new watch.
        self.watched.retain(|folder| !pending.contains(folder));
        let mut code: Vec<_> = pending.into_iter().filter(|path| !path.starts_with(&self.folders.generated)).collect();
        // Editors write a temporary file and rename it. The sort puts existing files first, so that one of them is reported.
        code.sort_by_key(|path| !path.is_file());
        code.into_iter().next().map_or(SourceChange::Samples, SourceChange::Code)
    }
}

impl Folders {
    /// Returns the folders to watch: the roots and the package folders without their subfolders, and the source folders of packages and
    /// the samples with all subfolders.
    fn watch_list(&self) -> Result<Vec<(PathBuf, RecursiveMode)>> {
        let mut watch_list: Vec<_> = self.roots.iter().map(|top| (top.clone(), RecursiveMode::NonRecursive)).collect();
        for package in &self.packages {
            watch_list.push((package.clone(), RecursiveMode::NonRecursive));
            let unreadable = || format!("failed to read the sources in `{}`", package.display());
            for entry in fs_err::read_dir(package).or_failed(unreadable)? {
                let path = entry.or_failed(unreadable)?.path();
                if path.is_dir() && self.is_source(&path) {
                    watch_list.push((path, RecursiveMode::Recursive));
                }
            }
        }
        let samples = self.samples();
        if samples.is_dir() {
            watch_list.push((samples, RecursiveMode::Recursive));
        }
        Ok(watch_list)
    }

    fn samples(&self) -> PathBuf {
        self.generated.join("samples")
    }

    /// Returns whether a change of the path can change the operator or a sample: the path is neither built by cargo, nor generated YAML
    /// other than samples, nor hidden.
    fn is_source(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_sample = path.starts_with(self.samples()) && path != self.samples();
        // The project itself may be in the target folder of another workspace; its packages are sources nevertheless.
        let is_own = |own: &PathBuf| own.starts_with(&self.target) && path.starts_with(own);
        let is_built = path.starts_with(&self.target) && !self.packages.iter().chain(&self.roots).any(is_own);
        let is_generated = is_built || path.starts_with(&self.generated) && !is_sample;
        // A name that ends in `~` is a backup of an editor.
        let is_hidden = name.starts_with('.') || name.ends_with('~') || name == "node_modules";
        !is_generated && !is_hidden
    }
}

/// Returns the folders of the operator's package and of its direct and indirect path dependencies, except dev-dependencies.
fn packages(project: &Project, metadata: &Metadata) -> BTreeSet<PathBuf> {
    // Packages from a registry or from git have a source.
    let local = metadata.packages.iter().filter(|package| package.source.is_none());
    let folder =
        |package: &cargo_metadata::Package| package.manifest_path.parent().map(|path| path.as_std_path().to_owned());
    let local: HashMap<_, _> = local.map(|package| (&package.id, package)).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes: HashMap<_, _> = nodes.map(|node| (&node.id, node)).collect();
    let operators = local.values().filter(|package| package.name.as_str() == project.name);
    let mut unvisited: Vec<_> = operators.map(|package| &package.id).collect();
    let mut visited = BTreeSet::new();
    while let Some(id) = unvisited.pop() {
        if local.contains_key(id) && visited.insert(id) {
            let is_built_in = |dependency: &&NodeDep| {
                dependency.dep_kinds.iter().any(|info| info.kind != DependencyKind::Development)
            };
            let dependencies = nodes.get(id).into_iter().flat_map(|node| &node.deps);
            unvisited.extend(dependencies.filter(is_built_in).map(|dependency| &dependency.pkg));
        }
    }
    visited.into_iter().filter_map(|id| folder(local.get(id)?)).collect()
}

/// Sends the source files that an event of the file watcher changed, or the error of the watcher. Runs on the watcher's thread.
fn send_paths(
    event: notify::Result<Event>,
    folders: &Folders,
    sender: &mpsc::UnboundedSender<notify::Result<PathBuf>>,
) {
    // An error of `send` means that the receiver was dropped, so it is ignored.
    match event {
        Err(error) => _ = sender.send(Err(error)),
        // Reads don't change files.
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
        Ok(event) => {
            let changed = event.paths.into_iter().filter(|path| folders.is_source(path));
            changed.for_each(|path| _ = sender.send(Ok(path)));
        }
    }
}

/// Returns the error for a folder that can't be watched, with a hint: raise the inotify limit, or check the permissions.
fn watch_error(folder: &Path, cause: notify::Error) -> Error {
    let is_full = matches!(cause.kind, notify::ErrorKind::MaxFilesWatch);
    let error = Error::failed(format!("failed to watch `{}`", folder.display())).because(cause);
    match is_full {
        true => error.hint("raise the limit: `sysctl fs.inotify.max_user_watches=524288`"),
        false => error.hint("check that you have permission to read its files"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn built_and_generated_files_are_not_sources_but_samples_are() {
        let folders = Folders {
            packages: BTreeSet::new(),
            roots: BTreeSet::new(),
            target: "/p/target".into(),
            generated: "/p/deploy".into(),
        };
        let is_source = |path: &str| folders.is_source(Path::new(path));
        assert!(is_source("/p/Cargo.toml") && is_source("/p/api/src/lib.rs") && is_source("/p/deploy/samples/a.yaml"));
        assert!(
            !is_source("/p/target")
                && !is_source("/p/target/debug/a")
                && !is_source("/p/deploy")
                && !is_source("/p/deploy/rbac.yaml")
        );
        // A project in the target folder of another workspace.
        let inside =
            Folders { packages: ["/p/target/mine/api".into()].into(), target: "/p/target".into(), ..folders.clone() };
        assert!(inside.is_source(Path::new("/p/target/mine/api/src/lib.rs")));
        assert!(!inside.is_source(Path::new("/p/target/debug/a")));
        assert!(
            !is_source("/p/deploy/samples")
                && !is_source("/p/src/.lib.rs.swp")
                && !is_source("/p/src/lib.rs~")
                && !is_source("/p/.git")
        );
    }
}
