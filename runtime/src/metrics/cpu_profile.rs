//! Takes CPU profiles in the format of pprof, with the feature `profiling`.

#[cfg(feature = "profiling")]
use pprof::{ProfilerGuard, ProfilerGuardBuilder, protos::Message as _};
use std::time::Duration;
#[cfg(feature = "profiling")]
use tokio::{sync::Semaphore, task::spawn_blocking, time::sleep};

/// The number of samples for each second of CPU time of the process. It is no round number, so that no timer is in step with it.
#[cfg(feature = "profiling")]
const FREQUENCY: i32 = 99;

/// The signal and the table of samples exist once in a process.
#[cfg(feature = "profiling")]
static ONLY: Semaphore = Semaphore::const_new(1);

/// Why there is no profile.
pub(super) enum NoProfile {
    #[cfg_attr(not(feature = "profiling"), expect(dead_code, reason = "only a build with profiles can be busy"))]
    Busy,
    Unavailable(String),
}

/// Samples the process for a time, and returns the samples.
#[cfg(feature = "profiling")]
pub(super) async fn take(duration: Duration) -> Result<Vec<u8>, NoProfile> {
    let _only = ONLY.try_acquire().map_err(|_| NoProfile::Busy)?;
    // The first profile of a process prepares the unwinder, which takes seconds in a large binary.
    let guard = spawn_blocking(start).await.unwrap_or_else(|error| Err(unavailable(&error)))?;
    sleep(duration).await;
    // The names of functions are looked up now, which takes a while.
    let encoded = spawn_blocking(move || encode(&guard)).await;
    encoded.unwrap_or_else(|error| Err(unavailable(&error)))
}

/// Refuses, since the operator was not built for it.
#[cfg(not(feature = "profiling"))]
pub(super) async fn take(_: Duration) -> Result<Vec<u8>, NoProfile> {
    let why = "this operator was built without the feature `profiling` of the crate opgen";
    Err(NoProfile::Unavailable(why.to_owned()))
}

/// Starts to sample.
#[cfg(feature = "profiling")]
fn start() -> Result<ProfilerGuard<'static>, NoProfile> {
    let builder = ProfilerGuardBuilder::default().frequency(FREQUENCY);
    // A signal within the unwinder itself would deadlock.
    let builder = builder.blocklist(&["libc", "libgcc", "pthread", "vdso"]);
    builder.build().map_err(|error| unavailable(&error))
}

/// Encodes the samples so far.
#[cfg(feature = "profiling")]
fn encode(guard: &ProfilerGuard<'static>) -> Result<Vec<u8>, NoProfile> {
    let report = guard.report().build().map_err(|error| unavailable(&error))?;
    let profile = report.pprof().map_err(|error| unavailable(&error))?;
    profile.write_to_bytes().map_err(|error| unavailable(&error))
}

#[cfg(feature = "profiling")]
fn unavailable(error: &dyn std::fmt::Display) -> NoProfile {
    NoProfile::Unavailable(format!("failed to take a CPU profile: {error}"))
}
