//! Handles SIGINT, SIGTERM and SIGHUP: stops child processes and removes incomplete folders.
//!
//! For the verbs that have no loop of their own; `dev` and `sandbox` listen to signals themselves.

use std::{
    path::{Path, PathBuf},
    process::{Child, ExitStatus},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use crate::error::{Explain as _, Result};

/// What a signal ends.
static STARTED: Mutex<Vec<Started>> = Mutex::new(Vec::new());

#[derive(Clone, Debug, PartialEq, Eq)]
enum Started {
    Process(Pid),
    /// With all that it has started itself.
    Group(Pid),
    Folder(PathBuf),
}

impl Started {
    fn end(&self) {
        match self {
            // Who has ended already is as it should be.
            Self::Process(id) => _ = kill_process(*id, Signal::TERM),
            Self::Group(id) => _ = kill_process_group(*id, Signal::TERM),
            Self::Folder(path) => _ = fs_err::remove_dir_all(path),
        }
    }
}

/// Something that a signal ends, until this is dropped.
#[derive(Debug)]
pub(crate) struct Guard(Started);

impl Drop for Guard {
    fn drop(&mut self) {
        started().retain(|started| *started != self.0);
    }
}

/// Listens for the rest of the process, on a thread of its own.
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
        // Held to the end, so that nothing is written any more.
        let started = started();
        started.iter().for_each(Started::end);
        std::process::exit(128 + kind.as_raw_value());
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop).or_failed(failed)
}

/// Removes a folder if a signal comes.
pub(crate) fn folder(path: &Path) -> Guard {
    guard(Started::Folder(path.to_owned()))
}

/// Ends the process group of a program if a signal comes.
pub(crate) fn group(child: &Child) -> Guard {
    guard(Started::Group(Pid::from_child(child)))
}

/// A step that a signal does not cut in two.
pub(crate) fn step<T>(work: impl FnOnce() -> T) -> T {
    let _ends_later = started();
    work()
}

/// Waits for a program, and ends it if a signal comes.
pub(crate) fn wait(mut child: Child) -> std::io::Result<ExitStatus> {
    let id = Pid::from_child(&child);
    let guard = guard(Started::Process(id));
    // Its id is its own until it was waited for below.
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {}
    drop(guard);
    child.wait()
}

fn guard(one: Started) -> Guard {
    started().push(one.clone());
    Guard(one)
}

fn started() -> MutexGuard<'static, Vec<Started>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}
