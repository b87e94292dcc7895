//! What the operator is built from, watched.

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
    error::{Error, Explain as _, Result},
    project::Project,
};

/// How long nothing may be written until a change counts as done: an editor writes a file in several steps.
const QUIET: Duration = Duration::from_millis(80);

/// How long a change may go on.
const LONGEST: Duration = Duration::from_secs(2);

/// What has changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A file that the operator is built from.
    Code(PathBuf),
    /// Samples, and nothing else.
    Samples,
}

/// The files of the project and of all packages by path that it depends on.
#[derive(Debug)]
pub(super) struct Sources {
    folders: Folders,
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    changes: mpsc::UnboundedReceiver<notify::Result<PathBuf>>,
    pending: BTreeSet<PathBuf>,
    since: Option<Instant>,
}

/// Where they lie, and what isn't one.
#[derive(Clone, Debug)]
struct Folders {
    packages: BTreeSet<PathBuf>,
    tops: BTreeSet<PathBuf>,
    target: PathBuf,
    generated: PathBuf,
}

impl Sources {
    /// Watches them; `metadata` is that of the project with its dependencies.
    pub(super) fn watch(project: &Project, metadata: &Metadata) -> Result<Self> {
        let folders = Folders {
            packages: packages(project, metadata),
            tops: [project.root.clone(), metadata.workspace_root.clone().into_std_path_buf()].into(),
            target: metadata.target_directory.clone().into_std_path_buf(),
            generated: project.generated_folder(),
        };
        let (sender, changes) = mpsc::unbounded_channel();
        let filter = folders.clone();
        let watcher = notify::recommended_watcher(move |event| hand_on(event, &filter, &sender));
        let watcher = watcher.or_failed(|| "failed to watch files".to_owned())?;
        let (watched, pending) = (BTreeSet::new(), BTreeSet::new());
        let mut sources = Self { folders, watcher, watched, changes, pending, since: None };
        sources.follow()?;
        Ok(sources)
    }

    /// Takes in folders that are new.
    pub(super) fn follow(&mut self) -> Result<()> {
        for (folder, mode) in self.folders.wanted()? {
            if self.watched.insert(folder.clone()) {
                self.watcher.watch(&folder, mode).map_err(|cause| unwatchable(&folder, cause))?;
            }
        }
        Ok(())
    }

    /// The next change, when it is done. Can be dropped while it waits, and nothing is lost.
    pub(super) async fn changed(&mut self) -> Result<Change> {
        loop {
            let next = match self.since {
                None => self.changes.recv().await,
                Some(since) => {
                    match timeout_at((Instant::now() + QUIET).min(since + LONGEST), self.changes.recv()).await {
                        Ok(next) => next,
                        Err(_) => return Ok(self.take()),
                    }
                }
            };
            let path = next.ok_or_else(|| Error::failed("the files are watched no more"))?;
            self.pending.insert(path.or_failed(|| "failed to watch files".to_owned())?);
            self.since.get_or_insert_with(Instant::now);
        }
    }

    fn take(&mut self) -> Change {
        self.since = None;
        let pending = std::mem::take(&mut self.pending);
        // A folder that is written anew is another, by the same name.
        self.watched.retain(|folder| !pending.contains(folder));
        let mut code: Vec<_> = pending.into_iter().filter(|path| !path.starts_with(&self.folders.generated)).collect();
        // Editors write beside a file, and rename; a person knows the one that stays.
        code.sort_by_key(|path| !path.is_file());
        code.into_iter().next().map_or(Change::Samples, Change::Code)
    }
}

impl Folders {
    fn wanted(&self) -> Result<Vec<(PathBuf, RecursiveMode)>> {
        let mut wanted: Vec<_> = self.tops.iter().map(|top| (top.clone(), RecursiveMode::NonRecursive)).collect();
        for package in &self.packages {
            wanted.push((package.clone(), RecursiveMode::NonRecursive));
            let unreadable = || format!("failed to read the sources in `{}`", package.display());
            for entry in fs_err::read_dir(package).or_failed(unreadable)? {
                let path = entry.or_failed(unreadable)?.path();
                if path.is_dir() && self.is_source(&path) {
                    wanted.push((path, RecursiveMode::Recursive));
                }
            }
        }
        let samples = self.samples();
        if samples.is_dir() {
            wanted.push((samples, RecursiveMode::Recursive));
        }
        Ok(wanted)
    }

    fn samples(&self) -> PathBuf {
        self.generated.join("samples")
    }

    /// Not what is built or generated, and not what tools and editors keep for themselves.
    fn is_source(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_sample = path.starts_with(self.samples()) && path != self.samples();
        // A project may lie in the target folder of another.
        let is_own = |own: &PathBuf| own.starts_with(&self.target) && path.starts_with(own);
        let is_built = path.starts_with(&self.target) && !self.packages.iter().chain(&self.tops).any(is_own);
        let is_made = is_built || path.starts_with(&self.generated) && !is_sample;
        let is_kept = name.starts_with('.') || name.ends_with('~') || name == "node_modules";
        !is_made && !is_kept
    }
}

/// The folders of the packages by path that the operator depends on, its own among them.
fn packages(project: &Project, metadata: &Metadata) -> BTreeSet<PathBuf> {
    let local = metadata.packages.iter().filter(|package| package.source.is_none());
    let folder =
        |package: &cargo_metadata::Package| package.manifest_path.parent().map(|it| it.as_std_path().to_owned());
    let local: HashMap<_, _> = local.map(|package| (&package.id, package)).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes: HashMap<_, _> = nodes.map(|node| (&node.id, node)).collect();
    let mut open: Vec<_> = local.values().filter(|it| it.name.as_str() == project.name).map(|it| &it.id).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if local.contains_key(id) && seen.insert(id) {
            let is_built_in =
                |dependency: &&NodeDep| dependency.dep_kinds.iter().any(|of| of.kind != DependencyKind::Development);
            let dependencies = nodes.get(id).into_iter().flat_map(|node| &node.deps);
            open.extend(dependencies.filter(is_built_in).map(|dependency| &dependency.pkg));
        }
    }
    seen.into_iter().filter_map(|id| folder(local.get(id)?)).collect()
}

/// Runs on the watcher's own thread.
fn hand_on(event: notify::Result<Event>, folders: &Folders, to: &mpsc::UnboundedSender<notify::Result<PathBuf>>) {
    // Nobody listens any more at the end.
    match event {
        Err(error) => _ = to.send(Err(error)),
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
        Ok(event) => {
            let changed = event.paths.into_iter().filter(|path| folders.is_source(path));
            changed.for_each(|path| _ = to.send(Ok(path)));
        }
    }
}

fn unwatchable(folder: &Path, cause: notify::Error) -> Error {
    let is_full = matches!(cause.kind, notify::ErrorKind::MaxFilesWatch);
    let error = Error::failed(format!("failed to watch `{}`", folder.display())).because(cause);
    match is_full {
        true => error.hint("raise the limit: `sysctl fs.inotify.max_user_watches=524288`"),
        false => error.hint("its files have to be readable for you"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_or_generated_is_no_source_but_samples_are() {
        let folders = Folders {
            packages: BTreeSet::new(),
            tops: BTreeSet::new(),
            target: "/p/target".into(),
            generated: "/p/deploy".into(),
        };
        let is = |path: &str| folders.is_source(Path::new(path));
        assert!(is("/p/Cargo.toml") && is("/p/api/src/lib.rs") && is("/p/deploy/samples/a.yaml"));
        assert!(!is("/p/target") && !is("/p/target/debug/a") && !is("/p/deploy") && !is("/p/deploy/rbac.yaml"));
        let inside =
            Folders { packages: ["/p/target/mine/api".into()].into(), target: "/p/target".into(), ..folders.clone() };
        assert!(inside.is_source(Path::new("/p/target/mine/api/src/lib.rs")));
        assert!(!inside.is_source(Path::new("/p/target/debug/a")));
        assert!(!is("/p/deploy/samples") && !is("/p/src/.lib.rs.swp") && !is("/p/src/lib.rs~") && !is("/p/.git"));
    }
}
