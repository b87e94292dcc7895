//! Runs child processes in a process group that is killed when this process exits, even by SIGKILL.

use std::{
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::{Result, ResultExt as _};

/// A process group whose leader is a shell. The shell waits for the end of a pipe that only this process holds open. If this
/// process is killed, the shell removes the folder and kills the group.
///
/// The separate group also keeps the terminal's Ctrl-C from the operator, which is stopped in order instead.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    shell: Child,
    _shell_stdin: Option<ChildStdin>,
}

impl ProcessGroup {
    /// Starts the shell that leads the group. It waits for the end of its stdin, which closes when this process ends; then it removes the
    /// folder and kills the group.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", r#"read -r _; rm -rf -- "$1"; kill -KILL 0"#, "opgen-lifeline"]).arg(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut shell = command.spawn().or_failed(|| "failed to run `sh`".to_owned())?;
        let shell_stdin = shell.stdin.take();
        Ok(Self { shell, _shell_stdin: shell_stdin })
    }

    /// Returns a command that runs in the group and without stdin.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(program);
        command.stdin(Stdio::null()).process_group(Pid::from_child(&self.shell).as_raw_nonzero().get());
        command
    }
}

impl Drop for ProcessGroup {
    /// Kills the group. The shell was not waited for yet, so its id can't belong to another process.
    fn drop(&mut self) {
        _ = kill_process_group(Pid::from_child(&self.shell), Signal::KILL);
        _ = self.shell.wait();
    }
}
