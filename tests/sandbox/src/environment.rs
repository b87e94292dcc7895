//! Provides the clock and the random numbers of a sandbox, from the machine or from a seed.

use std::{
    cell::RefCell,
    sync::{Mutex, PoisonError},
};

use jiff::Timestamp;
use tokio::time::Instant;

/// The start time of a sandbox with a seed: 2026-01-01T00:00:00Z.
const SEEDED_START: i64 = 1_767_225_600;

/// The letters of generated names: the ones of Kubernetes, without vowels and similar characters.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The source of time and random numbers. With a seed both repeat, as long as tokio's clock is paused.
#[derive(Debug)]
pub(crate) struct Environment {
    /// The time of the sandbox at the start.
    start: Timestamp,
    seeded: bool,
    /// The time on tokio's clock at the start.
    began: Instant,
    /// The random number generator.
    chance: Mutex<fastrand::Rng>,
}

/// A clock that moves with tokio's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Timestamp,
    began: Instant,
}

impl Clock {
    /// Returns the current time.
    pub(crate) fn now(&self) -> Timestamp {
        self.start.checked_add(self.began.elapsed()).unwrap_or(self.start)
    }
}

impl Environment {
    /// Returns an environment with a seed, or with the clock and the random numbers of the machine.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        let start = match seed {
            Some(_) => Timestamp::from_second(SEEDED_START).unwrap_or(Timestamp::UNIX_EPOCH),
            None => Timestamp::now(),
        };
        let chance = seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        Self { start, seeded: seed.is_some(), began: Instant::now(), chance: Mutex::new(chance) }
    }

    /// Returns the environment with the time of another clock, instead of its own.
    pub(crate) fn with_clock(self, Clock { start, began }: Clock) -> Self {
        Self { start, began, ..self }
    }

    /// Returns whether time and random numbers derive from a seed.
    pub(crate) fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// Returns the current time, which moves with tokio's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock().now()
    }

    /// Returns the clock, for tasks that outlive a request.
    pub(crate) fn clock(&self) -> Clock {
        Clock { start: self.start, began: self.began }
    }

    /// Formats the current time as `metav1.Time` does: in whole seconds.
    pub(crate) fn time(&self) -> String {
        seconds(self.now())
    }

    /// Returns a random UUID (version 4).
    pub(crate) fn uid(&self) -> String {
        let bits = self.chance(|chance| chance.u128(..));
        let [high, low] = [(bits >> 64) as u64, bits as u64];
        // RFC 9562, 5.4: the third group begins with the version 4, the fourth with the variant, the bits 10.
        let (version, variant) = ((high & 0x0fff) | 0x4000, (low >> 48 & 0x3fff) | 0x8000);
        format!(
            "{:08x}-{:04x}-{version:04x}-{variant:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            low & 0xffff_ffff_ffff
        )
    }

    /// Returns a random suffix, as for a name that the server generates from `generateName`.
    pub(crate) fn suffix(&self, length: usize) -> String {
        self.chance(|chance| (0..length).map(|_| char::from(LETTERS[chance.usize(..LETTERS.len())])).collect())
    }

    /// Draws a value from the random number generator of the sandbox by the function `draw`.
    pub(crate) fn chance<T>(&self, draw: impl FnOnce(&mut fastrand::Rng) -> T) -> T {
        draw(&mut self.chance.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Formats a time in whole seconds, as `metav1.Time` does.
pub(crate) fn seconds(time: Timestamp) -> String {
    thread_local! {
        /// Caches the last result: most times are in the same second as the previous one.
        static LAST: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
    }
    let second = time.as_second();
    LAST.with_borrow_mut(|(last, formatted)| {
        if *last != second {
            let whole = Timestamp::from_second(second).unwrap_or(time);
            (*last, *formatted) = (second, whole.to_string());
        }
        formatted.clone()
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_uid_is_a_random_uuid_that_follows_from_the_seed() {
        let environment = Environment::new(Some(7));
        let uids: Vec<_> = (0..100).map(|_| environment.uid()).collect();
        for uid in &uids {
            let groups: Vec<_> = uid.split('-').map(str::len).collect();
            assert_eq!(groups, [8, 4, 4, 4, 12], "{uid}");
            assert!(uid.chars().all(|letter| letter == '-' || matches!(letter, '0'..='9' | 'a'..='f')), "{uid}");
            // RFC 9562, 5.4: the version is four, the variant begins with the bits 10.
            assert!(&uid[14..15] == "4" && matches!(&uid[19..20], "8" | "9" | "a" | "b"), "{uid}");
        }
        assert_eq!(Environment::new(Some(7)).uid(), uids[0]);
        assert_ne!(uids[0], uids[1]);
    }
}
