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
    /// Runs the cleanup. Errors are ignored: the process has ended, or the folder is gone.
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
    fn drop(&mut self) {
        cleanups().retain(|cleanup| *cleanup != self.0);
    }
}

/// Listens for signals on a separate thread until the process ends.
pub(crate) fn listen() -> Result<()> {
    let failed = || "failed to listen to signals".to_owned();
    let runtime = Builder::new_current_thread().enable_io().build().or_failed(failed)?;
    let signals = {
        let _context = runtime.enter();
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        kinds.map(|kind| signal(kind).map(|signal| (kind, signal)))
    };
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
        // The lock is held until the exit, so that no step can begin.
        let cleanups = cleanups();
        cleanups.iter().for_each(Cleanup::run);
        // The exit code that a shell reports for a process that a signal has ended.
        std::process::exit(128 + kind.as_raw_value());
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop).or_failed(failed)
}

/// Removes a folder on a signal.
pub(crate) fn remove_folder(path: &Path) -> Guard {
    guard(Cleanup::RemoveFolder(path.to_owned()))
}

/// Terminates the process group of a program on a signal.
pub(crate) fn terminate_group(child: &Child) -> Guard {
    guard(Cleanup::TerminateGroup(Pid::from_child(child)))
}

/// Runs a step that a signal doesn't interrupt.
pub(crate) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _lock = cleanups();
    work()
}

/// Waits for a program, and terminates it on a signal.
pub(crate) fn wait(mut child: Child) -> io::Result<ExitStatus> {
    let id = Pid::from_child(&child);
    let guard = guard(Cleanup::TerminateProcess(id));
    // The id can't be reused before `child.wait()`.
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {}
    drop(guard);
    child.wait()
}

/// Runs a program without input, and returns its output. A signal terminates the program.
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

/// Reads a stream to its end; empty if there is none.
fn read_all(stream: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.map_or(Ok(0), |mut stream| stream.read_to_end(&mut bytes))?;
    Ok(bytes)
}

/// Registers a cleanup until the guard is dropped.
fn guard(cleanup: Cleanup) -> Guard {
    cleanups().push(cleanup.clone());
    Guard(cleanup)
}

fn cleanups() -> MutexGuard<'static, Vec<Cleanup>> {
    CLEANUPS.lock().unwrap_or_else(PoisonError::into_inner)
}
