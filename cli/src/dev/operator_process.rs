//! Runs the operator as a child process and forwards the lines of its output.

use std::{
    collections::VecDeque,
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::Child,
    sync::mpsc,
    time::timeout,
};

use super::{build::Program, nats, process_group::ProcessGroup, recording::Recording};
use crate::error::{Result, ResultExt as _};

/// The time to stop after SIGTERM.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The maximum time between two remaining lines of output after the exit.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

/// The number of last lines in the error for an unexpected exit.
const LAST_LINES: usize = 12;

/// The options to start an operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartOptions<'a> {
    pub(super) kubeconfig: Option<&'a Path>,
    /// The URL of the NATS server, for kinds in buckets.
    pub(super) nats_url: Option<&'a str>,
    /// The log filter, by module and level; `RUST_LOG` overrides it.
    pub(super) log: &'a str,
    /// The recording of the operator's passes (reconciles).
    pub(super) recording: Option<&'a Recording>,
}

/// A running operator.
#[derive(Debug)]
pub(super) struct OperatorProcess {
    pub(super) program: Program,
    child: Child,
    lines: mpsc::UnboundedReceiver<String>,
    last_lines: VecDeque<String>,
}

/// An event of a running operator.
#[derive(Debug)]
pub(super) enum OperatorEvent {
    Line(String),
    /// The operator exited; with its last lines.
    Exit(ExitStatus, Vec<String>),
}

impl OperatorProcess {
    /// Starts `<operator> run` with the kubeconfig, NATS server and log filter of the options, and forwards the lines of its stdout and
    /// stderr. With a recording, the operator also prints a line at the begin and end of each pass (a reconcile); these lines go to the
    /// recording instead.
    pub(super) fn start(program: &Program, options: StartOptions<'_>, process_group: &ProcessGroup) -> Result<Self> {
        let mut command = process_group.command(&program.path);
        command.arg("run").stdout(Stdio::piped()).stderr(Stdio::piped());
        // The value 0 is any free port, so that the probes of two operators on a machine don't conflict.
        command.env("PROBE_ADDRESS", "0").env("POD_NAME", "opgen-dev");
        if std::env::var_os("RUST_LOG").is_none() {
            command.env("RUST_LOG", options.log);
        }
        if let Some(kubeconfig) = options.kubeconfig {
            command.env("KUBECONFIG", kubeconfig);
        }
        if let Some(url) = options.nats_url {
            command.env(nats::URL_VARIABLE, url);
        }
        if options.recording.is_some() {
            command.arg("--tell-passes");
        }
        let mut child = command.spawn().or_failed(|| format!("failed to run `{}`", program.path.display()))?;
        let (sender, lines) = mpsc::unbounded_channel();
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(forward_lines(stdout, options.recording.cloned(), sender.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(forward_lines(stderr, None, sender));
        }
        Ok(Self { program: program.clone(), child, lines, last_lines: VecDeque::new() })
    }

    /// Waits for the next line of output, or for the exit of the operator, with the last lines of its output. Cancel safe.
    pub(super) async fn event(&mut self) -> Result<OperatorEvent> {
        let status = tokio::select! {
            biased;
            Some(line) = self.lines.recv() => {
                self.push_last_line(&line);
                return Ok(OperatorEvent::Line(line));
            }
            status = self.child.wait() => status.or_failed(|| "failed to wait for the operator".to_owned())?,
        };
        // The timeout is for a child process of the operator, which may keep stdout or stderr open.
        while let Ok(Some(line)) = timeout(DRAIN_TIMEOUT, self.lines.recv()).await {
            self.push_last_line(&line);
        }
        Ok(OperatorEvent::Exit(status, self.last_lines.drain(..).collect()))
    }

    /// Sends SIGTERM, and kills the operator after the grace period.
    pub(super) async fn stop(&mut self) {
        if let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
            _ = kill_process(id, Signal::TERM);
            if timeout(GRACE_PERIOD, self.child.wait()).await.is_err() {
                _ = self.child.kill().await;
            }
        }
    }

    /// Stores a line for the error of an unexpected exit, and drops the oldest line if there are already `LAST_LINES`.
    fn push_last_line(&mut self, line: &str) {
        if self.last_lines.len() == LAST_LINES {
            self.last_lines.pop_front();
        }
        self.last_lines.push_back(line.to_owned());
    }
}

/// Sends the lines of a stream to `sender` until either of them is closed. Lines about passes (reconciles) go to the recording instead.
async fn forward_lines(
    stream: impl AsyncRead + Unpin,
    recording: Option<Recording>,
    sender: mpsc::UnboundedSender<String>,
) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = reader.read_until(b'\n', &mut line).await {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        if recording.as_ref().is_some_and(|recording| recording.record_pass(&text)) {
            continue;
        }
        if sender.send(text).is_err() {
            return;
        }
    }
}
