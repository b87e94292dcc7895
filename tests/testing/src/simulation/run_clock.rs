//! `RunClock`: the wall clock of a test run, which advances with the paused clock of the tokio runtime.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use opgen::environment::Environment;
use opgen_sandbox::fault::Faults;
use tokio::time::Instant;

/// The time at which the clock of each sandbox with a seed starts, in seconds since 1970.
const START_TIME: i64 = 1_767_225_600;

/// The wall clock of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunClock {
    started: Instant,
}

impl RunClock {
    /// Starts the clock, with the sandbox of the run.
    pub(super) fn new() -> Self {
        Self { started: Instant::now() }
    }

    /// Returns an environment for the program with the random numbers of `random` and this clock: the fixed start time, plus the time that
    /// has elapsed on the paused clock, plus the seconds by which the faults have moved the program's clock.
    pub(super) fn environment(self, faults: &Faults, random: impl Fn() -> u64 + Send + Sync + 'static) -> Environment {
        let faults = faults.clone();
        let now = move || {
            let ahead = SignedDuration::from_secs(faults.clock_lead());
            let start = Timestamp::from_second(START_TIME).unwrap_or(Timestamp::UNIX_EPOCH);
            start.checked_add(self.started.elapsed()).and_then(|now| now.checked_add(ahead)).unwrap_or(start)
        };
        Environment::new(now, random)
    }
}
