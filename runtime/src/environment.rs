//! Where time and chance come from: from the system, or from a test.

use k8s_openapi::jiff::Timestamp;
use std::{fmt, sync::Arc};

/// The clock and the dice of an operator.
#[derive(Clone)]
pub struct Environment {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Environment {
    /// The system's clock, and chance that differs from process to process.
    pub fn system() -> Self {
        Self { now: Arc::new(Timestamp::now), random: Arc::new(|| fastrand::u64(..)) }
    }

    /// A clock and chance of one's own, for tests that must be repeatable.
    pub fn new(
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
        random: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self { now: Arc::new(now), random: Arc::new(random) }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// A random number.
    pub fn random(&self) -> u64 {
        (self.random)()
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}
