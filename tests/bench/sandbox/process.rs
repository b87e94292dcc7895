//! What the kernel counts of a process.

use std::{fs, time::Duration};

/// The CPU time of all threads that a process has.
pub(crate) fn cpu(id: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{id}/task")).unwrap();
    let spent = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("schedstat")).ok());
    Duration::from_nanos(spent.filter_map(|text| text.split(' ').next()?.parse::<u64>().ok()).sum())
}

/// The resident set in bytes.
pub(crate) fn memory(id: u32) -> f64 {
    status(id, "VmRSS:")
}

/// What of the resident set is no part of a file: without the text of the program, of which Linux maps more than is used.
pub(crate) fn own_memory(id: u32) -> f64 {
    status(id, "RssAnon:")
}

fn status(id: u32, field: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse::<f64>().unwrap() * 1024.0
}
