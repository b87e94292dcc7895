//! What the kernel counts of a process.

use std::{fs, time::Duration};

use opgen_tests::usage;

/// The CPU time of all threads that a process has, more precise than that of the process.
pub(crate) fn cpu(id: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{id}/task")).unwrap();
    let spent = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("schedstat")).ok());
    Duration::from_nanos(spent.filter_map(|text| text.split(' ').next()?.parse::<u64>().ok()).sum())
}

/// The resident set in bytes.
pub(crate) fn memory(id: u32) -> f64 {
    bytes(id, "VmRSS")
}

/// What of the resident set is no part of a file: without the text of the program, of which Linux maps more than is used.
pub(crate) fn own_memory(id: u32) -> f64 {
    bytes(id, "RssAnon")
}

fn bytes(id: u32, field: &str) -> f64 {
    usage::memory_kib(id, field).unwrap() as f64 * 1024.0
}
