//! How long a key waits before it is tried again.

use hashbrown::HashMap;
use parking_lot::Mutex;
use std::{
    fmt,
    hash::Hash,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// How the delay grows with the failures of a key in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delay {
    /// The same each time.
    Fixed(Duration),
    /// `base`, doubled with each failure, never more than `cap`.
    Exponential {
        /// After the first failure.
        base: Duration,
        /// The longest delay before jitter.
        cap: Duration,
    },
}

impl Delay {
    /// What controller-runtime does: 5 ms doubling to 1,000 s [M44].
    pub const EXPONENTIAL: Self = Self::Exponential { base: Duration::from_millis(5), cap: Duration::from_secs(1000) };

    /// The delay after `failures` earlier ones in a row, without jitter.
    pub fn after(self, failures: u32) -> Duration {
        match self {
            Self::Fixed(delay) => delay,
            Self::Exponential { base, cap } => {
                base.saturating_mul(1_u32.checked_shl(failures).unwrap_or(u32::MAX)).min(cap)
            }
        }
    }
}

/// Where jitter comes from: numbers of which every bit is random. Any such function will do.
pub trait Jitter: Send + Sync {
    /// The next number.
    fn bits(&self) -> u64;
}

impl<F: Fn() -> u64 + Send + Sync> Jitter for F {
    fn bits(&self) -> u64 {
        self()
    }
}

/// Numbers that follow from a seed (SplitMix64), for tests.
#[derive(Debug)]
pub struct Seeded(AtomicU64);

impl Seeded {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Jitter for Seeded {
    fn bits(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut bits = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }
}

/// Delays per key: [`Delay`] and up to 10 % jitter on top, so that keys that fail together don't come back together.
///
/// Only keys whose last run failed are remembered.
pub struct Backoff<K> {
    delay: Delay,
    jitter: Box<dyn Jitter>,
    failures: Mutex<HashMap<K, u32>>,
}

/// The largest jitter is the delay divided by this.
const JITTER: u32 = 10;

impl<K: Clone + Eq + Hash> Backoff<K> {
    /// Delays by `delay`, spread by `jitter`.
    pub fn new(delay: Delay, jitter: impl Jitter + 'static) -> Self {
        Self { delay, jitter: Box::new(jitter), failures: Mutex::default() }
    }

    /// Counts a failure of `key`: how long it should wait.
    pub fn failed(&self, key: &K) -> Duration {
        let failures = match self.delay {
            Delay::Fixed(_) => 0,
            Delay::Exponential { .. } => self.count(key),
        };
        self.spread(self.delay.after(failures))
    }

    /// `delay` with jitter, for waits that are no failure.
    pub fn spread(&self, delay: Duration) -> Duration {
        // 32 bits are spread enough, and a tenth of a delay of centuries still fits.
        let part = u32::try_from(self.jitter.bits() >> 32).unwrap_or(u32::MAX);
        delay.saturating_add((delay / JITTER).mul_f64(f64::from(part) / f64::from(u32::MAX)))
    }

    /// A time between half of `delay` and all of it: those that met at one object do not meet again.
    pub fn scatter(&self, delay: Duration) -> Duration {
        let part = u32::try_from(self.jitter.bits() >> 32).unwrap_or(u32::MAX);
        delay / 2 + (delay / 2).mul_f64(f64::from(part) / f64::from(u32::MAX))
    }

    /// Forgets the failures of `key`: it succeeded, asked for a time of its own [M43], or is gone.
    pub fn forget(&self, key: &K) {
        self.failures.lock().remove(key);
    }

    /// How many keys are remembered.
    pub fn len(&self) -> usize {
        self.failures.lock().len()
    }

    /// Whether no key is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn count(&self, key: &K) -> u32 {
        let mut failures = self.failures.lock();
        if let Some(count) = failures.get_mut(key) {
            *count = count.saturating_add(1);
            return *count;
        }
        failures.insert(key.clone(), 0);
        0
    }
}

impl<K> fmt::Debug for Backoff<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backoff").field("delay", &self.delay).field("keys", &self.failures.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Backoff, Delay, Seeded};
    use std::time::Duration;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn manager_m44_delay_doubles_from_5_ms_to_1000_s() {
        let backoff = Backoff::new(Delay::EXPONENTIAL, || 0);
        let delays: Vec<_> = (0..40).map(|_| backoff.failed(&"a")).collect();
        assert_eq!(delays[..4], [5, 10, 20, 40].map(MS));
        assert_eq!(delays[17], MS(5 << 17));
        assert!(delays[18..].iter().all(|delay| *delay == MS(1_000_000)));
    }

    #[test]
    fn manager_m43_success_forgets_the_failures_of_its_key_only() {
        let backoff = Backoff::new(Delay::EXPONENTIAL, || 0);
        for key in ["a", "a", "b", "b"] {
            backoff.failed(&key);
        }
        backoff.forget(&"a");
        assert_eq!((backoff.failed(&"a"), backoff.failed(&"b")), (MS(5), MS(20)));
    }

    #[test]
    fn only_keys_that_failed_last_are_remembered() {
        let backoff = Backoff::new(Delay::EXPONENTIAL, || 0);
        for key in 0..100 {
            backoff.failed(&key);
        }
        assert_eq!(backoff.len(), 100);
        (0..100).for_each(|key| backoff.forget(&key));
        assert!(backoff.is_empty());
    }

    #[test]
    fn fixed_delay_remembers_nothing() {
        let backoff = Backoff::new(Delay::Fixed(MS(10_000)), || 0);
        assert_eq!((backoff.failed(&"a"), backoff.failed(&"a")), (MS(10_000), MS(10_000)));
        assert!(backoff.is_empty());
    }

    #[test]
    fn scattered_delays_are_spread_over_their_second_half() {
        let backoff = Backoff::<&str>::new(Delay::EXPONENTIAL, Seeded::new(1));
        let delays: Vec<_> = (0..1000).map(|_| backoff.scatter(MS(1000))).collect();
        assert!(delays.iter().all(|delay| (MS(500)..=MS(1000)).contains(delay)));
        assert!(delays.iter().any(|delay| *delay < MS(550)) && delays.iter().any(|delay| *delay > MS(950)));
    }

    #[test]
    fn jitter_adds_at_most_a_tenth_and_follows_from_its_seed() {
        let delays = |seed| {
            let backoff = Backoff::new(Delay::Fixed(MS(10_000)), Seeded::new(seed));
            (0..1000).map(|_| backoff.failed(&"a")).collect::<Vec<_>>()
        };
        let spread = delays(1);
        assert!(spread.iter().all(|delay| (MS(10_000)..=MS(11_000)).contains(delay)));
        assert!(spread.iter().any(|delay| *delay < MS(10_100)) && spread.iter().any(|delay| *delay > MS(10_900)));
        assert_eq!(spread, delays(1));
        assert_ne!(spread, delays(2));
    }
}
