//! Operators as programs, run as their ServiceAccounts; an example is built once.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

use opgen_tests::{
    Access, Plane, Port, Process,
    wait::{self, PATIENCE},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::example::Example;

/// A running operator. Dropping it kills it.
pub(crate) struct Program {
    name: &'static str,
    pub(crate) process: Process,
    pub(crate) probes: SocketAddr,
    _reserved: Port,
}

impl Program {
    /// Starts an example with the access of a ServiceAccount, and with more arguments.
    pub(crate) fn start(example: &Example, plane: &Plane, access: &Access, arguments: &[&str]) -> Self {
        Self::start_built(example.name, &path(example), plane, access, arguments)
    }

    /// Starts an operator that is built. It logs to a file of the account.
    pub(crate) fn start_built(
        name: &'static str,
        path: &Path,
        plane: &Plane,
        access: &Access,
        arguments: &[&str],
    ) -> Self {
        let port = Port::reserve();
        let probes = port.address();
        let mut command = Command::new(path);
        command.arg("run").args(["--probe-address", &probes.to_string()]).args(arguments);
        for inherited in
            ["WATCH_NAMESPACE", "PROBE_ADDRESS", "METRICS_BIND_ADDRESS", "RUST_LOG", "LOG_FORMAT", "POD_NAMESPACE"]
        {
            command.env_remove(inherited);
        }
        command.env("KUBECONFIG", access.kubeconfig());
        let log = plane.folder().join(format!("{}.log", access.user().replace(':', "-")));
        Self { name, process: Process::spawn(name, command, &log), probes, _reserved: port }
    }

    /// Waits until it says that it is ready.
    pub(crate) async fn ready(&mut self) {
        let name = self.name;
        wait::until(format!("{name} is ready"), PATIENCE, async || {
            if let Some(status) = self.process.exited() {
                panic!("{name} ended: {status}; {}", self.process.log_tail(20));
            }
            match readiness(self.probes).await? {
                (200, _) => Ok(()),
                (code, text) => Err(format!("{code}: {text}")),
            }
        })
        .await;
    }

    /// Asks it to end, and waits until it has; it must have ended well.
    pub(crate) async fn stop(mut self) {
        self.process.terminate();
        let status = self.process.wait_exit(PATIENCE).await;
        assert!(status.success(), "{status}; {}", self.process.log_tail(20));
    }
}

/// What an operator says of its readiness: the code and the text.
pub(crate) async fn readiness(address: SocketAddr) -> Result<(u16, String), String> {
    get(address, "/readyz").await
}

/// The answer to a probe: the code and the text.
pub(crate) async fn get(address: SocketAddr, path: &str) -> Result<(u16, String), String> {
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = ask.await.map_err(|error| error.to_string())?;
    let (head, text) = answer.split_once("\r\n\r\n").ok_or_else(|| answer.clone())?;
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| head.to_owned())?;
    Ok((code, text.to_owned()))
}

/// Waits until a probe responds with this code and this text.
pub(crate) async fn says(probes: SocketAddr, path: &str, code: u16, words: &str) {
    wait::until(format!("{path} says {code} and `{words}`"), PATIENCE, async || match get(probes, path).await? {
        (said, text) if said == code && text.contains(words) => Ok(()),
        (said, text) => Err(format!("{said}: {text}")),
    })
    .await;
}

/// The program of an example.
pub(crate) fn path(example: &Example) -> PathBuf {
    own(example.name)
}

/// A program of this workspace. The first call builds all of them together with this suite, so that they share what it was
/// built from: by themselves they would have other features, and all behind them would be built again.
pub(crate) fn own(name: &str) -> PathBuf {
    static PROGRAMS: LazyLock<BTreeMap<String, PathBuf>> = LazyLock::new(|| {
        let programs = ["ippool", "shop", "webapp", "opgen"].into_iter().flat_map(|program| ["--bin", program]);
        let arguments: Vec<_> = ["--workspace", "--test", "plane"].into_iter().chain(programs).collect();
        build(Path::new(env!("CARGO_MANIFEST_DIR")), &arguments, &target_folder())
    });
    PROGRAMS.get(name).unwrap_or_else(|| panic!("{name} is no program of the workspace")).clone()
}

/// The target folder and the profile's folder in it: the running suite is `<target>/<profile>/deps/<suite>`.
fn target() -> (PathBuf, PathBuf) {
    let suite = std::env::current_exe().expect("the path of the suite");
    let folders: Vec<_> = suite.ancestors().skip(1).take(3).map(Path::to_owned).collect();
    let [_, profile, target] = &folders[..] else { panic!("{} is in no target folder", suite.display()) };
    (target.clone(), profile.clone())
}

/// The target folder of the running suite.
pub(crate) fn target_folder() -> PathBuf {
    target().0
}

/// Builds what cargo's arguments choose of the workspace that a folder is in, and gives the programs by name.
pub(crate) fn build(folder: &Path, arguments: &[&str], target: &Path) -> BTreeMap<String, PathBuf> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--message-format=json", "--target-dir"]).arg(target).args(arguments);
    if self::target().1.ends_with("release") {
        command.arg("--release");
    }
    // What cargo says of the suite: build scripts that ask for such variables would be run again, and all behind them built.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(&name);
        }
    }
    command.current_dir(folder).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().unwrap_or_else(|error| panic!("cargo can't be run: {error}"));
    assert!(output.status.success(), "`cargo build {}`: {}", arguments.join(" "), output.status);
    let messages = String::from_utf8_lossy(&output.stdout);
    let programs = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let name = message["target"]["name"].as_str()?.to_owned();
        Some((name, message["executable"].as_str()?.into()))
    });
    programs.collect()
}
