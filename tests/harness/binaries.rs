//! Finds the programs of the control plane and of the cluster in `KUBEBUILDER_ASSETS`, or builds them with Go, once per version.

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

/// The environment variable for a folder with the programs, which are then not built.
pub const ASSETS: &str = "KUBEBUILDER_ASSETS";

const GO_MOD: &str = include_str!("../controlplane/go.mod");
const KWOK_GO_MOD: &str = include_str!("../controlplane/kwok/go.mod");

/// A program and its Go package.
type Package = (&'static str, &'static str);

const ETCD: Package = ("etcd", "go.etcd.io/etcd/server/v3");
/// The programs with the version of Kubernetes.
const KUBERNETES: [Package; 4] = [
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
    ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
];
/// kwok has its own Go module, since it needs other versions of the Kubernetes libraries.
const KWOK: Package = ("kwok", "sigs.k8s.io/kwok/cmd/kwok");

/// Returns the programs that must exist for a form of API server. kubectl is not among them: it is only a client, and the folder in
/// `KUBEBUILDER_ASSETS` may lack it. A sandbox runs none of them; its cases use the folder of a control plane for kubectl.
fn needed(form: Form) -> &'static [&'static str] {
    match form {
        Form::Sandbox | Form::ControlPlane => &["etcd", "kube-apiserver", "kube-controller-manager"],
        Form::Cluster => &["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"],
    }
}

/// The folders of the programs.
#[derive(Clone, Debug)]
pub struct Binaries {
    kubernetes: PathBuf,
    kwok: PathBuf,
}

impl Binaries {
    fn in_one(folder: PathBuf) -> Self {
        Self { kubernetes: folder.clone(), kwok: folder }
    }

    fn from_build() -> Self {
        Self { kubernetes: target_folder().join(kubernetes_version()), kwok: target_folder().join(kwok_version()) }
    }

    /// Returns the path of a program: `etcd`, `kube-apiserver`, `kube-controller-manager`, `kube-scheduler`, `kubectl` or `kwok`.
    pub fn path(&self, program: &str) -> PathBuf {
        if program == KWOK.0 { self.kwok.join(program) } else { self.kubernetes.join(program) }
    }

    /// Returns a command that runs a program. The garbage collector of its Go runtime runs less often than usual, unless `GOGC` is set: the
    /// servers of a test don't run long enough to fill the memory.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.path(program));
        if std::env::var_os("GOGC").is_none() {
            command.env("GOGC", "400");
        }
        command
    }

    /// Returns the first program that a form needs and that is not in the folders; `None` if there are all.
    fn lacks(&self, form: Form) -> Option<&'static str> {
        needed(form).iter().find(|program| !self.path(program).is_file()).copied()
    }

    /// Returns whether all programs that a form needs exist, and kubectl as well.
    fn is_complete(&self, form: Form) -> bool {
        self.lacks(form).is_none() && self.path("kubectl").is_file()
    }
}

/// The reason why this machine can't run a control plane or a cluster.
#[derive(Clone, Debug)]
pub struct Missing(pub(crate) String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// Checks whether the programs of a control plane or of a cluster exist, or can be built because Go is installed. It builds nothing. If
/// `KUBEBUILDER_ASSETS` is set, only the programs in that folder count.
///
/// # Errors
/// Fails with the missing program.
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
    if Binaries::from_build().is_complete(form) || go_runs() {
        return Ok(());
    }
    Err(Missing(format!("Go is not installed and {ASSETS} is not set")))
}

/// Returns the programs for a control plane or for a whole cluster, and builds those that are missing. If several processes need them at
/// once, one builds and the others wait.
///
/// # Errors
/// Fails with the missing program, or with the reason why it can't be built.
pub fn find(form: Form) -> Result<Binaries, Missing> {
    static CONTROL_PLANE: OnceLock<Result<Binaries, Missing>> = OnceLock::new();
    static CLUSTER: OnceLock<Result<Binaries, Missing>> = OnceLock::new();
    let found = if form == Form::Cluster { &CLUSTER } else { &CONTROL_PLANE };
    found.get_or_init(|| find_or_build(form)).clone()
}

/// Returns the version of Kubernetes that the Go module pins, for example `1.36.3`.
pub fn kubernetes_version() -> &'static str {
    let version = pinned(GO_MOD, "k8s.io/kubernetes").and_then(|version| version.strip_prefix('v'));
    version.expect("tests/controlplane/go.mod requires k8s.io/kubernetes")
}

/// Returns the name of the folder of kwok, for example `kwok-v0.8.0`.
fn kwok_version() -> String {
    let version = pinned(KWOK_GO_MOD, "sigs.k8s.io/kwok").expect("tests/controlplane/kwok/go.mod requires kwok");
    format!("kwok-{version}")
}

/// Returns the version of a module that the text of a `go.mod` requires; `None` if it doesn't require the module. A requirement is a line
/// `<name> <version>` in a block, or `require <name> <version>`.
pub(crate) fn pinned<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    let mut lines = go_mod.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find_map(|words| match words[..] {
        [name, version, ..] | ["require", name, version, ..] if name == module => Some(version),
        _ => None,
    })
}

/// Returns the parent folder of the folders of running planes.
pub(crate) fn planes_folder() -> PathBuf {
    target_folder().join("planes")
}

/// Returns the folder of programs that are not built.
pub(crate) fn assets() -> Option<PathBuf> {
    std::env::var_os(ASSETS).map(PathBuf::from)
}

/// Returns the folder of the built programs.
pub(crate) fn target_folder() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).join("target/controlplane")
}

/// Returns the programs of the folder in `KUBEBUILDER_ASSETS`. Without the variable, returns the programs that the harness builds from
/// source, and builds them if one is missing.
fn find_or_build(form: Form) -> Result<Binaries, Missing> {
    availability(form)?;
    if let Some(folder) = assets() {
        return Ok(Binaries::in_one(folder));
    }
    let binaries = Binaries::from_build();
    if !binaries.is_complete(form) {
        build(form, &binaries).map_err(|error| Missing(format!("the {form} can't be built: {error}")))?;
    }
    Ok(binaries)
}

/// Whether Go is installed.
pub(crate) fn go_runs() -> bool {
    let mut command = Command::new("go");
    command.arg("version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Builds the missing programs under a lock, so that one process builds at a time. kwok is built only for a cluster.
fn build(form: Form, binaries: &Binaries) -> io::Result<()> {
    let _lock = lock()?;
    let ((etcd, etcd_package), (kwok, kwok_package)) = (ETCD, KWOK);
    // One build makes all these programs. kube-scheduler is not among those that a control plane needs, so it is checked as well.
    if !(binaries.is_complete(Form::ControlPlane) && binaries.path("kube-scheduler").is_file()) {
        tell(&format!("building etcd and Kubernetes {} with Go, once; this takes minutes", kubernetes_version()));
        build_folder(&binaries.kubernetes, |staging| {
            go_build("controlplane", &staging.join(etcd), &[etcd_package])?;
            go_build("controlplane", staging, &KUBERNETES.map(|(_, package)| package))
        })?;
    }
    if form == Form::Cluster && !binaries.path(kwok).is_file() {
        tell(&format!("building {} with Go, once; this takes minutes", kwok_version()));
        build_folder(&binaries.kwok, |staging| go_build("controlplane/kwok", &staging.join(kwok), &[kwok_package]))?;
    }
    Ok(())
}

/// Locks the build folder, after waiting for a process that builds in it. Dropping the returned file releases the lock.
pub(crate) fn lock() -> io::Result<File> {
    fs::create_dir_all(target_folder())?;
    let lock = File::create(target_folder().join("build.lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Calls `build` with an empty temporary folder, and renames the folder to `folder` when the build has succeeded, so that an interrupted
/// build leaves no folder that looks complete.
pub(crate) fn build_folder(folder: &Path, build: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let start = Instant::now();
    // `with_extension` would cut the name at its last dot.
    let mut staging = folder.as_os_str().to_owned();
    staging.push(".part");
    let staging = PathBuf::from(staging);
    // The folder of an interrupted build is removed; that there is none is no error.
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

/// Builds Go packages, and sets the version of Kubernetes in them by flags of the linker, as its build scripts do. `go build` alone leaves
/// v0.0.0, and kubectl and clients parse the version. `module` is the folder of the `go.mod`.
fn go_build(module: &str, output: &Path, packages: &[&str]) -> io::Result<()> {
    let version = kubernetes_version();
    let mut parts = version.split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let stamps = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].map(|package| {
        format!("-X {package}.gitVersion=v{version} -X {package}.gitMajor={major} -X {package}.gitMinor={minor}")
    });
    go_build_stamped(module, output, packages, &stamps.join(" "))
}

/// Builds Go packages as `output`, without cgo and without debug symbols. `stamps` are more flags of the linker (`-X name=value`), and
/// `module` is the folder of the `go.mod`, relative to the package of these tests.
pub(crate) fn go_build_stamped(module: &str, output: &Path, packages: &[&str], stamps: &str) -> io::Result<()> {
    let status = Command::new("go")
        .args(["build", "-trimpath", "-ldflags", &format!("-s -w {stamps}"), "-o"])
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

/// Prints the progress of a build, so that it doesn't look like a test that hangs.
#[allow(clippy::print_stderr)]
pub(crate) fn tell(line: &str) {
    eprintln!("control plane: {line}");
}
