//! What ends when this process ends, in whatever way.

use std::{
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::{Explain as _, Result};

/// A process group with a small shell at its head. The shell waits for the end of a pipe that only this process holds
/// open: where this process is killed, the shell removes what would be left, and kills the group.
///
/// A group of its own also keeps the terminal's Ctrl-C from the operator, so that it is ended in order.
#[derive(Debug)]
pub(super) struct Lifeline {
    shell: Child,
    _held_open: Option<ChildStdin>,
}

impl Lifeline {
    /// With the folder that goes at a sudden end.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", r#"read -r _; rm -rf -- "$1"; kill -KILL 0"#, "opgen-lifeline"]).arg(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut shell = command.spawn().or_failed(|| "failed to run `sh`".to_owned())?;
        let held_open = shell.stdin.take();
        Ok(Self { shell, _held_open: held_open })
    }

    /// A command that belongs to it, with nothing to read.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(program);
        command.stdin(Stdio::null()).process_group(Pid::from_child(&self.shell).as_raw_nonzero().get());
        command
    }
}

impl Drop for Lifeline {
    /// Kills what is left of the group. The shell is in it and was not waited for, so its id can't be another's by now.
    fn drop(&mut self) {
        _ = kill_process_group(Pid::from_child(&self.shell), Signal::KILL);
        _ = self.shell.wait();
    }
}
