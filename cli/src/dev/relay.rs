//! A cluster that is reached through the operator's own binary, which has a client for every way of logging in.

use std::{path::Path, process::Stdio};

use serde::Deserialize;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
    sync::Mutex,
};

use super::{api::Answer, lifeline::Lifeline};
use crate::error::{Error, Explain as _, Result};

/// `<operator> relay`: a request a line, an answer a line.
#[derive(Debug)]
pub(super) struct Relay {
    pub(super) target: Target,
    pipes: Mutex<Pipes>,
    /// Ends with its input.
    _child: Child,
}

/// Where it leads.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Target {
    pub(super) url: String,
    /// The namespace of what names none.
    pub(super) namespace: String,
}

#[derive(Debug)]
struct Pipes {
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Relay {
    /// Fails where the cluster can't be reached.
    pub(super) async fn start(program: &Path, lifeline: &Lifeline) -> Result<Self> {
        let failed = || "failed to get to the cluster".to_owned();
        let mut command = lifeline.command(program);
        command.arg("relay").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().or_failed(failed)?;
        let (Some(requests), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::failed(failed()));
        };
        let mut answers = BufReader::new(stdout).lines();
        let Some(first) = answers.next_line().await.or_failed(failed)? else {
            let output = child.wait_with_output().await.or_failed(failed)?;
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.split("\nhint:").next().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
            let hint = "set KUBECONFIG to the cluster that is meant, or leave `--cluster` out to get a sandbox";
            return Err(Error::failed(failed()).because(said).hint(hint));
        };
        let target = serde_json::from_str(&first).or_failed(failed)?;
        Ok(Self { target, pipes: Mutex::new(Pipes { requests, answers }), _child: child })
    }

    pub(super) async fn ask(&self, request: &Value) -> Result<Answer> {
        let failed = || format!("failed to ask {}", self.target.url);
        let mut pipes = self.pipes.lock().await;
        pipes.requests.write_all(format!("{request}\n").as_bytes()).await.or_failed(failed)?;
        let line = pipes.answers.next_line().await.or_failed(failed)?;
        serde_json::from_str(&line.ok_or_else(|| Error::failed(failed()))?).or_failed(failed)
    }
}
