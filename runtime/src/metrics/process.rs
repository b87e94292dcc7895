//! Reads CPU time, memory and file descriptors of the process from `/proc`, and the number of tasks from tokio.

use super::{
    sample::MetricSamples,
    table::{PROCESS_CPU, PROCESS_FDS, PROCESS_MAX_FDS, PROCESS_RESIDENT, PROCESS_START, PROCESS_VIRTUAL, TASKS},
};
use std::fs;
use tokio::runtime::Handle;

/// The number of clock ticks in a second, in which Linux reports times on all architectures that Kubernetes runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// Adds the metrics of the process to `samples`. The values from `/proc` are omitted on systems other than Linux, and the number of tasks
/// outside of a tokio runtime.
pub(super) fn add(samples: &mut MetricSamples) {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    if let Some((cpu, start)) = times(&read("/proc/self/stat"), &read("/proc/stat")) {
        samples.add(&PROCESS_CPU, &[], cpu);
        samples.add(&PROCESS_START, &[], start);
    }
    let status = read("/proc/self/status");
    for (metric, field) in [(&PROCESS_RESIDENT, "VmRSS:"), (&PROCESS_VIRTUAL, "VmSize:")] {
        if let Some(kibibytes) = number_after(&status, field) {
            samples.add(metric, &[], kibibytes * 1024.0);
        }
    }
    if let Ok(descriptors) = fs::read_dir("/proc/self/fd") {
        // The open directory is itself one of the file descriptors.
        samples.add(&PROCESS_FDS, &[], descriptors.count().saturating_sub(1));
    }
    if let Some(limit) = number_after(&read("/proc/self/limits"), "Max open files") {
        samples.add(&PROCESS_MAX_FDS, &[], limit);
    }
    if let Ok(runtime) = Handle::try_current() {
        samples.add(&TASKS, &[], runtime.metrics().num_alive_tasks());
    }
}

/// Returns the CPU time of the process, and its start time since the Unix epoch, in seconds. The arguments are the texts of
/// `/proc/self/stat` and `/proc/stat`; `None` if one of them lacks a value.
fn times(process_stat: &str, system_stat: &str) -> Option<(f64, f64)> {
    // The second field is the name of the program in parentheses, which may contain spaces and parentheses.
    let fields: Vec<_> = process_stat.rsplit_once(')')?.1.split_whitespace().collect();
    // `number` counts the fields from 1, as the manual page proc(5) does. `fields` begins with the third field.
    let ticks = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    let (user, kernel, start) = (ticks(14)?, ticks(15)?, ticks(22)?);
    let boot = number_after(system_stat, "btime")?;
    Some(((user + kernel) / TICKS_PER_SECOND, boot + start / TICKS_PER_SECOND))
}

/// Returns the number that follows `prefix` in the first line that begins with it; `None` if there is none.
fn number_after(text: &str, prefix: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(prefix))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_whatever_the_program_is_called() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 3 0 12345 1000 200";
        assert_eq!(times(stat, "cpu 1 2\nbtime 1700000000\n"), Some((3.0, 1_700_000_123.45)));
        assert_eq!(times("", ""), None);
    }

    #[test]
    fn sizes_and_limits_are_read() {
        let status = "Name:\tshop\nVmSize:\t  2048 kB\nVmRSS:\t    16 kB\n";
        assert_eq!(number_after(status, "VmRSS:"), Some(16.0));
        let limits = "Max open files            1024                 524288               files\n";
        assert_eq!(number_after(limits, "Max open files"), Some(1024.0));
        assert_eq!(number_after(status, "VmSwap:"), None);
    }
}
