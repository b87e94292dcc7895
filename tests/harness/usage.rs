//! Measures the CPU time and the memory of processes, by the numbers of Linux in `/proc`.

use std::{fs, io::ErrorKind, time::Duration};

use tokio::time::Instant;

use crate::wait;

/// The length of a tick of `/proc/<id>/stat`: there are 100 a second.
const TICK: Duration = Duration::from_millis(10);

/// The difference up to which memory counts as the same, in KiB.
const STEADY_KIB: u64 = 512;

/// The maximum time until memory stays the same.
const LIMIT: Duration = Duration::from_secs(1200);

/// Returns the CPU time that a process has used so far in user and system mode, also by threads that have ended. The precision is 10 ms.
///
/// # Panics
/// If the process is gone.
pub fn cpu_time(id: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).expect("the process runs");
    // Behind the name, which can contain any character, the first field is field 3; the times are the fields 14 and 15.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks: u32 = fields.map(|field| field.parse::<u32>().expect("a number of ticks")).sum();
    TICK * ticks
}

/// Blocks until all threads of a process are stopped, which takes some time after SIGSTOP, or until the process has ended.
///
/// # Panics
/// If the process does not stop in time.
pub fn wait_until_stopped(id: u32) {
    // Real time, since the clock of tokio is paused in some tests.
    let begun = std::time::Instant::now();
    while !is_stopped(id) {
        assert!(begun.elapsed() < wait::PATIENCE, "process {id} does not stop");
        std::thread::yield_now();
    }
}

/// Returns whether each thread of a process is stopped or has ended, by the states in `/proc`.
fn is_stopped(id: u32) -> bool {
    let threads = match fs::read_dir(format!("/proc/{id}/task")) {
        Ok(threads) => threads,
        // The process has ended, and was waited for.
        Err(error) if error.kind() == ErrorKind::NotFound => return true,
        Err(error) => panic!("the threads of process {id} can't be listed: {error}"),
    };
    // A thread that ends meanwhile has no file, and is left out.
    let stats = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("stat")).ok());
    // T is stopped, X is dead, and Z is a zombie.
    stats.map(|stat| state(&stat)).all(|state| matches!(state, Some('T' | 'X' | 'Z')))
}

/// Returns the state of a process or thread from its `stat` file, for example `R` for running.
pub(crate) fn state(stat: &str) -> Option<char> {
    // `<id> (<name>) <state> …`; the name can contain any character.
    stat.rsplit(')').next()?.trim_start().chars().next()
}

/// Returns a size in `/proc/<id>/status` in KiB, such as `VmRSS`, the resident set; `None` if the process is gone.
pub fn memory_kib(id: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Waits until the resident memory of each of these processes stays the same, up to `STEADY_KIB`, for the duration `time`, and returns the
/// sizes in KiB.
///
/// # Panics
/// If a process ends, and after 20 minutes in which their memory did not stay the same.
pub async fn memory_at_rest(processes: &[u32], time: Duration) -> Vec<u64> {
    let (mut last, mut since) = (vec![0; processes.len()], Instant::now());
    wait::until("the memory of the processes stays the same", LIMIT, async || {
        let now: Vec<u64> = processes.iter().map(|id| memory_kib(*id, "VmRSS").expect("the process runs")).collect();
        if now.iter().zip(&last).any(|(now, last)| now.abs_diff(*last) > STEADY_KIB) {
            (last, since) = (now.clone(), Instant::now());
        }
        if since.elapsed() >= time { Ok(()) } else { Err(format!("{now:?} KiB")) }
    })
    .await;
    last
}
