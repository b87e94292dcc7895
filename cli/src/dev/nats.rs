//! Provides the NATS server for kinds whose objects are stored in NATS key-value buckets instead of Kubernetes.

use std::{
    env, io,
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use serde::Deserialize;
use tokio::{
    process::Child,
    time::{Instant, sleep},
};

use super::process_group::ProcessGroup;
use crate::error::{Error, Result, ResultExt as _};

const PROGRAM: &str = "nats-server";

/// The environment variable with the URL of a server, as for the operator and the command `nats`.
pub(super) const URL_VARIABLE: &str = "NATS_URL";

/// The timeout for the start of the server.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval between two reads of the file with the ports.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A NATS server with JetStream: that of the environment, or one that ends with this process.
#[derive(Debug)]
pub(super) struct NatsServer {
    pub(super) url: String,
    /// `None` for the server of the environment.
    child: Option<Child>,
}

/// The file in which nats-server writes the URLs of its listeners.
#[derive(Deserialize)]
struct PortsFile {
    nats: Vec<String>,
}

impl NatsServer {
    /// Uses the server that `NATS_URL` names. Without this variable, starts `nats-server` on a free port of the loopback interface, with
    /// its data in `folder`, which is removed at the end. With `--cluster` that is an error: the child objects would stay in the cluster
    /// while their owners in the buckets are lost.
    pub(super) async fn open(folder: &Path, is_cluster: bool, process_group: &ProcessGroup) -> Result<Self> {
        if let Some(url) = env::var(URL_VARIABLE).ok().filter(|url| !url.is_empty()) {
            check_url(&url)?;
            return Ok(Self { url, child: None });
        }
        if is_cluster {
            return Err(Error::failed("`--cluster` needs a NATS server that keeps the buckets")
                .hint(format!("set {URL_VARIABLE} to the URL of a server with JetStream")));
        }
        Self::start(folder, process_group).await
    }

    /// Returns whether the process of a server that was started here has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_))))
    }

    /// Starts `nats-server`, and waits until it listens.
    async fn start(folder: &Path, process_group: &ProcessGroup) -> Result<Self> {
        let mut command = process_group.command(PROGRAM);
        command.args(["--jetstream", "--addr", "127.0.0.1", "--port", "-1", "--ports_file_dir"]).arg(folder);
        command.arg("--store_dir").arg(folder.join("nats"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().map_err(not_started)?;
        let ports = folder.join(format!("{PROGRAM}_{}.ports", child.id().unwrap_or_default()));
        let end = Instant::now() + START_TIMEOUT;
        loop {
            // The file may exist before nats-server has written its content.
            if let Some(url) = fs_err::read_to_string(&ports).ok().and_then(|text| url_of(&text)) {
                return Ok(Self { url, child: Some(child) });
            }
            if let Some(status) = child.try_wait().or_failed(|| format!("failed to wait for `{PROGRAM}`"))? {
                return Err(ended(status));
            }
            if Instant::now() > end {
                let problem = format!("`{PROGRAM}` does not listen after {} s", START_TIMEOUT.as_secs());
                return Err(Error::failed(problem).hint(format!("start a server yourself, and set {URL_VARIABLE}")));
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}

/// Fails if a URL contains a user or a password: `opgen dev` prints the URL, and the operator refuses it.
fn check_url(url: &str) -> Result<()> {
    if url.contains('@') {
        return Err(Error::failed(format!("{URL_VARIABLE} has a user or a password"))
            .hint("remove it from the URL, and set NATS_CREDS to the path of a credentials file"));
    }
    Ok(())
}

/// Returns the first URL in the file with the ports; `None` while the file is incomplete.
fn url_of(text: &str) -> Option<String> {
    serde_json::from_str::<PortsFile>(text).ok()?.nats.into_iter().next()
}

/// Returns the error for a server that can't be run.
fn not_started(cause: io::Error) -> Error {
    let hint =
        format!("install it (https://nats.io/download), or set {URL_VARIABLE} to the URL of a server with JetStream");
    let problem = match cause.kind() {
        io::ErrorKind::NotFound => "the operator has kinds in buckets, and no `nats-server` was found on the PATH",
        _ => "the operator has kinds in buckets, and `nats-server` can't be run",
    };
    Error::failed(problem).because(cause).hint(hint)
}

/// Returns the error for a server that ended at its start.
fn ended(status: ExitStatus) -> Error {
    let hint =
        format!("run `{PROGRAM} --jetstream` to see its error, or set {URL_VARIABLE} to the URL of another server");
    Error::failed(format!("`{PROGRAM}` ended at its start: {status}")).hint(hint)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_read_from_the_client_listener_once_the_ports_file_is_complete() {
        let text = r#"{"nats":["nats://127.0.0.1:41234"],"monitoring":["http://127.0.0.1:8222"]}"#;
        assert_eq!(url_of(text).as_deref(), Some("nats://127.0.0.1:41234"));
        for incomplete in ["", r#"{"nats":["nats://127"#, "{}", r#"{"nats":[]}"#] {
            assert_eq!(url_of(incomplete), None, "{incomplete}");
        }
    }

    #[test]
    fn a_url_with_a_password_is_an_error_that_does_not_show_it() {
        let error = check_url("nats://user:secret@nats.example.com:4222").unwrap_err();
        assert_eq!(error.to_string(), "NATS_URL has a user or a password");
        assert!(error.hint_text().unwrap().contains("NATS_CREDS"));
        assert!(check_url("nats://a.example.com:4222,nats://b.example.com:4222").is_ok());
    }

    #[test]
    fn a_missing_nats_server_is_an_error_with_a_hint() {
        let error = not_started(io::Error::from(io::ErrorKind::NotFound));
        assert!(error.to_string().ends_with("no `nats-server` was found on the PATH"));
        assert!(error.hint_text().unwrap().contains("NATS_URL"));
    }
}
