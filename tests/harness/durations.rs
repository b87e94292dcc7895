//! Records how long each case takes, and prints the slowest ones at the end of a run.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use libtest_mimic::Failed;

/// How many cases the end of a run names.
const SHOWN: usize = 15;

/// The name and the duration of each case that ran.
static DURATIONS: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// Runs a case and records its duration.
pub(crate) fn measured(name: String, body: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
    let started = Instant::now();
    let result = body();
    DURATIONS.lock().unwrap_or_else(PoisonError::into_inner).push((name, started.elapsed()));
    result
}

/// Prints the slowest cases, slowest first, and the sum of the durations of all cases. It exceeds the duration of the run, since several
/// cases run at once. Prints nothing if only a few cases ran.
#[expect(clippy::print_stdout, reason = "the list is a part of the output of a run")]
pub(crate) fn print_slowest() {
    let mut durations = DURATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if durations.len() <= SHOWN {
        return;
    }
    durations.sort_by_key(|(_, duration)| std::cmp::Reverse(*duration));
    let sum: Duration = durations.iter().map(|(_, duration)| *duration).sum();
    println!("the slowest of {} cases, which took {:.0} s together:", durations.len(), sum.as_secs_f64());
    durations.iter().take(SHOWN).for_each(|(name, duration)| println!("{:7.1} s  {name}", duration.as_secs_f64()));
}
