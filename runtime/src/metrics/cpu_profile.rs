//! Takes CPU profiles in the format of pprof, with the feature `profiling`.

#[cfg(feature = "profiling")]
use pprof::{ProfilerGuard, ProfilerGuardBuilder, protos::Message as _};
use std::time::Duration;
#[cfg(feature = "profiling")]
use tokio::{sync::Semaphore, task::spawn_blocking, time::sleep};

/// The number of samples for each second of CPU time of the process. It is not a round number, so that samples don't coincide with timers.
#[cfg(feature = "profiling")]
const FREQUENCY: i32 = 99;

/// Allows one profile at a time: the signal of the profiler and its table of samples exist once in a process.
#[cfg(feature = "profiling")]
static PROFILE_PERMIT: Semaphore = Semaphore::const_new(1);

/// Why no CPU profile was taken.
pub(super) enum NoProfile {
    #[cfg_attr(not(feature = "profiling"), expect(dead_code, reason = "only a build with profiles can be busy"))]
    Busy,
    Unavailable(String),
}

/// Samples the stacks of the process for `duration`, and returns the samples in the format of pprof.
///
/// # Errors
/// `Busy` if another profile is being taken, and `Unavailable` if the profiler fails.
#[cfg(feature = "profiling")]
pub(super) async fn take(duration: Duration) -> Result<Vec<u8>, NoProfile> {
    let _permit = PROFILE_PERMIT.try_acquire().map_err(|_| NoProfile::Busy)?;
    // The first profile of a process prepares the unwinder, which takes seconds in a large binary.
    let guard = spawn_blocking(start).await.unwrap_or_else(|error| Err(unavailable(&error)))?;
    sleep(duration).await;
    // The names of functions are looked up now, which takes a while.
    let encoded = spawn_blocking(move || encode(&guard)).await;
    encoded.unwrap_or_else(|error| Err(unavailable(&error)))
}

/// Returns `Unavailable`, since the operator was built without the feature `profiling`.
#[cfg(not(feature = "profiling"))]
pub(super) async fn take(_: Duration) -> Result<Vec<u8>, NoProfile> {
    let reason = "this operator was built without the feature `profiling` of the crate opgen";
    Err(NoProfile::Unavailable(reason.to_owned()))
}

/// Starts the profiler, which samples until the returned guard is dropped.
#[cfg(feature = "profiling")]
fn start() -> Result<ProfilerGuard<'static>, NoProfile> {
    let builder = ProfilerGuardBuilder::default().frequency(FREQUENCY);
    // No sample is taken while a thread runs code of these libraries: a signal within the unwinder itself would deadlock.
    let builder = builder.blocklist(&["libc", "libgcc", "pthread", "vdso"]);
    builder.build().map_err(|error| unavailable(&error))
}

/// Encodes the samples that the profiler has taken so far in the format of pprof.
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
