//! Where the programs of the control plane come from: `KUBEBUILDER_ASSETS`, or our Go module, built once per version.

use std::{
    fmt, fs,
    fs::File,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::Instant,
};

/// A folder with the programs in it; wins over building.
pub const ASSETS: &str = "KUBEBUILDER_ASSETS";

const GO_MOD: &str = include_str!("../controlplane/go.mod");

/// The programs and the Go packages they are built from. kubectl is a client: it may be missing from foreign assets.
const KUBERNETES: [(&str, &str); 3] = [
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
];
const ETCD: (&str, &str) = ("etcd", "go.etcd.io/etcd/server/v3");

/// The folder that holds `etcd`, `kube-apiserver`, `kube-controller-manager` and `kubectl`.
#[derive(Clone, Debug)]
pub struct Binaries {
    folder: PathBuf,
}

impl Binaries {
    /// The path of one of the programs.
    pub fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }

    /// A command that runs one of the programs.
    pub fn command(&self, program: &str) -> Command {
        Command::new(self.path(program))
    }
}

/// Why there is no control plane on this machine.
#[derive(Clone, Debug)]
pub struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// Whether the programs are here or can be built; builds nothing.
pub fn availability() -> Result<(), Missing> {
    if std::env::var_os(ASSETS).is_some() || is_complete(&cache_folder()) || go_runs() {
        return Ok(());
    }
    Err(Missing(format!("Go is not installed and {ASSETS} is not set")))
}

/// The programs, built now if they have to be. Processes that ask at the same time build once.
pub fn find() -> Result<Binaries, Missing> {
    static FOUND: OnceLock<Result<Binaries, Missing>> = OnceLock::new();
    FOUND.get_or_init(find_or_build).clone()
}

/// The Kubernetes version that our Go module pins, for example `1.36.3`.
pub fn kubernetes_version() -> &'static str {
    let mut words = GO_MOD.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let version = words.find_map(|line| match line[..] {
        ["k8s.io/kubernetes", version, ..] | ["require", "k8s.io/kubernetes", version, ..] => version.strip_prefix('v'),
        _ => None,
    });
    version.expect("tests/controlplane/go.mod requires k8s.io/kubernetes")
}

/// Where the folders of running planes are.
pub(crate) fn planes_folder() -> PathBuf {
    target_folder().join("planes")
}

fn target_folder() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).join("target/controlplane")
}

fn cache_folder() -> PathBuf {
    target_folder().join(kubernetes_version())
}

fn find_or_build() -> Result<Binaries, Missing> {
    if let Some(folder) = std::env::var_os(ASSETS).map(PathBuf::from) {
        return match ["etcd", "kube-apiserver", "kube-controller-manager"].iter().find(|p| !folder.join(p).is_file()) {
            None => Ok(Binaries { folder }),
            Some(program) => Err(Missing(format!(
                "{ASSETS} is {}, which has no `{program}`; unset it, or name a folder that has",
                folder.display()
            ))),
        };
    }
    let folder = cache_folder();
    if !is_complete(&folder) {
        availability()?;
        build_once(&folder).map_err(|error| Missing(format!("the control plane can't be built: {error}")))?;
    }
    Ok(Binaries { folder })
}

fn is_complete(folder: &Path) -> bool {
    [ETCD].iter().chain(&KUBERNETES).all(|(program, _)| folder.join(program).is_file())
}

fn go_runs() -> bool {
    let mut command = Command::new("go");
    command.arg("version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Builds into a folder beside the wanted one and renames it, so that a build that was cut short leaves nothing behind
/// that looks complete.
fn build_once(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(target_folder())?;
    let lock = File::create(target_folder().join("build.lock"))?;
    lock.lock()?;
    if is_complete(folder) {
        return Ok(());
    }
    let (start, staging) = (Instant::now(), folder.with_extension("part"));
    tell(&format!("building etcd and Kubernetes {} with Go, once; this takes minutes", kubernetes_version()));
    fs::remove_dir_all(&staging).or_else(|error| if staging.exists() { Err(error) } else { Ok(()) })?;
    fs::create_dir_all(&staging)?;
    go_build(&staging.join(ETCD.0), &[ETCD.1])?;
    go_build(&staging, &KUBERNETES.map(|(_, package)| package))?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::rename(&staging, folder)?;
    tell(&format!("built in {} s: {}", start.elapsed().as_secs(), folder.display()));
    Ok(())
}

/// kubectl and clients parse the version, which a build outside Kubernetes' own scripts would leave at v0.0.0.
fn go_build(output: &Path, packages: &[&str]) -> io::Result<()> {
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
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("controlplane"))
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
