//! Computes the delays between attempts to connect to NATS: exponential, with jitter, up to eight seconds.

use crate::queue::Backoff;
use std::time::Duration;

/// The delays without jitter.
const DELAYS: Backoff = Backoff::Exponential { base: Duration::from_millis(100), cap: Duration::from_secs(8) };

/// Returns the delay before the next attempt after `failures` consecutive failures; zero if there is none. The delay is random between half
/// and all of its value, so that clients that have lost the same server don't connect to it again at the same time.
pub(super) fn delay(failures: usize) -> Duration {
    let Some(earlier) = failures.checked_sub(1) else { return Duration::ZERO };
    DELAYS.after(u32::try_from(earlier).unwrap_or(u32::MAX)).mul_f64(0.5 + fastrand::f64() / 2.0)
}

/// Waits for the delay after `failures` consecutive failures.
pub(super) async fn wait(failures: usize) {
    tokio::time::sleep(delay(failures)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_eight_seconds_and_are_random_within_their_upper_half() {
        assert_eq!(delay(0), Duration::ZERO);
        for (failures, longest) in [(1, 100), (2, 200), (4, 800), (7, 6400), (8, 8000), (usize::MAX, 8000)] {
            let longest = Duration::from_millis(longest);
            let delays: Vec<_> = (0..100).map(|_| delay(failures)).collect();
            assert!(delays.iter().all(|delay| (longest / 2..=longest).contains(delay)), "{failures}: {delays:?}");
            assert!(delays.iter().any(|delay| *delay != delays[0]), "{failures}: {delays:?}");
        }
    }
}
