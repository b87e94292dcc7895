//! The operator as a process.

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

use super::{build::Program, lifeline::Lifeline, recording::Recording};
use crate::error::{Explain as _, Result};

/// How long it may take to end in order.
const GRACE: Duration = Duration::from_secs(5);

/// How many of its last lines are said when it ends by itself.
const LAST_LINES: usize = 12;

/// What it is started with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'a> {
    pub(super) kubeconfig: Option<&'a Path>,
    /// What is logged, by module and level; `RUST_LOG` goes before it.
    pub(super) log: &'a str,
    /// Who is told of its passes.
    pub(super) recording: Option<&'a Recording>,
}

/// An operator that was started.
#[derive(Debug)]
pub(super) struct Operator {
    pub(super) program: Program,
    child: Child,
    lines: mpsc::UnboundedReceiver<String>,
    last: VecDeque<String>,
}

/// What an operator does without being told to.
#[derive(Debug)]
pub(super) enum Event {
    Said(String),
    /// With the last lines it said.
    Ended(ExitStatus, Vec<String>),
}

impl Operator {
    pub(super) fn start(program: &Program, start: Start<'_>, lifeline: &Lifeline) -> Result<Self> {
        let mut command = lifeline.command(&program.path);
        command.arg("run").stdout(Stdio::piped()).stderr(Stdio::piped());
        // Two of them on a machine must not want the same port.
        command.env("PROBE_ADDRESS", "0").env("POD_NAME", "opgen-dev");
        if std::env::var_os("RUST_LOG").is_none() {
            command.env("RUST_LOG", start.log);
        }
        if let Some(kubeconfig) = start.kubeconfig {
            command.env("KUBECONFIG", kubeconfig);
        }
        if start.recording.is_some() {
            command.arg("--tell-passes");
        }
        let mut child = command.spawn().or_failed(|| format!("failed to run `{}`", program.path.display()))?;
        let (sender, lines) = mpsc::unbounded_channel();
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(pass_on(stdout, start.recording.cloned(), sender.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(pass_on(stderr, None, sender));
        }
        Ok(Self { program: program.clone(), child, lines, last: VecDeque::new() })
    }

    /// What comes next. Can be dropped while it waits.
    pub(super) async fn event(&mut self) -> Result<Event> {
        // All of its output is read when both of its ends are closed, which a child of its own may delay.
        let ended = tokio::select! {
            biased;
            Some(line) = self.lines.recv() => {
                self.remember(&line);
                return Ok(Event::Said(line));
            }
            ended = self.child.wait() => ended.or_failed(|| "failed to wait for the operator".to_owned())?,
        };
        while let Ok(Some(line)) = timeout(Duration::from_millis(100), self.lines.recv()).await {
            self.remember(&line);
        }
        Ok(Event::Ended(ended, self.last.drain(..).collect()))
    }

    /// Asks it to end, and sees to it.
    pub(super) async fn stop(&mut self) {
        if let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
            _ = kill_process(id, Signal::TERM);
            if timeout(GRACE, self.child.wait()).await.is_err() {
                _ = self.child.kill().await;
            }
        }
    }

    fn remember(&mut self, line: &str) {
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line.to_owned());
    }
}

/// Passes lines on, but those that tell of a pass to where that is recorded.
async fn pass_on(stream: impl AsyncRead + Unpin, recording: Option<Recording>, to: mpsc::UnboundedSender<String>) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = reader.read_until(b'\n', &mut line).await {
        let said = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        if recording.as_ref().is_some_and(|recording| recording.take_pass(&said)) {
            continue;
        }
        if to.send(said).is_err() {
            return;
        }
    }
}
