//! Defines `Process`, a child process that never outlives the test process, even if that is killed.

use std::{
    fs::{File, OpenOptions},
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};

use crate::{usage, wait};

/// A running program with its output in a file. Dropping it kills it.
///
/// It belongs to a process group with a small shell as its leader. The shell waits for the end of a pipe that only this process
/// holds open. So when this process ends in any way (panic, Ctrl-C, SIGKILL), the shell kills the group.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
    lifeline: Lifeline,
}

impl Process {
    /// Starts `command` in a process group with a shell that kills the group when this process ends. Its standard output and error are
    /// appended to the file `log`, and its standard input is empty.
    #[track_caller]
    pub fn spawn(name: &str, mut command: Command, log: &Path) -> Self {
        let lifeline = Lifeline::start();
        let (out, err) = (append(log), append(log));
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        std::os::unix::process::CommandExt::process_group(&mut command, lifeline.group());
        let child = command.spawn().unwrap_or_else(|error| panic!("{name} can't be started ({command:?}): {error}"));
        Self { name: name.to_owned(), child, log: log.to_owned(), lifeline }
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status; `None` while the process runs.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap_or_else(|error| panic!("{} can't be asked whether it runs: {error}", self.name))
    }

    /// Sends SIGTERM to the process.
    pub fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Stops all threads of the process (SIGSTOP), and waits until they stand still, or the process has ended. SIGCONT lets it go on.
    pub fn pause(&mut self) {
        self.signal(Signal::STOP);
        usage::wait_until_stopped(self.id());
    }

    /// Kills the process (SIGKILL) and waits for its end.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }

    /// Sends `signal`, unless the process has ended.
    pub fn signal(&mut self, signal: Signal) {
        if self.exited().is_none() {
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    /// Waits until the process ends by itself, and returns its exit status.
    ///
    /// # Panics
    /// If it still runs after `deadline`.
    pub async fn wait_exit(&mut self, deadline: Duration) -> ExitStatus {
        let what = format!("{} has ended", self.name);
        wait::until(what, deadline, async || self.exited().ok_or_else(|| format!("it runs; {}", self.log_tail(5))))
            .await
    }

    /// Returns the whole output of the process so far; empty if the file can't be read.
    pub fn log(&self) -> String {
        let mut bytes = Vec::new();
        if let Ok(mut file) = File::open(&self.log) {
            let _ = file.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the last lines of the output, for the message of a failure.
    pub fn log_tail(&self, lines: usize) -> String {
        let log = self.log();
        let all: Vec<_> = log.lines().collect();
        format!("{}:\n{}", self.log.display(), all[all.len().saturating_sub(lines)..].join("\n"))
    }

    /// Returns the resident memory in KiB; `None` on a system without `/proc`.
    pub fn resident_kib(&self) -> Option<u64> {
        usage::memory_kib(self.id(), "VmRSS")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.lifeline.cut();
        let _ = self.child.wait();
    }
}

/// Returns whether a process with this id runs. A zombie doesn't count. Without `/proc`, as on macOS, a process counts if it can be sent a
/// signal.
pub fn is_alive(id: u32) -> bool {
    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return false };
    match std::fs::read_to_string(format!("/proc/{id}/stat")) {
        Ok(stat) => !matches!(usage::state(&stat), Some('X' | 'Z')),
        // `/proc` exists and has no such process.
        Err(_) if Path::new("/proc/self").exists() => false,
        Err(_) => test_kill_process(pid).is_ok(),
    }
}

/// The shell that is the leader of a process group, and kills the group at the end of its standard input.
#[derive(Debug)]
struct Lifeline {
    shell: Child,
    _held_open: Option<ChildStdin>,
}

impl Lifeline {
    /// Starts a shell in a new process group, which kills the group when this process ends and thereby closes the shell's
    /// input.
    fn start() -> Self {
        let mut command = Command::new("sh");
        // `read` ends at the end of the input, and 0 is the shell's own process group.
        command.args(["-c", "read -r _; kill -KILL 0"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut shell = command.spawn().unwrap_or_else(|error| panic!("`sh` can't be started: {error}"));
        let held_open = shell.stdin.take();
        Self { shell, _held_open: held_open }
    }

    fn group(&self) -> i32 {
        Pid::from_child(&self.shell).as_raw_nonzero().get()
    }

    /// Kills the process group, and waits for the end of the shell. The shell is the leader of the group and was not waited for yet, so no
    /// other group can have its id.
    fn cut(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.shell), Signal::KILL);
        let _ = self.shell.wait();
    }
}

fn append(log: &Path) -> File {
    let file = OpenOptions::new().create(true).append(true).open(log);
    file.unwrap_or_else(|error| panic!("the log {} can't be opened: {error}", log.display()))
}
