//! `UnversionedReads`: whether a function has read an input without a version, so that its result can't be reused in a later pass.

use std::sync::atomic::{AtomicBool, Ordering};

/// Records whether a function has read an input without a version. The result of such a function can't be reused in a later pass.
#[derive(Debug, Default)]
pub(crate) struct UnversionedReads(AtomicBool);

impl UnversionedReads {
    /// Records that an input without a version was read.
    pub(super) fn record(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether an input without a version was read.
    pub(crate) fn is_read(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the hash of the inputs; `None` if an input without a version was read.
    pub(crate) fn filter(&self, inputs_digest: Option<u64>) -> Option<u64> {
        inputs_digest.filter(|_| !self.is_read())
    }
}
