//! Writes the generated files to the output folder, and computes how the folder differs from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::render::Rendered;
use super::{json, yaml};

/// The change of a file, done or needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Action {
    /// The file did not exist.
    Created,
    /// The file had another text.
    Updated,
    /// The file is no longer generated.
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
    /// The change of the file.
    pub action: Action,
}

/// A file that differs from the generated one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Drift {
    /// The path below the output folder.
    pub path: String,
    /// The change that [`write()`] would make.
    pub action: Action,
    /// The unified diff from the file in the folder to the generated file.
    pub diff: String,
}

/// Updates the folder and returns the changes. It does not touch a file whose text is equal, so modification times
/// stay. It removes files that an earlier version of opgen generated, and never files without its header.
///
/// All new texts are on disk before the first one replaces a file, so a full disk or a missing right changes nothing.
///
/// # Errors
///
/// Fails with the error of the operating system and the path. It also fails if a file to replace doesn't have the header of
/// generated files ([`HEADER`](super::HEADER), in a JSON file as its description), because somebody wrote that file by hand.
pub fn write(rendered: &Rendered, dir: &Path) -> io::Result<Vec<FileChange>> {
    let existing = generated_files(dir)?;
    let changes = plan(rendered, dir, &existing)?;
    let temporaries = stage(rendered, dir, &changes)?;
    for (change, temporary) in changes.iter().zip(temporaries) {
        let target = dir.join(&change.path);
        match temporary {
            Some(temporary) => fs::rename(temporary, &target).map_err(|error| with_path(&target, error))?,
            None => {
                fs::remove_file(&target).map_err(|error| with_path(&target, error))?;
                // Removes the folder if this was its last file; otherwise it fails.
                let _ = target.parent().filter(|folder| *folder != dir).map(fs::remove_dir);
            }
        }
    }
    Ok(changes)
}

/// Returns the differences between the files in the folder and the generated files, each with a unified diff; empty if there are none.
///
/// # Errors
///
/// Fails with the error of the operating system and the path.
pub fn compare(rendered: &Rendered, dir: &Path) -> io::Result<Vec<Drift>> {
    let existing = generated_files(dir)?;
    let changes = plan(rendered, dir, &existing)?;
    let drift = |FileChange { path, action }| {
        let old = existing.get(&path).map_or("", String::as_str);
        let new = rendered.text(&path).unwrap_or_default();
        let mut options = diffy::DiffOptions::new();
        options.set_original_filename(format!("a/{path}")).set_modified_filename(format!("b/{path}"));
        Drift { diff: options.create_patch(old, new).to_string(), path, action }
    };
    Ok(changes.into_iter().map(drift).collect())
}

/// Computes the changes that make the folder equal to the generated files, sorted by path. `existing` has the texts of the
/// generated files in the folder, by path. Fails if a file to create exists without the header of generated files.
fn plan(rendered: &Rendered, dir: &Path, existing: &BTreeMap<String, String>) -> io::Result<Vec<FileChange>> {
    let mut changes = Vec::new();
    for file in &rendered.files {
        let action = match existing.get(&file.path) {
            Some(text) if *text == file.text => continue,
            Some(_) => Action::Updated,
            None => Action::Created,
        };
        let target = dir.join(&file.path);
        if action == Action::Created && target.exists() {
            let problem = "is not a generated file; move it, or add the header of generated files";
            return Err(with_path(&target, io::Error::new(io::ErrorKind::AlreadyExists, problem)));
        }
        changes.push(FileChange { path: file.path.clone(), action });
    }
    let generated_paths: BTreeSet<&str> = rendered.files.iter().map(|file| file.path.as_str()).collect();
    let stale = existing.keys().filter(|path| !generated_paths.contains(path.as_str()));
    changes.extend(stale.map(|path| FileChange { path: path.clone(), action: Action::Removed }));
    changes.sort();
    Ok(changes)
}

/// Writes the new text of each changed file to a temporary file beside its target. Returns the path of the temporary file for each change;
/// `None` for a file to remove. If a write fails, deletes the temporary files.
fn stage(rendered: &Rendered, dir: &Path, changes: &[FileChange]) -> io::Result<Vec<Option<std::path::PathBuf>>> {
    let mut temporaries = Vec::new();
    for change in changes {
        let Some(text) = rendered.text(&change.path) else {
            temporaries.push(None);
            continue;
        };
        let target = dir.join(&change.path);
        let temporary = target.with_extension(format!("{}.tmp", std::process::id()));
        let folder = target.parent().unwrap_or(dir);
        let written = fs::create_dir_all(folder).map_err(|error| with_path(folder, error));
        let written = written.and_then(|()| fs::write(&temporary, text).map_err(|error| with_path(&temporary, error)));
        temporaries.push(Some(temporary));
        if let Err(error) = written {
            for temporary in temporaries.into_iter().flatten() {
                let _ = fs::remove_file(temporary);
            }
            return Err(error);
        }
    }
    Ok(temporaries)
}

/// The folders of generated files, also of those that a project does not have any more.
const FOLDERS: [&str; 18] = [
    "",
    "base",
    "base/crds",
    "chart",
    "chart/templates",
    "chart/templates/crds",
    "components/cert-manager",
    "components/monitoring",
    "components/network-policy",
    "grafana",
    "nats",
    "overlays/cert-manager",
    "overlays/ha",
    "overlays/monitoring",
    "remote",
    "samples",
    // Earlier versions wrote into these.
    "crds",
    "prometheus",
];

/// Reads the files in the folders of generated files below `dir` that have the header of generated files. Returns their texts by path.
fn generated_files(dir: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for folder in FOLDERS {
        let listed = match fs::read_dir(dir.join(folder)) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(with_path(&dir.join(folder), error)),
        };
        for entry in listed {
            let path = entry.map_err(|error| with_path(dir, error))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_generated = match path.extension().and_then(|extension| extension.to_str()) {
                Some("yaml" | "tpl" | "sh") => yaml::is_generated,
                Some("json") => json::is_generated,
                _ => continue,
            };
            if !path.is_file() {
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| with_path(&path, error))?;
            let Ok(text) = String::from_utf8(bytes) else { continue };
            if is_generated(&text) {
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                files.insert(path, text);
            }
        }
    }
    Ok(files)
}

/// Adds the path to the message of an error.
fn with_path(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
