//! `KeyBackoff`: the delay before a failed key is retried, with jitter.

use hashbrown::HashMap;
use parking_lot::Mutex;
use std::{
    fmt,
    hash::Hash,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The delay after a number of consecutive failures of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backoff {
    /// The same delay after each failure.
    Fixed(Duration),
    /// `base`, doubled with each failure up to `cap`.
    Exponential {
        /// The delay after the first failure.
        base: Duration,
        /// The maximum delay, without jitter.
        cap: Duration,
    },
}

impl Backoff {
    /// The default of controller-runtime: from 5 ms, doubled up to 1,000 s.
    pub const EXPONENTIAL: Self = Self::Exponential { base: Duration::from_millis(5), cap: Duration::from_secs(1000) };

    /// Returns the delay after `failures` earlier consecutive failures, without jitter.
    pub fn after(self, failures: u32) -> Duration {
        match self {
            Self::Fixed(delay) => delay,
            Self::Exponential { base, cap } => {
                base.saturating_mul(1_u32.checked_shl(failures).unwrap_or(u32::MAX)).min(cap)
            }
        }
    }
}

/// A source of jitter: numbers with random bits. Any function `Fn() -> u64` implements it.
pub trait Jitter: Send + Sync {
    /// Returns the next 64 random bits.
    fn bits(&self) -> u64;
}

impl<F: Fn() -> u64 + Send + Sync> Jitter for F {
    fn bits(&self) -> u64 {
        self()
    }
}

/// A deterministic sequence of numbers from a seed (SplitMix64), for tests.
#[derive(Debug)]
pub struct Seeded(AtomicU64);

impl Seeded {
    /// Returns the sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Jitter for Seeded {
    /// Returns the next number of SplitMix64; the constants are those of its reference implementation.
    fn bits(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut bits = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }
}

/// The delays of failed keys: a [`Backoff`] and up to 10 % jitter, so that keys that fail together are not retried together.
///
/// It stores only keys whose last run failed.
pub struct KeyBackoff<K> {
    delay: Backoff,
    jitter: Box<dyn Jitter>,
    failures: Mutex<HashMap<K, u32>>,
}

/// The maximum jitter is the delay divided by this.
const JITTER_DIVISOR: u32 = 10;

impl<K: Clone + Eq + Hash> KeyBackoff<K> {
    /// Returns a backoff with this delay and this source of jitter.
    pub fn new(delay: Backoff, jitter: impl Jitter + 'static) -> Self {
        Self { delay, jitter: Box::new(jitter), failures: Mutex::default() }
    }

    /// Counts a failure of `key`, and returns the delay before its retry, with jitter. A fixed delay needs no count.
    pub fn failed(&self, key: &K) -> Duration {
        let failures = match self.delay {
            Backoff::Fixed(_) => 0,
            Backoff::Exponential { .. } => self.count_failure(key),
        };
        self.spread(self.delay.after(failures))
    }

    /// Returns `delay` with jitter, for waits without a failure.
    pub fn spread(&self, delay: Duration) -> Duration {
        // The upper 32 random bits, as a fraction between 0 and 1. A tenth of any delay times this fraction can't overflow.
        let fraction = u32::try_from(self.jitter.bits() >> 32).unwrap_or(u32::MAX);
        delay.saturating_add((delay / JITTER_DIVISOR).mul_f64(f64::from(fraction) / f64::from(u32::MAX)))
    }

    /// Returns a random time between half of `delay` and `delay`, so that clients that conflicted on an object don't conflict
    /// again.
    pub fn scatter(&self, delay: Duration) -> Duration {
        let fraction = u32::try_from(self.jitter.bits() >> 32).unwrap_or(u32::MAX);
        delay / 2 + (delay / 2).mul_f64(f64::from(fraction) / f64::from(u32::MAX))
    }

    /// Removes the failures of `key`: it succeeded, chose its own delay, or was deleted.
    pub fn forget(&self, key: &K) {
        self.failures.lock().remove(key);
    }

    /// Returns the number of keys with failures.
    pub fn len(&self) -> usize {
        self.failures.lock().len()
    }

    /// Returns whether no key has failures.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts a failure of the key, and returns the number of consecutive failures before it: 0 for the first one. The map has the number
    /// that was returned last.
    fn count_failure(&self, key: &K) -> u32 {
        let mut failures = self.failures.lock();
        if let Some(count) = failures.get_mut(key) {
            *count = count.saturating_add(1);
            return *count;
        }
        failures.insert(key.clone(), 0);
        0
    }
}

impl<K> fmt::Debug for KeyBackoff<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyBackoff").field("delay", &self.delay).field("keys", &self.failures.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Backoff, KeyBackoff, Seeded};
    use std::time::Duration;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn manager_m44_delay_doubles_from_5_ms_to_1000_s() {
        let backoff = KeyBackoff::new(Backoff::EXPONENTIAL, || 0);
        let delays: Vec<_> = (0..40).map(|_| backoff.failed(&"a")).collect();
        assert_eq!(delays[..4], [5, 10, 20, 40].map(MS));
        // After 17 doublings the delay is 655 s, and the next one would exceed the maximum.
        assert_eq!(delays[17], MS(5 << 17));
        assert!(delays[18..].iter().all(|delay| *delay == MS(1_000_000)));
    }

    #[test]
    fn manager_m43_success_forgets_the_failures_of_its_key_only() {
        let backoff = KeyBackoff::new(Backoff::EXPONENTIAL, || 0);
        for key in ["a", "a", "b", "b"] {
            backoff.failed(&key);
        }
        backoff.forget(&"a");
        assert_eq!((backoff.failed(&"a"), backoff.failed(&"b")), (MS(5), MS(20)));
    }

    #[test]
    fn only_keys_that_failed_last_are_remembered() {
        let backoff = KeyBackoff::new(Backoff::EXPONENTIAL, || 0);
        for key in 0..100 {
            backoff.failed(&key);
        }
        assert_eq!(backoff.len(), 100);
        (0..100).for_each(|key| backoff.forget(&key));
        assert!(backoff.is_empty());
    }

    #[test]
    fn fixed_delay_remembers_nothing() {
        let backoff = KeyBackoff::new(Backoff::Fixed(MS(10_000)), || 0);
        assert_eq!((backoff.failed(&"a"), backoff.failed(&"a")), (MS(10_000), MS(10_000)));
        assert!(backoff.is_empty());
    }

    #[test]
    fn scattered_delays_are_spread_over_their_second_half() {
        let backoff = KeyBackoff::<&str>::new(Backoff::EXPONENTIAL, Seeded::new(1));
        let delays: Vec<_> = (0..1000).map(|_| backoff.scatter(MS(1000))).collect();
        assert!(delays.iter().all(|delay| (MS(500)..=MS(1000)).contains(delay)));
        assert!(delays.iter().any(|delay| *delay < MS(550)) && delays.iter().any(|delay| *delay > MS(950)));
    }

    #[test]
    fn the_longest_delay_is_no_panic() {
        let longest = Duration::MAX;
        for delay in [Backoff::Fixed(longest), Backoff::Exponential { base: longest, cap: longest }] {
            let backoff = KeyBackoff::new(delay, || u64::MAX);
            assert_eq!([backoff.failed(&"a"), backoff.failed(&"a"), backoff.spread(longest)], [longest; 3]);
            assert!(backoff.scatter(longest) >= longest / 2);
        }
    }

    #[test]
    fn jitter_adds_at_most_a_tenth_and_follows_from_its_seed() {
        let delays = |seed| {
            let backoff = KeyBackoff::new(Backoff::Fixed(MS(10_000)), Seeded::new(seed));
            (0..1000).map(|_| backoff.failed(&"a")).collect::<Vec<_>>()
        };
        let spread = delays(1);
        assert!(spread.iter().all(|delay| (MS(10_000)..=MS(11_000)).contains(delay)));
        assert!(spread.iter().any(|delay| *delay < MS(10_100)) && spread.iter().any(|delay| *delay > MS(10_900)));
        assert_eq!(spread, delays(1));
        assert_ne!(spread, delays(2));
    }
}
