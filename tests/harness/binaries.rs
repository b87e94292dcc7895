//! Where the programs of the control plane and of the cluster come from: `KUBEBUILDER_ASSETS`, or our Go modules, built
//! once per version.

use std::{
    fmt, fs,
    fs::File,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::Instant,
};

use crate::Form;

/// A folder with the programs in it; wins over building.
pub const ASSETS: &str = "KUBEBUILDER_ASSETS";

const GO_MOD: &str = include_str!("../controlplane/go.mod");
const KWOK_GO_MOD: &str = include_str!("../controlplane/kwok/go.mod");

/// A program and the Go package it is built from.
type Package = (&'static str, &'static str);

const ETCD: Package = ("etcd", "go.etcd.io/etcd/server/v3");
/// These carry the Kubernetes version.
const KUBERNETES: [Package; 4] = [
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
    ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
];
/// In a Go module of its own: it needs other versions of the Kubernetes libraries.
const KWOK: Package = ("kwok", "sigs.k8s.io/kwok/cmd/kwok");

/// The programs that run for a plane of a form. kubectl is a client and not among them: foreign assets may lack it.
fn needed(form: Form) -> &'static [&'static str] {
    match form {
        Form::Sandbox | Form::ControlPlane => &["etcd", "kube-apiserver", "kube-controller-manager"],
        Form::Cluster => &["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"],
    }
}

/// The folders that hold the programs.
#[derive(Clone, Debug)]
pub struct Binaries {
    kubernetes: PathBuf,
    kwok: PathBuf,
}

impl Binaries {
    fn in_one(folder: PathBuf) -> Self {
        Self { kubernetes: folder.clone(), kwok: folder }
    }

    fn built() -> Self {
        Self { kubernetes: target_folder().join(kubernetes_version()), kwok: target_folder().join(kwok_version()) }
    }

    /// The path of one of the programs: `etcd`, `kube-apiserver`, `kube-controller-manager`, `kube-scheduler`, `kubectl`,
    /// `kwok`.
    pub fn path(&self, program: &str) -> PathBuf {
        if program == KWOK.0 { self.kwok.join(program) } else { self.kubernetes.join(program) }
    }

    /// A command that runs one of the programs.
    pub fn command(&self, program: &str) -> Command {
        Command::new(self.path(program))
    }

    /// The first program that a form needs and that is not there.
    fn lacks(&self, form: Form) -> Option<&'static str> {
        needed(form).iter().find(|program| !self.path(program).is_file()).copied()
    }

    /// Whether all that is built for a form is there, kubectl included.
    fn is_complete(&self, form: Form) -> bool {
        self.lacks(form).is_none() && self.path("kubectl").is_file()
    }
}

/// Why there is no control plane, or no cluster, on this machine.
#[derive(Clone, Debug)]
pub struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// Whether the programs of a form are here or can be built; builds nothing.
///
/// # Errors
/// What is missing.
pub fn availability(form: Form) -> Result<(), Missing> {
    if let Some(folder) = assets() {
        return match Binaries::in_one(folder.clone()).lacks(form) {
            None => Ok(()),
            Some(program) => Err(Missing(format!(
                "{ASSETS} is {}, which has no `{program}`; unset it, or name a folder that has",
                folder.display()
            ))),
        };
    }
    if Binaries::built().is_complete(form) || go_runs() {
        return Ok(());
    }
    Err(Missing(format!("Go is not installed and {ASSETS} is not set")))
}

/// The programs of a form, built now if they have to be. Processes that ask at the same time build once.
///
/// # Errors
/// What is missing, or why it can't be built.
pub fn find(form: Form) -> Result<Binaries, Missing> {
    static PLANE: OnceLock<Result<Binaries, Missing>> = OnceLock::new();
    static CLUSTER: OnceLock<Result<Binaries, Missing>> = OnceLock::new();
    let found = if form == Form::Cluster { &CLUSTER } else { &PLANE };
    found.get_or_init(|| find_or_build(form)).clone()
}

/// The Kubernetes version that our Go module pins, for example `1.36.3`.
pub fn kubernetes_version() -> &'static str {
    let version = pinned(GO_MOD, "k8s.io/kubernetes").and_then(|version| version.strip_prefix('v'));
    version.expect("tests/controlplane/go.mod requires k8s.io/kubernetes")
}

/// For example `kwok-v0.8.0`.
fn kwok_version() -> String {
    let version = pinned(KWOK_GO_MOD, "sigs.k8s.io/kwok").expect("tests/controlplane/kwok/go.mod requires kwok");
    format!("kwok-{version}")
}

fn pinned<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    let mut words = go_mod.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.find_map(|line| match line[..] {
        [name, version, ..] | ["require", name, version, ..] if name == module => Some(version),
        _ => None,
    })
}

/// Where the folders of running planes are.
pub(crate) fn planes_folder() -> PathBuf {
    target_folder().join("planes")
}

fn assets() -> Option<PathBuf> {
    std::env::var_os(ASSETS).map(PathBuf::from)
}

fn target_folder() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).join("target/controlplane")
}

fn find_or_build(form: Form) -> Result<Binaries, Missing> {
    availability(form)?;
    if let Some(folder) = assets() {
        return Ok(Binaries::in_one(folder));
    }
    let binaries = Binaries::built();
    if !binaries.is_complete(form) {
        build(form, &binaries).map_err(|error| Missing(format!("the {form} can't be built: {error}")))?;
    }
    Ok(binaries)
}

fn go_runs() -> bool {
    let mut command = Command::new("go");
    command.arg("version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// One process at a time builds what is not there.
fn build(form: Form, binaries: &Binaries) -> io::Result<()> {
    fs::create_dir_all(target_folder())?;
    let lock = File::create(target_folder().join("build.lock"))?;
    lock.lock()?;
    let base = Form::ControlPlane;
    if !(binaries.is_complete(base) && binaries.path("kube-scheduler").is_file()) {
        tell(&format!("building etcd and Kubernetes {} with Go, once; this takes minutes", kubernetes_version()));
        build_folder(&binaries.kubernetes, |staging| {
            go_build("controlplane", &staging.join(ETCD.0), &[ETCD.1])?;
            go_build("controlplane", staging, &KUBERNETES.map(|(_, package)| package))
        })?;
    }
    if form == Form::Cluster && !binaries.path(KWOK.0).is_file() {
        tell(&format!("building {} with Go, once; this takes minutes", kwok_version()));
        build_folder(&binaries.kwok, |staging| go_build("controlplane/kwok", &staging.join(KWOK.0), &[KWOK.1]))?;
    }
    Ok(())
}

/// Builds into a folder beside the wanted one and renames it, so that a build that was cut short leaves nothing behind
/// that looks complete.
fn build_folder(folder: &Path, build: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let start = Instant::now();
    // Not `with_extension`: the name has dots.
    let mut staging = folder.as_os_str().to_owned();
    staging.push(".part");
    let staging = PathBuf::from(staging);
    fs::remove_dir_all(&staging).or_else(|error| if staging.exists() { Err(error) } else { Ok(()) })?;
    fs::create_dir_all(&staging)?;
    build(&staging)?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::rename(&staging, folder)?;
    tell(&format!("built in {} s: {}", start.elapsed().as_secs(), folder.display()));
    Ok(())
}

/// kubectl and clients parse the version, which a build outside Kubernetes' own scripts would leave at v0.0.0.
fn go_build(module: &str, output: &Path, packages: &[&str]) -> io::Result<()> {
    let version = kubernetes_version();
    let mut parts = version.split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let stamps = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].map(|package| {
        format!("-X {package}.gitVersion=v{version} -X {package}.gitMajor={major} -X {package}.gitMinor={minor}")
    });
    let status = Command::new("go")
        .args(["build", "-trimpath", "-ldflags", &format!("-s -w {}", stamps.join(" ")), "-o"])
        .arg(output)
        .args(packages)
        .env("CGO_ENABLED", "0")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(module))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("`go build {}`: {status}", packages.join(" "))))
    }
}

/// A build of minutes must not look like a test that hangs.
#[allow(clippy::print_stderr)]
fn tell(line: &str) {
    eprintln!("control plane: {line}");
}
