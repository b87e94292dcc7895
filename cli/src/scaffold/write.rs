//! Writes a rendered project to disk atomically: all files or none.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::render::RenderedProject;
use crate::{
    error::{Error, Result, ResultExt as _},
    interrupt,
};

/// Fails unless the path does not exist or is an empty folder.
pub(crate) fn check_vacant(root: &Path) -> Result<()> {
    let occupied = |problem: &str| {
        Error::failed(format!("`{}` {problem}", root.display()))
            .hint("choose another folder with `--path`; existing files are never overwritten")
    };
    match fs_err::read_dir(root) {
        Ok(mut entries) => entries.next().map_or(Ok(()), |_| Err(occupied("exists and is not empty"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(occupied("is not a folder")),
        Err(error) => Err(occupied("can't be read").because(error)),
    }
}

/// Writes a project to `root`, all files or none: writes and formats the files in a temporary folder on the same file system, then moves
/// them to `root`. Calls `on_file` with the path of each written file. A signal meanwhile removes the temporary folder.
pub(crate) fn write(rendered: &RenderedProject, root: &Path, mut on_file: impl FnMut(&Path)) -> Result<()> {
    let failed = || format!("failed to write the project to `{}`", root.display());
    let existing = root.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let stage = tempfile::Builder::new().prefix(".opgen-new-").tempdir_in(existing).or_failed(failed)?;
    let _guard = interrupt::remove_folder(stage.path());
    let staged = stage.path().join("project");
    for (path, text) in rendered.files() {
        interrupt::uninterrupted(|| write_file(&staged.join(path), text)).or_failed(failed)?;
        on_file(path);
    }
    format_rust(&staged, rendered);
    interrupt::uninterrupted(|| match existing == root {
        true => move_entries(&staged, root),
        false => move_folder(&staged, root, existing),
    })
    .or_failed(failed)
}

/// Writes a file, and creates its parent folders.
fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::write(path, text)
}

/// Formats the Rust files with rustfmt, since the length of the rendered names changes line breaks. Does nothing without rustfmt.
fn format_rust(staged: &Path, rendered: &RenderedProject) {
    let sources = rendered
        .files()
        .map(|(path, _)| staged.join(path))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let formatting = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(staged)
        .args(sources)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    _ = formatting.and_then(interrupt::wait);
}

/// Moves the project from `staged` to `root`, which does not exist yet, and creates the parent folders of `root`; `existing` is the nearest
/// parent folder that exists. Removes the created parent folders if the move fails.
fn move_folder(staged: &Path, root: &Path, existing: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = root.ancestors().skip(1).take_while(|folder| *folder != existing).collect();
    let moved = root.parent().map_or(Ok(()), fs_err::create_dir_all).and_then(|()| fs_err::rename(staged, root));
    if moved.is_err() {
        for folder in missing {
            _ = fs_err::remove_dir(folder);
        }
    }
    moved
}

/// Moves the files and folders in `staged` into the existing folder `root`. Does not replace `root` itself, since it may be the current
/// folder of a shell. Moves everything back if a move fails.
fn move_entries(staged: &Path, root: &Path) -> io::Result<()> {
    let mut moved: Vec<(PathBuf, PathBuf)> = Vec::new();
    for entry in fs_err::read_dir(staged)? {
        let from = entry?.path();
        let Some(name) = from.file_name() else { continue };
        let to = root.join(name);
        if let Err(error) = fs_err::rename(&from, &to) {
            for (from, to) in moved {
                _ = fs_err::rename(to, from);
            }
            return Err(error);
        }
        moved.push((from, to));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the sorted names of the files and folders in a folder.
    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs_err::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let impossible = RenderedProject::from_iter([("a", "a file"), ("a/b", "in a file")]);
        assert!(write(&impossible, &parent.path().join("deep/demo"), |_| ()).is_err());
        assert_eq!(names(parent.path()), [""; 0]);
    }

    #[test]
    fn a_file_that_appears_at_the_path_during_the_write_is_not_overwritten() {
        let parent = tempfile::tempdir().unwrap();
        let root = parent.path().join("demo");
        let written =
            write(&RenderedProject::from_iter([("a", "ours")]), &root, |_| fs_err::write(&root, "theirs").unwrap());
        assert!(written.is_err());
        assert_eq!(names(parent.path()), ["demo"]);
        assert_eq!(fs_err::read_to_string(root).unwrap(), "theirs");
    }

    #[test]
    fn files_moved_into_an_existing_folder_are_moved_back_after_a_failure() {
        let root = tempfile::tempdir().unwrap();
        let rendered = RenderedProject::from_iter([("a", "ours"), ("b/c", "ours"), ("d", "ours")]);
        let written = write(&rendered, root.path(), |path| {
            // A folder `d` that is not empty can't be replaced by the file `d`.
            if path == Path::new("d") {
                fs_err::create_dir_all(root.path().join("d/theirs")).unwrap();
            }
        });
        assert!(written.is_err());
        assert_eq!(names(root.path()), ["d"]);
        assert_eq!(names(&root.path().join("d")), ["theirs"]);
    }

    #[test]
    fn created_parent_folders_are_removed_after_a_failure() {
        let parent = tempfile::tempdir().unwrap();
        let missing = parent.path().join("no such folder");
        assert!(move_folder(&missing, &parent.path().join("x/y/demo"), parent.path()).is_err());
        assert_eq!(names(parent.path()), [""; 0]);
    }

    #[test]
    fn a_project_is_written_with_its_folders_and_no_temporary_files() {
        let parent = tempfile::tempdir().unwrap();
        let mut reported = Vec::new();
        let rendered = RenderedProject::from_iter([("a/b", "1"), ("c", "2")]);
        write(&rendered, &parent.path().join("x/demo"), |path| reported.push(path.to_owned())).unwrap();
        assert_eq!(reported, [Path::new("a/b"), Path::new("c")]);
        assert_eq!(fs_err::read_to_string(parent.path().join("x/demo/a/b")).unwrap(), "1");
        assert_eq!(names(parent.path()), ["x"]);
    }
}
