//! `Activity`: counts the open API calls of a client under fault injection, and stores when the client last made a call and last made
//! progress.

use std::collections::BTreeSet;

use tokio::time::Instant;

/// The recent calls of a client.
pub(super) struct Activity {
    /// Open calls other than watches, and delayed events.
    pub(super) open: usize,
    /// The time of the last begin or end of a call other than a watch.
    pub(super) last_call: Instant,
    /// The time of the last begin or end of such a call that is no repeated read.
    pub(super) last_progress: Instant,
    /// The reads since the last write or event.
    pub(super) reads: BTreeSet<String>,
}

impl Activity {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { open: 0, last_call: now, last_progress: now, reads: BTreeSet::new() }
    }

    /// Resets the open calls and the reads when the client restarts.
    pub(super) fn begin_life(&mut self) {
        self.open = 0;
        self.reads.clear();
        self.record_progress();
    }

    /// Records a call, and returns whether it is a read that came before, without a write or an event in between.
    pub(super) fn is_repeated(&mut self, uri: &str, is_write: bool) -> bool {
        if is_write {
            self.reads.clear();
        }
        !is_write && !self.reads.insert(uri.to_owned())
    }

    /// Records an event: the next reads do not count as repeated.
    pub(super) fn event_delivered(&mut self) {
        self.reads.clear();
    }

    /// Records the beginning of a call or of a delay.
    pub(super) fn open(&mut self, is_repeated: bool) {
        self.open += 1;
        self.record_call(is_repeated);
    }

    /// Records the end of a call or of a delay.
    pub(super) fn close(&mut self, is_repeated: bool) {
        self.open = self.open.saturating_sub(1);
        self.record_call(is_repeated);
    }

    /// Records the time of a begin or end of a call.
    fn record_call(&mut self, is_repeated: bool) {
        self.last_call = Instant::now();
        if !is_repeated {
            self.last_progress = self.last_call;
        }
    }

    /// Records an action of the client that is no repeated read.
    pub(super) fn record_progress(&mut self) {
        self.record_call(false);
    }
}
