//! Builds Argo CD and the controllers of Flux from their Go modules, once per version.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use crate::binaries::{Missing, build_folder, go_runs, lock, target_folder, tell};

/// A program that is built from its own module. The module of a program can't be a dependency, because its `replace` directives
/// and generated files would be missing.
struct Program {
    name: &'static str,
    module: &'static str,
    version: &'static str,
    package: &'static str,
    /// A module that the `go.mod` of the program replaces by a folder, which a download lacks, and the version to use instead.
    nested: (&'static str, &'static str),
    /// The folder of the definitions in the module.
    definitions: &'static str,
}

const PROGRAMS: [Program; 4] = [
    Program {
        name: "argocd",
        module: "github.com/argoproj/argo-cd/v3",
        version: "v3.5.2",
        package: "./cmd",
        nested: ("github.com/argoproj/argo-cd/gitops-engine", "v0.0.0-20260914071520-c9c369efcc5b"),
        definitions: "manifests/crds",
    },
    Program {
        name: "source-controller",
        module: "github.com/fluxcd/source-controller",
        version: "v1.9.0",
        package: ".",
        nested: ("github.com/fluxcd/source-controller/api", "v1.9.0"),
        definitions: "config/crd/bases",
    },
    Program {
        name: "helm-controller",
        module: "github.com/fluxcd/helm-controller",
        version: "v1.6.1",
        package: ".",
        nested: ("github.com/fluxcd/helm-controller/api", "v1.6.1"),
        definitions: "config/crd/bases",
    },
    Program {
        name: "kustomize-controller",
        module: "github.com/fluxcd/kustomize-controller",
        version: "v1.7.3",
        package: ".",
        nested: ("github.com/fluxcd/kustomize-controller/api", "v1.7.3"),
        definitions: "config/crd/bases",
    },
];

/// Checks whether the programs exist or can be built. It builds nothing.
///
/// # Errors
/// Fails with what is missing.
pub fn availability() -> Result<(), Missing> {
    if !runs("redis-server") {
        return Err(Missing("redis-server is not installed, which Argo CD needs".to_owned()));
    }
    if folder().is_dir() || go_runs() {
        return Ok(());
    }
    Err(Missing("Go is not installed, so Argo CD and Flux can't be built".to_owned()))
}

/// Returns the folder of the programs, and builds them if they are missing. Concurrent processes build them once. The folder of a
/// program with the suffix `-crds` has its definitions.
///
/// # Errors
/// Fails with the reason why they can't be built.
pub fn find() -> Result<PathBuf, Missing> {
    static FOLDER: OnceLock<Result<PathBuf, Missing>> = OnceLock::new();
    FOLDER.get_or_init(|| build().map_err(|error| Missing(format!("Argo CD and Flux can't be built: {error}")))).clone()
}

fn folder() -> PathBuf {
    let versions = PROGRAMS.map(|program| format!("{}-{}", program.name, program.version));
    target_folder().join(versions.join("-"))
}

/// Returns the folder with the programs of Argo CD and Flux; the first call of all processes builds them.
fn build() -> io::Result<PathBuf> {
    let _lock = lock()?;
    let folder = folder();
    if !folder.is_dir() {
        tell("building Argo CD and Flux with Go, once; this takes about ten minutes");
        build_folder(&folder, |staging| PROGRAMS.iter().try_for_each(|program| program.build(staging)))?;
    }
    Ok(folder)
}

impl Program {
    /// Downloads the Go module of the program, builds the program in the folder `staging`, and copies its CustomResourceDefinitions to
    /// `<name>-crds` there.
    fn build(&self, staging: &Path) -> io::Result<()> {
        let source = staging.join(format!("{}-source", self.name));
        copy(&self.download()?, &source)?;
        // Argo CD embeds the files of its web interface, which the module lacks. An empty page lets it compile.
        let page = source.join("ui/dist/app");
        if source.join("ui").is_dir() {
            fs::create_dir_all(&page)?;
            fs::write(page.join("index.html"), "")?;
        }
        // The `go.mod` replaces this module by a folder that the download lacks.
        let (module, version) = self.nested;
        go(&source, &["mod", "edit", "-replace", &format!("{module}={module}@{version}")])?;
        let output = staging.join(self.name);
        go(&source, &["build", "-ldflags", "-s -w", "-o", &output.to_string_lossy(), self.package])?;
        copy(&source.join(self.definitions), &staging.join(format!("{}-crds", self.name)))?;
        fs::remove_dir_all(&source)
    }

    /// Downloads the module to the module cache of Go, and returns its folder there.
    fn download(&self) -> io::Result<PathBuf> {
        let module = format!("{}@{}", self.module, self.version);
        let mut command = go_command(&target_folder());
        let output = command.args(["mod", "download", "-json", &module]).stderr(Stdio::inherit()).output()?;
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        match answer["Dir"].as_str() {
            Some(folder) => Ok(folder.into()),
            None => Err(io::Error::other(format!("{module} can't be downloaded: {}", answer["Error"]))),
        }
    }
}

/// Returns a `go` command that runs in a folder, without cgo. It may change the `go.mod`, and use another version of Go that the module
/// asks for.
fn go_command(folder: &Path) -> Command {
    let mut command = Command::new("go");
    command.env("GOTOOLCHAIN", "auto").env("GOFLAGS", "-mod=mod").env("CGO_ENABLED", "0");
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn go(folder: &Path, arguments: &[&str]) -> io::Result<()> {
    let status = go_command(folder).args(arguments).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("go {} failed", arguments.join(" ")))) }
}

/// Copies a folder with its subfolders. The files are written anew, so they are writable, unlike those in the module cache of Go.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?.path();
        let target = to.join(entry.file_name().unwrap_or_default());
        if entry.is_dir() {
            copy(&entry, &target)?;
        } else {
            fs::write(&target, fs::read(&entry)?)?;
        }
    }
    Ok(())
}

/// Whether a program is installed.
fn runs(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
