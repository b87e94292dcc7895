//! Stores fingerprints of all inputs and outputs of a generator run, so that an unchanged project needs no build.
//!
//! Fingerprints cover contents, not times, so that switching branches back and forth costs nothing. Compiler flags and versions
//! are not included, since they don't change the output of a program.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::report::{LintFinding, Report};
use crate::project::Project;

/// The fingerprints of the inputs and outputs of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    version: &'static str,
    root: PathBuf,
    inputs: BTreeMap<PathBuf, Option<u64>>,
    outputs: BTreeMap<PathBuf, Option<u64>>,
    /// The warnings, which an unchanged project prints again.
    findings: Vec<LintFinding>,
}

impl Stamp {
    /// Returns a stamp with the hashes of the current content of all inputs and outputs. `inputs` are files, or folders with all files
    /// below them; the outputs are the files in the project's folder of generated YAML.
    pub(crate) fn new(project: &Project, inputs: BTreeSet<PathBuf>, report: &Report) -> Self {
        let mut outputs = BTreeMap::new();
        fingerprint_below(&project.generated_folder(), &mut outputs);
        let mut input_fingerprints = BTreeMap::new();
        for input in inputs {
            if input.is_dir() {
                fingerprint_below(&input, &mut input_fingerprints);
            } else {
                let fingerprint = fingerprint(&input);
                input_fingerprints.insert(input, fingerprint);
            }
        }
        let (version, root) = (env!("CARGO_PKG_VERSION"), project.root.clone());
        Self { version, root, inputs: input_fingerprints, outputs, findings: report.findings.clone() }
    }

    /// Loads the stamp in a file. `None` if there is no stamp, or if an input or output has changed since it was stored.
    pub(crate) fn load_current(file: &Path, project: &Project) -> Option<Self> {
        // The stored stamp is current if a new stamp of the same inputs equals it.
        let stored: Value = serde_json::from_slice(&fs_err::read(file).ok()?).ok()?;
        let inputs = stored["inputs"].as_object()?.keys().map(PathBuf::from).collect();
        let report = Report::deserialize(&stored).ok()?;
        let stamp = Self::new(project, inputs, &report);
        (stamp.to_json() == stored).then_some(stamp)
    }

    /// Returns whether an input was written since `start`: the compiler may have read its old content.
    pub(crate) fn has_input_newer_than(&self, start: SystemTime) -> bool {
        let modified = |path: &PathBuf| fs_err::metadata(path).and_then(|metadata| metadata.modified());
        self.inputs.keys().any(|path| modified(path).is_ok_and(|time| time >= start))
    }

    pub(crate) fn store(&self, file: &Path) -> io::Result<()> {
        fs_err::write(file, self.to_json().to_string())
    }

    /// Returns the report of a run without changes, with the warnings of the run that stored the stamp.
    pub(crate) fn report(&self) -> Report {
        Report { findings: self.findings.clone(), ..Report::default() }
    }

    /// Returns the stamp in the JSON format of its file.
    fn to_json(&self) -> Value {
        let hashes = |files: &BTreeMap<PathBuf, Option<u64>>| {
            files.iter().map(|(path, hash)| (path.to_string_lossy().into_owned(), json!(hash))).collect::<Value>()
        };
        json!({
            "version": self.version,
            "root": self.root.to_string_lossy(),
            "inputs": hashes(&self.inputs),
            "outputs": hashes(&self.outputs),
            "findings": self.findings,
        })
    }
}

/// Returns all inputs of the generator program: the source files in the compiler's dep-info file except those of the generator's own
/// package, every `Cargo.toml` in a folder above them, and the settings files of cargo and opgen. `None` if the dep-info file can't be
/// read.
pub(crate) fn inputs(
    project: &Project,
    workspace: &Path,
    dep_info: &Path,
    package: &Path,
) -> Option<BTreeSet<PathBuf>> {
    let mut inputs = read_files(&fs_err::read_to_string(dep_info).ok()?)?;
    inputs.retain(|input| !input.starts_with(package));
    let folders: BTreeSet<_> = inputs.iter().flat_map(|input| input.ancestors().skip(1)).map(Path::to_owned).collect();
    inputs.extend(folders.iter().map(|folder| folder.join("Cargo.toml")).filter(|manifest| manifest.is_file()));
    let settings_files = ["Cargo.lock", "Cargo.toml", "opgen.toml", "rust-toolchain.toml", "rust-toolchain"];
    inputs.extend([workspace, &project.root].into_iter().flat_map(|root| settings_files.map(|file| root.join(file))));
    inputs.extend(project.root.ancestors().map(|folder| folder.join(".cargo/config.toml")));
    Some(inputs)
}

/// Returns the source files in the first line of a dep-info file, which is `<program>: <file> <file> …`. A backslash escapes a space in a
/// path. `None` if the line has another format.
fn read_files(dep_info: &str) -> Option<BTreeSet<PathBuf>> {
    let (_, files) = dep_info.lines().next()?.split_once(": ")?;
    // A null byte, which no path contains, stands for an escaped space until the paths are split.
    let files = files.replace("\\ ", "\0");
    let files = files.split(' ').filter(|file| !file.is_empty());
    Some(files.map(|file| PathBuf::from(file.replace('\0', " "))).collect())
}

/// Returns the hash of the content of a file; `None` if the file can't be read.
fn fingerprint(file: &Path) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    fs_err::read(file).ok()?.hash(&mut hasher);
    Some(hasher.finish())
}

/// Adds the fingerprints of all files below a folder; none if the folder can't be read.
fn fingerprint_below(folder: &Path, fingerprints: &mut BTreeMap<PathBuf, Option<u64>>) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => fingerprint_below(&path, fingerprints),
            false => _ = fingerprints.insert(path.clone(), fingerprint(&path)),
        }
    }
}

#[cfg(test)]
#[path = "stamp/tests.rs"]
mod tests;
