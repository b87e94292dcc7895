//! `Gate`: stops an operator at a chosen step, so that a test can end it there.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Lets a number of steps through. The next step never ends.
#[derive(Debug)]
pub(super) struct Gate {
    limit: usize,
    steps: AtomicUsize,
}

impl Default for Gate {
    /// A gate that is always open.
    fn default() -> Self {
        Self { limit: usize::MAX, steps: AtomicUsize::new(0) }
    }
}

impl Gate {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, steps: AtomicUsize::new(0) })
    }

    pub(super) async fn pass(&self) {
        if self.steps.fetch_add(1, Ordering::Relaxed) >= self.limit {
            std::future::pending::<()>().await;
        }
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.steps() > self.limit
    }

    pub(super) fn steps(&self) -> usize {
        self.steps.load(Ordering::Relaxed)
    }
}
