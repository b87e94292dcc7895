//! The output folder: bringing it up to date, and telling how it differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::render::Rendered;
use super::yaml::HEADER;

/// What was done to a file, or would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Action {
    /// The file was not there.
    Created,
    /// The file had another text.
    Updated,
    /// The file was generated once and is not any more.
    Removed,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Created => "Created",
            Self::Updated => "Updated",
            Self::Removed => "Removed",
        })
    }
}

/// A file that [`write()`] touched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct FileChange {
    /// The path below the output folder.
    pub path: String,
    /// What was done.
    pub action: Action,
}

/// A file that is not as the code says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Drift {
    /// The path below the output folder.
    pub path: String,
    /// What [`write()`] would do.
    pub action: Action,
    /// From what is there to what should be, as a unified diff.
    pub diff: String,
}

/// Brings the folder up to date and tells what was done. Files that are as they should be are not touched, so that
/// their times stay; files that opgen generated and does not any more are removed; other files are left alone.
///
/// New texts are all on disk before the first takes its place, so a full disk or a missing right changes nothing.
///
/// # Errors
///
/// What the system said, with the path. A file that is to be replaced but doesn't begin with [`HEADER`] is an error:
/// somebody wrote it by hand.
pub fn write(rendered: &Rendered, dir: &Path) -> io::Result<Vec<FileChange>> {
    let present = generated(dir)?;
    let planned = plan(rendered, dir, &present)?;
    let staged = stage(rendered, dir, &planned)?;
    for (change, temporary) in planned.iter().zip(staged) {
        let target = dir.join(&change.path);
        match temporary {
            Some(temporary) => fs::rename(temporary, &target).map_err(|error| at(&target, error))?,
            None => fs::remove_file(&target).map_err(|error| at(&target, error))?,
        }
    }
    Ok(planned)
}

/// How the folder differs from what is generated; empty if it doesn't.
///
/// # Errors
///
/// What the system said, with the path.
pub fn compare(rendered: &Rendered, dir: &Path) -> io::Result<Vec<Drift>> {
    let present = generated(dir)?;
    let planned = plan(rendered, dir, &present)?;
    let drift = |FileChange { path, action }| {
        let old = present.get(&path).map_or("", String::as_str);
        let new = rendered.text(&path).unwrap_or_default();
        let mut options = diffy::DiffOptions::new();
        options.set_original_filename(format!("a/{path}")).set_modified_filename(format!("b/{path}"));
        Drift { diff: options.create_patch(old, new).to_string(), path, action }
    };
    Ok(planned.into_iter().map(drift).collect())
}

fn plan(rendered: &Rendered, dir: &Path, present: &BTreeMap<String, String>) -> io::Result<Vec<FileChange>> {
    let mut changes = Vec::new();
    for file in &rendered.files {
        let action = match present.get(&file.path) {
            Some(text) if *text == file.text => continue,
            Some(_) => Action::Updated,
            None => Action::Created,
        };
        let target = dir.join(&file.path);
        if action == Action::Created && target.exists() {
            let problem = "is not a generated file; move it away, or make its first line the header of generated files";
            return Err(at(&target, io::Error::new(io::ErrorKind::AlreadyExists, problem)));
        }
        changes.push(FileChange { path: file.path.clone(), action });
    }
    let wanted: BTreeSet<&str> = rendered.files.iter().map(|file| file.path.as_str()).collect();
    let stale = present.keys().filter(|path| !wanted.contains(path.as_str()));
    changes.extend(stale.map(|path| FileChange { path: path.clone(), action: Action::Removed }));
    changes.sort();
    Ok(changes)
}

/// Writes new texts beside their targets; what was written is taken away again if one fails.
fn stage(rendered: &Rendered, dir: &Path, planned: &[FileChange]) -> io::Result<Vec<Option<std::path::PathBuf>>> {
    let mut staged = Vec::new();
    for change in planned {
        let Some(text) = rendered.text(&change.path) else {
            staged.push(None);
            continue;
        };
        let target = dir.join(&change.path);
        let temporary = target.with_extension(format!("{}.tmp", std::process::id()));
        let folder = target.parent().unwrap_or(dir);
        let written = fs::create_dir_all(folder).map_err(|error| at(folder, error));
        let written = written.and_then(|()| fs::write(&temporary, text).map_err(|error| at(&temporary, error)));
        staged.push(Some(temporary));
        if let Err(error) = written {
            for temporary in staged.into_iter().flatten() {
                let _ = fs::remove_file(temporary);
            }
            return Err(error);
        }
    }
    Ok(staged)
}

/// The generated files below `dir`, by their header.
fn generated(dir: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for folder in ["", "crds", "samples"] {
        let listed = match fs::read_dir(dir.join(folder)) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(at(&dir.join(folder), error)),
        };
        for entry in listed {
            let path = entry.map_err(|error| at(dir, error))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !name.ends_with(".yaml") || !path.is_file() {
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| at(&path, error))?;
            let Ok(text) = String::from_utf8(bytes) else { continue };
            if text.lines().next() == Some(HEADER) {
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                files.insert(path, text);
            }
        }
    }
    Ok(files)
}

fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
