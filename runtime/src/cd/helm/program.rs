//! `HelmProgram`: runs the program `helm` for an operator, or a simulation of it in tests.

use super::call::{HelmCall, HelmFailure, HelmOutput};
use crate::child_process::{self, ProcessFailure, ProcessLimits};
use parking_lot::Mutex;
use std::{
    env,
    ffi::OsString,
    fmt,
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::process::Command;

/// The maximum number of bytes of the standard output.
const MAX_OUTPUT: usize = 8 << 20;
/// The number of bytes at the end of the standard error that are kept.
const MAX_ERRORS: usize = 64 << 10;

/// The variables of the operator's environment that `helm` gets: for the connections to the API server and to repositories.
const INHERITED: [&str; 12] = [
    "PATH",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "HELM_REGISTRY_CONFIG",
];

/// The variables that name the folders of `helm`, with paths in the private folder of the process.
const FOLDERS: [(&str, &str); 5] = [
    ("HOME", "."),
    ("TMPDIR", "."),
    ("HELM_CACHE_HOME", "cache"),
    ("HELM_CONFIG_HOME", "config"),
    ("HELM_DATA_HOME", "data"),
];

type HelmSimulation = dyn Fn(&HelmCall<'_>) -> HelmOutput + Send + Sync;

/// The program with which an operator deploys charts, for [`Environment::helm`](crate::environment::Environment::helm). The default is
/// `helm` of the `PATH`, with the cluster of the operator: that of the variable `KUBECONFIG`, of `~/.kube/config`, or of the service
/// account of the Pod.
///
/// Each process of an operator has a private folder for the files of `helm` in the folder for temporary files. Of the operator's
/// environment, `helm` gets the `PATH`, proxies, certificates (`SSL_CERT_FILE`) and the credentials for registries
/// (`HELM_REGISTRY_CONFIG`) only.
#[derive(Clone)]
pub struct HelmProgram {
    executable: Executable,
    kubeconfig: Option<PathBuf>,
    /// The folder for the files of the program, once there is one.
    folder: Arc<Mutex<Option<PrivateFolder>>>,
}

#[derive(Clone)]
enum Executable {
    Path(PathBuf),
    Simulated(Arc<HelmSimulation>),
}

impl Default for HelmProgram {
    fn default() -> Self {
        Self::new("helm")
    }
}

impl fmt::Debug for HelmProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("HelmProgram");
        match &self.executable {
            Executable::Path(path) => debug.field("path", path),
            Executable::Simulated(_) => debug.field("path", &"simulated"),
        };
        debug.field("kubeconfig", &self.kubeconfig).finish_non_exhaustive()
    }
}

impl HelmProgram {
    /// Returns the program of a name in the `PATH`, or of an absolute path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { executable: Executable::Path(path.into()), kubeconfig: None, folder: Arc::default() }
    }

    /// Returns a simulation of the program, for tests. The function gets each call, and returns its output.
    pub fn simulated(run: impl Fn(&HelmCall<'_>) -> HelmOutput + Send + Sync + 'static) -> Self {
        Self { executable: Executable::Simulated(Arc::new(run)), kubeconfig: None, folder: Arc::default() }
    }

    /// Sets the path of the kubeconfig for the cluster of the operator.
    #[must_use]
    pub fn kubeconfig(mut self, path: impl Into<PathBuf>) -> Self {
        self.kubeconfig = Some(path.into());
        self
    }

    /// Runs the program once, in its private folder and with a limited environment, and returns its output.
    ///
    /// # Errors
    /// If it can't be started, or does not end before the deadline. An error of the program itself is in its output.
    pub(crate) async fn run(&self, call: &HelmCall<'_>, deadline: Duration) -> Result<HelmOutput, HelmFailure> {
        let path = match &self.executable {
            Executable::Path(path) => path,
            Executable::Simulated(run) => return within_limit(run(call)),
        };
        let folder = self.folder().map_err(HelmFailure::NoFolder)?;
        let kubeconfig_file = call.kubeconfig.map(|text| PrivateFile::create(&folder, text)).transpose();
        let kubeconfig_file = kubeconfig_file.map_err(HelmFailure::NoFolder)?;
        let kubeconfig = match &kubeconfig_file {
            Some(file) => Some(file.0.clone().into_os_string()),
            None => self.own_kubeconfig(),
        };
        let mut command = Command::new(path);
        command.args(call.arguments).env_clear().current_dir(&folder);
        command.envs(INHERITED.iter().filter_map(|name| Some((name, env::var_os(name)?))));
        command.envs(FOLDERS.iter().map(|(name, below)| (name, folder.join(below))));
        command.envs([("HELM_NO_PLUGINS", "1"), ("NO_COLOR", "1")]);
        command.envs(kubeconfig.map(|path| ("KUBECONFIG", path)));
        let limits = ProcessLimits { deadline, output: MAX_OUTPUT, errors: Some(MAX_ERRORS) };
        let outcome = child_process::run(command, call.input.as_bytes(), limits).await;
        // The file with the credentials exists only during the run.
        drop(kubeconfig_file);
        let output = outcome.map_err(HelmFailure::Process)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(HelmOutput { success: output.status.success(), stdout: text(&output.stdout), stderr: text(&output.stderr) })
    }

    /// Returns the path of the kubeconfig for the cluster of the operator; `None` if there is none, as in a Pod, where `helm` uses the
    /// service account.
    fn own_kubeconfig(&self) -> Option<OsString> {
        if let Some(path) = &self.kubeconfig {
            return Some(path.clone().into_os_string());
        }
        env::var_os("KUBECONFIG").or_else(|| {
            let path = PathBuf::from(env::var_os("HOME")?).join(".kube/config");
            path.is_file().then(|| path.into_os_string())
        })
    }

    /// Returns the folder for the files of the program, and creates it if it does not exist.
    fn folder(&self) -> io::Result<PathBuf> {
        let mut folder = self.folder.lock();
        if let Some(PrivateFolder(path)) = &*folder
            && path.is_dir()
        {
            return Ok(path.clone());
        }
        let created = PrivateFolder::create(&env::temp_dir())?;
        let path = created.0.clone();
        *folder = Some(created);
        Ok(path)
    }
}

/// Returns the output of a simulation, which has the limit of the program.
fn within_limit(output: HelmOutput) -> Result<HelmOutput, HelmFailure> {
    if output.stdout.len() > MAX_OUTPUT { Err(HelmFailure::Process(ProcessFailure::TooLong)) } else { Ok(output) }
}

/// Returns the name of a file or a folder that nobody else has.
fn unique_name(prefix: &str) -> String {
    format!("{prefix}-{}-{:016x}", std::process::id(), fastrand::u64(..))
}

/// A folder that only this user can read. It is removed when it is dropped.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// Creates the folder below `parent` with a unique name. Only this user can read it.
    fn create(parent: &Path) -> io::Result<Self> {
        let path = parent.join(unique_name("opgen-helm"));
        let mut builder = DirBuilder::new();
        builder.recursive(false);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // An error does no harm, since the folder is in a folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A file that only this user can read. It is removed when it is dropped.
struct PrivateFile(PathBuf);

impl PrivateFile {
    /// Creates the file in `folder` with a unique name, and writes the text to it. Only this user can read it.
    fn create(folder: &Path, text: &str) -> io::Result<Self> {
        let path = folder.join(unique_name("kubeconfig"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        // The drop of this value removes the file, also after an error of the write.
        let created = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(created)
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        // An error does no harm, since the file is removed with its folder as well.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Runs a script of the shell in place of `helm`.
    async fn script(program: &HelmProgram, script: &str, kubeconfig: Option<&str>) -> HelmOutput {
        let arguments = ["-c".to_owned(), script.to_owned()];
        let call = HelmCall { arguments: &arguments, input: "", kubeconfig };
        program.run(&call, Duration::from_secs(60)).await.unwrap()
    }

    #[tokio::test]
    async fn a_kubeconfig_of_another_cluster_is_private_and_exists_as_long_as_the_run() {
        let program = HelmProgram::new("sh").kubeconfig("/own/kubeconfig");
        let text = "cat \"$KUBECONFIG\"; ls -l \"$KUBECONFIG\" | cut -c1-10; ls -ld . | cut -c1-10; echo $KUBECONFIG";
        let output = script(&program, text, Some("hidden\n")).await;
        let lines: Vec<_> = output.stdout.lines().collect();
        assert_eq!(lines[..3], ["hidden", "-rw-------", "drwx------"]);
        let file = Path::new(lines[3]);
        assert!(!file.exists() && file.parent().unwrap().is_dir());
        let output = script(&program, "echo $KUBECONFIG", None).await;
        assert_eq!(output.stdout, "/own/kubeconfig\n");
        let folder = file.parent().unwrap().to_owned();
        drop(program);
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn a_run_has_folders_of_its_own_and_little_of_the_environment() {
        let program = HelmProgram::new("sh");
        let output = script(&program, "env | cut -d= -f1 | sort", None).await;
        let set_by_shell_or_runner = ["PWD", "SHLVL", "_", "OLDPWD", "KUBECONFIG", "HELM_NO_PLUGINS", "NO_COLOR"];
        let is_known = |name: &&str| {
            set_by_shell_or_runner.contains(name)
                || INHERITED.contains(name)
                || FOLDERS.iter().any(|(folder, _)| folder == name)
        };
        let unknown: Vec<_> = output.stdout.lines().filter(|name| !is_known(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let output = script(&program, "test \"$HELM_CACHE_HOME\" = \"$PWD/cache\" && echo yes", None).await;
        assert_eq!(output.stdout, "yes\n");
    }

    #[tokio::test]
    async fn a_simulation_gets_the_call() {
        let program = HelmProgram::simulated(|call| HelmOutput::succeeded(call.arguments.join(" ")));
        assert_eq!(script(&program, "status", None).await.stdout, "-c status");
        assert!(!format!("{program:?}").is_empty());
    }
}
