//! Handles SIGINT, SIGTERM and SIGHUP: stops child processes and removes incomplete folders.
//!
//! `dev` and `sandbox` use `shutdown` instead.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use crate::error::{Result, ResultExt as _};

/// The cleanups that run on a signal.
static CLEANUPS: Mutex<Vec<Cleanup>> = Mutex::new(Vec::new());

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cleanup {
    TerminateProcess(Pid),
    /// A process with its descendants.
    TerminateGroup(Pid),
    RemoveFolder(PathBuf),
}

impl Cleanup {
    /// Terminates the process or group, or removes the folder. Ignores errors: the process has ended, or the folder is gone.
    fn run(&self) {
        match self {
            // An error means that the process has ended already.
            Self::TerminateProcess(id) => _ = kill_process(*id, Signal::TERM),
            Self::TerminateGroup(id) => _ = kill_process_group(*id, Signal::TERM),
            Self::RemoveFolder(path) => _ = fs_err::remove_dir_all(path),
        }
    }
}

/// A cleanup that runs on a signal, until the guard is dropped.
#[derive(Debug)]
pub(crate) struct Guard(Cleanup);

impl Drop for Guard {
    /// Unregisters the cleanup, so that a later signal does not run it.
    fn drop(&mut self) {
        cleanups().retain(|cleanup| *cleanup != self.0);
    }
}

/// Starts a thread that waits for SIGINT, SIGTERM or SIGHUP. After the first of them, it runs all registered cleanups and exits the
/// process.
pub(crate) fn listen() -> Result<()> {
    let failed = || "failed to listen to signals".to_owned();
    let runtime = Builder::new_current_thread().enable_io().build().or_failed(failed)?;
    let signals = {
        let _context = runtime.enter();
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        kinds.map(|kind| signal(kind).map(|signal| (kind, signal)))
    };
    // Each is a pair of the kind of the signal and the stream of its occurrences.
    let [interrupt, terminate, hangup] = signals;
    let (mut interrupt, mut terminate, mut hangup) =
        (interrupt.or_failed(failed)?, terminate.or_failed(failed)?, hangup.or_failed(failed)?);
    let wait = move || {
        let kind = runtime.block_on(async {
            tokio::select! {
                _ = interrupt.1.recv() => interrupt.0,
                _ = terminate.1.recv() => terminate.0,
                _ = hangup.1.recv() => hangup.0,
            }
        });
        // Holding the lock until the exit waits for a step in `uninterrupted`, and lets no other step begin.
        let cleanups = cleanups();
        cleanups.iter().for_each(Cleanup::run);
        // The exit code that a shell reports for a process that a signal has ended.
        std::process::exit(128 + kind.as_raw_value());
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop).or_failed(failed)
}

/// Removes a folder if a signal arrives before the guard is dropped.
pub(crate) fn remove_folder(path: &Path) -> Guard {
    guard(Cleanup::RemoveFolder(path.to_owned()))
}

/// Terminates the process group of a child process if a signal arrives before the guard is dropped.
pub(crate) fn terminate_group(child: &Child) -> Guard {
    guard(Cleanup::TerminateGroup(Pid::from_child(child)))
}

/// Runs a step that no signal interrupts: it holds the lock that the thread for signals needs before it exits the process.
pub(crate) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _lock = cleanups();
    work()
}

/// Waits for the exit of a child process, and terminates it if a signal arrives meanwhile.
pub(crate) fn wait(mut child: Child) -> io::Result<ExitStatus> {
    let id = Pid::from_child(&child);
    let guard = guard(Cleanup::TerminateProcess(id));
    // `NOWAIT` leaves the exited child as a zombie, so another process can't get its id before the cleanup is unregistered.
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {}
    drop(guard);
    child.wait()
}

/// Runs a program without input, and returns its exit status and output. Terminates the program if a signal arrives meanwhile.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let (stdout, stderr) = (scope.spawn(|| read_all(stdout)), scope.spawn(|| read_all(stderr)));
        let status = wait(child)?;
        let joined = |read: thread::ScopedJoinHandle<'_, io::Result<Vec<u8>>>| {
            read.join().unwrap_or_else(|_| Err(io::Error::other("failed to read the output of the program")))
        };
        Ok(Output { status, stdout: joined(stdout)?, stderr: joined(stderr)? })
    })
}

/// Reads a stream to its end. Returns no bytes for `None`.
fn read_all(stream: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.map_or(Ok(0), |mut stream| stream.read_to_end(&mut bytes))?;
    Ok(bytes)
}

/// Registers a cleanup, which runs if a signal arrives before the guard is dropped.
fn guard(cleanup: Cleanup) -> Guard {
    cleanups().push(cleanup.clone());
    Guard(cleanup)
}

fn cleanups() -> MutexGuard<'static, Vec<Cleanup>> {
    CLEANUPS.lock().unwrap_or_else(PoisonError::into_inner)
}
