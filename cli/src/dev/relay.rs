//! Connects to a cluster through `<operator> relay`, since the operator's client supports every authentication method.

use std::{path::Path, process::Stdio};

use serde::Deserialize;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
    sync::Mutex,
};

use super::{process_group::ProcessGroup, response::ApiResponse};
use crate::error::{Error, Result, ResultExt as _};

/// A running `<operator> relay`: it forwards requests from its stdin to the API server and prints the responses, each as a line of JSON.
#[derive(Debug)]
pub(super) struct Relay {
    pub(super) target: Target,
    pipes: Mutex<Pipes>,
    /// Ends when its stdin closes.
    _child: Child,
}

/// The cluster of the relay.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Target {
    pub(super) url: String,
    /// The namespace of the kubeconfig, for namespaced objects whose manifest has no namespace.
    pub(super) namespace: String,
}

#[derive(Debug)]
struct Pipes {
    requests: ChildStdin,
    responses: Lines<BufReader<ChildStdout>>,
}

impl Relay {
    /// Starts `<operator> relay`, and reads its first line, which has the URL and the namespace of the cluster. Fails with the relay's own
    /// error if it ends before this line, for example because the cluster is unreachable.
    pub(super) async fn start(program: &Path, process_group: &ProcessGroup) -> Result<Self> {
        let failed = || "failed to connect to the cluster".to_owned();
        let mut command = process_group.command(program);
        command.arg("relay").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().or_failed(failed)?;
        let (Some(requests), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::failed(failed()));
        };
        let mut responses = BufReader::new(stdout).lines();
        let Some(target_line) = responses.next_line().await.or_failed(failed)? else {
            let output = child.wait_with_output().await.or_failed(failed)?;
            let message = String::from_utf8_lossy(&output.stderr);
            // The relay prints `error: <message>` and a hint. Of these, the error below quotes only the message.
            let message =
                message.split("\nhint:").next().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
            let hint = "set KUBECONFIG to the intended cluster, or use a sandbox by leaving out `--cluster`";
            return Err(Error::failed(failed()).because(message).hint(hint));
        };
        let target = serde_json::from_str(&target_line).or_failed(failed)?;
        Ok(Self { target, pipes: Mutex::new(Pipes { requests, responses }), _child: child })
    }

    /// Writes a request as a line to the relay, and reads the next line, its response.
    pub(super) async fn send(&self, request: &Value) -> Result<ApiResponse> {
        let failed = || format!("failed to send a request to {}", self.target.url);
        let mut pipes = self.pipes.lock().await;
        pipes.requests.write_all(format!("{request}\n").as_bytes()).await.or_failed(failed)?;
        let line = pipes.responses.next_line().await.or_failed(failed)?;
        serde_json::from_str(&line.ok_or_else(|| Error::failed(failed()))?).or_failed(failed)
    }
}
