//! This program in another role: it starts a plane, tells what runs for it, and ends badly.

use std::{fmt, process::ExitCode};

use opgen_tests::{Options, Plane};
use tokio::signal::unix::{SignalKind, signal};

/// The environment variable that asks for this role, with how to end.
pub(crate) const REQUEST: &str = "OPGEN_PLANE_VICTIM";

/// How the victim ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By a panic in the midst of its work.
    Panic,
    /// Not at all: somebody else ends it.
    Hang,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Panic => "panic",
            Self::Hang => "hang",
        })
    }
}

/// What a victim told.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) processes: Vec<u32>,
    pub(crate) folder: String,
}

/// The code of a process that an interrupt ends, at once and without a word to anything that it holds.
const INTERRUPTED: i32 = 130;

/// How this process is asked to end, if it is asked to be a victim.
pub(crate) fn requested() -> Option<End> {
    let end = std::env::var(REQUEST).ok()?;
    [End::Panic, End::Hang].into_iter().find(|known| known.to_string() == end)
}

/// The role itself. Comes back only if no plane can be started.
pub(crate) fn run(end: End) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("a tokio runtime");
    runtime.block_on(async {
        // Whoever was started in the background of a shell would ignore them.
        let mut interrupts = signal(SignalKind::interrupt()).expect("a signal");
        let plane = Plane::start(Options::default()).await.expect("a plane");
        let processes: Vec<_> = plane.processes().iter().map(|(_, id)| id.to_string()).collect();
        println!("victim: {} {}", processes.join(","), plane.folder().display());
        match end {
            End::Panic => panic!("as asked for"),
            End::Hang => {
                interrupts.recv().await;
                std::process::exit(INTERRUPTED)
            }
        }
    })
}

/// Reads what [`run`] printed.
pub(crate) fn told(log: &str) -> Result<Told, String> {
    let line = log.lines().find_map(|line| line.strip_prefix("victim: ")).ok_or_else(|| log.to_owned())?;
    let (ids, folder) = line.split_once(' ').ok_or_else(|| log.to_owned())?;
    let processes = ids.split(',').map(|id| id.parse().map_err(|_| log.to_owned())).collect::<Result<_, _>>()?;
    Ok(Told { processes, folder: folder.to_owned() })
}
